"""What a question's texts show of an answer: whether it is prose, what is copied, which names moved.

Word lists and shuffled texts have the terms of a good answer without its order. The order of the question's
own texts (the reference, the passages) tells them apart, since an honest text on them has many of its pairs
of neighbouring terms in the same order, even where it says things in other words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from judges.lexical.reading import REACH, TextReading
from judges.lexical.settings import LexicalSettings

Key = TypeVar("Key")
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
    def _near(self) -> frozenset[str]:
        """Two terms in their order, at most `REACH` apart."""
        return frozenset().union(
            *(
                joined(text.terms, text.terms[distance:])
                for text in self.texts
                for distance in range(1, REACH + 1)
            )
        )

    @cached_property
    def _adjacent(self) -> frozenset[str]:
        return frozenset().union(*(joined(text.terms, text.terms[1:]) for text in self.texts))

    @cached_property
    def _runs(self) -> frozenset[str]:
        return frozenset().union(*(runs(passage.terms) for passage in self.passages))

    @cached_property
    def _length(self) -> int:
        return sum(len(passage.terms) for passage in self.passages)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset().union(*(text.names for text in self.texts))

    def order(self, answer: TextReading, settings: LexicalSettings) -> float:
        """How far an answer has the texts' word order, 0–1; 1 for whatever may be prose."""
        if not self.passages:
            return self._order_of_reference(answer, settings)
        known = sum(count for term, count in answer.counts.items() if term in self._terms)
        if known <= FEW * len(answer.terms):
            return 1.0
        known_pairs = self._adjacent
        adjacent = sum([pair in known_pairs for pair in joined(answer.terms, answer.terms[1:])])
        neighbours = min(1.0, (adjacent + 1) / (settings.neighbours * known + 1))
        forward, backward = self._directions(answer)
        direction = (forward - backward + settings.doubt) / (forward + backward + settings.doubt)
        return neighbours * min(1.0, max(0.0, direction) / settings.direction)

    def _order_of_reference(self, answer: TextReading, settings: LexicalSettings) -> float:
        """The same by the reference alone, whose order tells only where the two are nearly the same words."""
        (reference,) = self.texts
        size = len(answer.terms) + len(reference.terms)
        same = 2 * _shared(answer.counts, reference.counts) / size
        if same <= FEW or len(reference.terms) < LEAST_REFERENCE:
            return 1.0
        neighbours = 2 * _shared(answer.adjacent, reference.adjacent) / (size - 2)
        return min(1.0, neighbours / (settings.neighbours * same))

    def _directions(self, answer: TextReading) -> tuple[int, int]:
        """How many of an answer's pairs the texts have in its order alone, and in the other alone."""
        forward = backward = 0
        near = self._near
        for (one, other), count in answer.near.items():
            same, turned = f"{one} {other}" in near, f"{other} {one}" in near
            if same and not turned:
                forward += count
            elif turned and not same:
                backward += count
        return forward, backward

    def copied(self, answer: TextReading) -> int:
        """How many of an answer's terms stand in, or between, runs that a passage has word for word."""
        count = done = 0
        for at, run in enumerate(runs(answer.terms) if self._runs else ()):
            if run in self._runs:
                bridged = done if done and at - done <= BRIDGED else max(done, at)
                count += at + RUN - bridged
                done = at + RUN
        return count

    def allowance(self, settings: LexicalSettings) -> float:
        """How many terms an answer may copy where the passages are all there is to hold it against."""
        return max(settings.least_copied, settings.copied * self._length)

    def excess(self, answer: TextReading, settings: LexicalSettings) -> float:
        """What longer answers count than the passages call for, 0–1."""
        return min(1.0, max(settings.least_length, settings.length * self._length) / len(answer.terms))

    def misplaced(self, answer: TextReading) -> tuple[str, ...]:
        """The names of an answer that stand where the texts have another name that it knows."""
        names = answer.names & self._names
        if not names:
            return ()
        spots = [
            spot
            for spot in zip(("", *answer.terms), answer.terms, (*answer.terms[1:], ""), strict=False)
            if spot[1] in names
        ]
        return tuple(
            name
            for previous, name, following in spots
            if not self._stands_by(name, previous, following)
            and any(
                f"{other} {following}" in self._adjacent or f"{previous} {other}" in self._adjacent
                for other in names
                if other != name
            )
        )

    def _stands_by(self, name: str, previous: str, following: str) -> bool:
        """Whether the texts have a name near what stands before or behind it."""
        return any(
            f"{name} {one}" in self._near or f"{one} {name}" in self._near for one in (previous, following)
        )


def _shared(ours: Mapping[Key, int], theirs: Mapping[Key, int]) -> int:
    """How much two counts have in common."""
    return sum(min(count, theirs.get(key, 0)) for key, count in ours.items())


def joined(*rows: Sequence[str]) -> Sequence[str]:
    """Terms that stand side by side in rows, as texts, which cost less to keep than tuples."""
    return [" ".join(terms) for terms in zip(*rows, strict=False)]


def runs(terms: Sequence[str]) -> Sequence[str]:
    """Every run of terms as long as `RUN`, in order."""
    return joined(*(terms[at:] for at in range(RUN)))
