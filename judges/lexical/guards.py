"""Guards: whether an answer is prose, what of it is copied, and which names moved.

Word lists and shuffled texts have the terms of a good answer without its order. The order of the question's
own texts (the reference, the passages) tells them apart, since an honest text on them has many of its pairs
of neighbouring terms in the same order, even where it says things in other words.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from judges.lexical.reading import Pair, TextReading
from judges.lexical.settings import LexicalSettings

REACH = 3
"""Number of neighbouring terms that a term's order is compared with."""
RUN = 4
"""Terms in a row that an answer shares with a passage only where it copies it."""
BRIDGED = 2
"""Terms between two copied runs that were put in the place of others."""
LEAST_REFERENCE = 12
"""Terms of a reference whose order tells anything where there are no passages."""
FEW = 0.5
"""Share of an answer's terms that the texts must have for its order to tell anything."""


@dataclass(frozen=True)
class Evidence:
    """The texts of a question, and among them the passages, of which answers may copy."""

    texts: tuple[TextReading, ...]
    passages: tuple[TextReading, ...]

    @cached_property
    def _terms(self) -> frozenset[str]:
        return frozenset().union(*(text.counts for text in self.texts))

    @cached_property
    def _near(self) -> frozenset[Pair]:
        return frozenset(chain.from_iterable(near(text) for text in self.texts))

    @cached_property
    def _adjacent(self) -> frozenset[Pair]:
        return frozenset(chain.from_iterable(adjacent(text) for text in self.texts))

    @cached_property
    def _runs(self) -> frozenset[tuple[str, ...]]:
        return frozenset(chain.from_iterable(runs(passage) for passage in self.passages))

    @cached_property
    def _length(self) -> int:
        return sum(len(passage.terms) for passage in self.passages)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset().union(*(text.names for text in self.texts))

    def order(self, answer: TextReading, settings: LexicalSettings) -> float:
        """Return the share of the texts' word order that an answer keeps, 0–1; 1 for possible prose."""
        if not self.passages:
            return self._order_of_reference(answer, settings)
        known = sum(count for term, count in answer.counts.items() if term in self._terms)
        if known <= FEW * len(answer.terms):
            return 1.0
        met = sum(pair in self._adjacent for pair in adjacent(answer))
        neighbours = min(1.0, (met + 1) / (settings.neighbours * known + 1))
        forward = backward = 0
        for one, other in near(answer):
            same, turned = (one, other) in self._near, (other, one) in self._near
            forward += same and not turned
            backward += turned and not same
        direction = (forward - backward + settings.doubt) / (forward + backward + settings.doubt)
        return neighbours * min(1.0, max(0.0, direction) / settings.direction)

    def _order_of_reference(self, answer: TextReading, settings: LexicalSettings) -> float:
        """Do the same by the reference alone, whose order matters only for nearly the same words."""
        (reference,) = self.texts
        size = len(answer.terms) + len(reference.terms)
        same = 2 * (Counter(answer.terms) & Counter(reference.terms)).total() / size
        if same <= FEW or len(reference.terms) < LEAST_REFERENCE:
            return 1.0
        shared = (Counter(adjacent(answer)) & Counter(adjacent(reference))).total()
        return min(1.0, 2 * shared / (size - 2) / (settings.neighbours * same))

    def copied(self, answer: TextReading) -> int:
        """Count an answer's terms in, or between, runs copied word for word from a passage."""
        count = done = 0
        for at, run in enumerate(runs(answer)):
            if run in self._runs:
                bridged = done if done and at - done <= BRIDGED else max(done, at)
                count += at + RUN - bridged
                done = at + RUN
        return count

    def allowance(self, settings: LexicalSettings) -> float:
        """Return the number of terms that an answer may copy where the passages are the only ground truth."""
        return max(settings.least_copied, settings.copied * self._length)

    def excess(self, answer: TextReading, settings: LexicalSettings) -> float:
        """Return the factor for answers that are longer than the passages call for, 0–1."""
        return min(1.0, max(settings.least_length, settings.length * self._length) / len(answer.terms))

    def misplaced(self, answer: TextReading) -> tuple[str, ...]:
        """Return the names of an answer that stand where the texts have another name that it knows."""
        names = answer.names & self._names
        spots = zip(("", *answer.terms), answer.terms, (*answer.terms[1:], ""), strict=False)
        return tuple(
            name
            for before, name, after in spots
            if name in names
            and not any(
                pair in self._near for other in (before, after) for pair in ((name, other), (other, name))
            )
            and any(
                (other, after) in self._adjacent or (before, other) in self._adjacent
                for other in names
                if other != name
            )
        )


def adjacent(text: TextReading) -> Iterable[Pair]:
    """Neighbouring terms, over the ends of sentences too."""
    return zip(text.terms, text.terms[1:], strict=False)


def near(text: TextReading) -> Iterable[Pair]:
    """Two terms in their order, at most `REACH` apart."""
    steps = range(1, REACH + 1)
    return chain.from_iterable(zip(text.terms, text.terms[step:], strict=False) for step in steps)


def runs(text: TextReading) -> Iterable[tuple[str, ...]]:
    """Every run of terms as long as `RUN`, in order."""
    return zip(*(text.terms[at:] for at in range(RUN)), strict=False)
