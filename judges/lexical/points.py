"""Sentences of a yardstick, looked up by their terms."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from judges.lexical.reading import Sentence, TextReading
from judges.text.tokens import related


@dataclass(frozen=True)
class Point:
    """A sentence of a yardstick, the text that it is from, and how much of the question it speaks of."""

    sentence: Sentence
    source: str
    relevance: float = 1.0


class PointIndex:
    """Finds how much of each of many sentences a text says, without holding it against every one.

    Args:
        points: The sentences.
        weight: What a term weighs.
    """

    def __init__(self, points: Sequence[Point], weight: Callable[[str], float]) -> None:
        self._points = tuple(points)
        self._weight = weight

    @cached_property
    def masses(self) -> tuple[float, ...]:
        """What the different terms of each sentence weigh; summed exactly, so that order does not matter."""
        return tuple(math.fsum(map(self._weight, point.sentence.said)) for point in self._points)

    @cached_property
    def matters(self) -> tuple[float, ...]:
        """What each sentence counts: its weight, by how much of the question it speaks of."""
        return tuple(mass * point.relevance for mass, point in zip(self.masses, self._points, strict=True))

    @cached_property
    def postings(self) -> Mapping[str, Sequence[int]]:
        """For each term, the places of the sentences that have it."""
        found: dict[str, list[int]] = {}
        for place, point in enumerate(self._points):
            for term in sorted(point.sentence.said):
                found.setdefault(term, []).append(place)
        return found

    @cached_property
    def _kin(self) -> Mapping[str, Sequence[str]]:
        """For what words are kin by, the terms that are."""
        found: dict[str, list[str]] = {}
        for term in self.postings:
            found.setdefault(related(term), []).append(term)
        return found

    def shares(self, text: TextReading, kin: float) -> tuple[float, ...]:
        """The share of each sentence's weight that a text says, 0–1, related words counting `kin`."""
        said, postings = text.said, self.postings
        values = [0.0] * len(self._points)
        for root in text.roots:
            for term in self._kin.get(root, ()):
                worth = self._weight(term) * (1.0 if term in said else kin)
                for place in postings[term]:
                    values[place] += worth
        return tuple(min(1.0, value / mass) for value, mass in zip(values, self.masses, strict=True))
