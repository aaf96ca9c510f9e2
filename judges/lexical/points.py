"""Sentences of a yardstick, looked up by their terms."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
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
    def places(self) -> Mapping[str, int]:
        """For each term, the places of the sentences that have it, as the bits of a number.

        Numbers, as lists for every term of every question would be kept, and looked through again and again
        by the collection of garbage.
        """
        found: dict[str, int] = {}
        for place, point in enumerate(self._points):
            bit = 1 << place
            for term in point.sentence.live_terms:
                found[term] = found.get(term, 0) | bit
        return found

    @cached_property
    def _kin(self) -> Mapping[str, str]:
        """For what words are kin by, the terms that are, with spaces between them."""
        found: dict[str, str] = {}
        for term in self.places:
            root = related(term)
            found[root] = f"{found[root]} {term}" if root in found else term
        return found

    def shares(self, text: TextReading, kin: float) -> tuple[float, ...]:
        """The share of each sentence's weight that a text says, 0–1, related words counting `kin`."""
        said, places, known = text.said, self.places, self._kin
        values = [0.0] * len(self._points)
        for root in text.roots:
            for term in known[root].split() if root in known else ():
                worth = self._weight(term) * (1.0 if term in said else kin)
                for place in bits(places[term]):
                    values[place] += worth
        return tuple(min(1.0, value / mass) for value, mass in zip(values, self.masses, strict=True))

    def closest(self, terms: Sequence[tuple[str, float]]) -> tuple[float, int | None]:
        """The first sentence that has most of the weight of some weighed terms, and how much it has."""
        values: dict[int, float] = {}
        for term, weight in terms:
            for place in bits(self.places.get(term, 0)):
                values[place] = values.get(place, 0.0) + weight
        if not values:
            return 0.0, None
        most = max(values.values())
        return most, min(place for place, value in values.items() if value == most)


def bits(number: int) -> Iterator[int]:
    """The places of a number's bits, from the lowest."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest
