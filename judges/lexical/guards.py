"""Guards against word lists, copied text and misplaced names.

Word lists and shuffled texts contain the terms of a good answer without its word order. Honest answers, even
paraphrases, share many pairs of neighbouring terms with the question's reference and passages.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from judges.lexical.reading import Pair, TextReading
from judges.lexical.settings import LexicalSettings

REACH = 3
"""Number of following terms that are compared with a term for order."""
RUN = 4
"""Shared terms in a row that count as copied from a passage."""
BRIDGED = 2
"""Maximum number of replaced terms between two copied runs."""
MIN_REFERENCE = 12
"""Minimum number of terms of a reference that is compared for word order without passages."""
MIN_SHARED = 0.5
"""Minimum share of an answer's terms in the texts for a comparison of word order."""


@dataclass(frozen=True)
class Evidence:
    """Texts of a question, and its passages, which answers may copy in part."""

    texts: tuple[TextReading, ...]
    passages: tuple[TextReading, ...]

    @cached_property
    def _terms(self) -> frozenset[str]:
        return frozenset().union(*(text.terms for text in self.texts))

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
        """Return how well an answer preserves the texts' word order, 0–1; 1 if undecidable."""
        if not self.passages:
            return self._order_of_reference(answer, settings)
        known = sum(count for term, count in answer.counts.items() if term in self._terms)
        if known <= MIN_SHARED * len(answer.terms):
            return 1.0
        matches = sum(pair in self._adjacent for pair in adjacent(answer))
        neighbours = min(1.0, (matches + 1) / (settings.neighbours * known + 1))
        forward = backward = 0
        for first, second in near(answer):
            same, reverse = (first, second) in self._near, (second, first) in self._near
            forward += same and not reverse
            backward += reverse and not same
        direction = (forward - backward + settings.doubt) / (forward + backward + settings.doubt)
        return neighbours * min(1.0, max(0.0, direction) / settings.direction)

    def _order_of_reference(self, answer: TextReading, settings: LexicalSettings) -> float:
        """Compare with the reference only, whose order matters only for nearly the same words."""
        (reference,) = self.texts
        size = len(answer.terms) + len(reference.terms)
        same = 2 * _common(answer.counts, reference.counts) / size
        if same <= MIN_SHARED or len(reference.terms) < MIN_REFERENCE:
            return 1.0
        shared = _common(Counter(adjacent(answer)), Counter(adjacent(reference)))
        return min(1.0, 2 * shared / (size - 2) / (settings.neighbours * same))

    def copied(self, answer: TextReading) -> int:
        """Count an answer's terms in or between runs copied verbatim from a passage."""
        count = done = 0
        for at, run in enumerate(runs(answer)):
            if run in self._runs:
                bridged = done if done and at - done <= BRIDGED else max(done, at)
                count += at + RUN - bridged
                done = at + RUN
        return count

    def allowance(self, settings: LexicalSettings) -> float:
        """Return the number of terms that an answer may copy if the passages are the only ground truth."""
        return max(settings.least_copied, settings.copied * self._length)

    def excess(self, answer: TextReading, settings: LexicalSettings) -> float:
        """Return the penalty factor for answers that are too long for the passages, 0–1."""
        return min(1.0, max(settings.least_length, settings.length * self._length) / len(answer.terms))

    def misplaced(self, answer: TextReading) -> tuple[str, ...]:
        """Return an answer's names that replace another of its names in the texts."""
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
    """Yield pairs of neighbouring terms, even across sentences."""
    return zip(text.terms, text.terms[1:], strict=False)


def near(text: TextReading) -> Iterable[Pair]:
    """Yield ordered pairs of terms at most `REACH` apart."""
    steps = range(1, REACH + 1)
    return chain.from_iterable(zip(text.terms, text.terms[step:], strict=False) for step in steps)


def _common(some: Mapping[Any, int], others: Mapping[Any, int]) -> int:
    return sum(min(count, others[key]) for key, count in some.items() if key in others)


def runs(text: TextReading) -> Iterable[tuple[str, ...]]:
    """Yield every run of `RUN` terms."""
    return zip(*(text.terms[at:] for at in range(RUN)), strict=False)
