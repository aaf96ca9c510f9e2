"""How much each term of one question's texts tells, fitted on that question alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from judges.text.tokens import related, terms

TOPIC_FACTOR = 0.5
KIN_CREDIT = 0.6
CACHE_SIZE = 1 << 10
"""Sets of terms whose weights are kept: those of a question's texts, and of some answers to it."""
Weighed: TypeAlias = tuple[float, tuple[str, ...], tuple[str, ...], tuple[float, ...]]


@dataclass(frozen=True)
class TermWeights:
    """Smoothed inverse document frequencies over the statements of a ground truth.

    Nothing but the ground truth and the question shapes them, so a battle gets one verdict wherever and
    in whatever company it is judged.

    Attributes:
        known: The weight of each term of the ground truth; terms of the question count less, because
            an answer that only repeats the question says nothing.
        unseen: The weight of a term that the ground truth does not have.
        topic: The terms of the question.
        topic_factor: What their weights are multiplied by.
    """

    known: Mapping[str, float]
    unseen: float
    topic: frozenset[str] = field(default=frozenset())
    topic_factor: float = TOPIC_FACTOR
    # The same sets are held against every window of every text, so what they weigh is kept.
    _weighed: dict[frozenset[str], Weighed] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @classmethod
    def fit(
        cls, statements: Sequence[str], topic: str = "", *, topic_factor: float = TOPIC_FACTOR
    ) -> TermWeights:
        """Fit on the statements of one ground truth; `topic` is the question."""
        return cls.fit_terms(
            [frozenset(terms(each)) for each in statements], topic, topic_factor=topic_factor
        )

    @classmethod
    def fit_terms(
        cls,
        statements: Sequence[frozenset[str]],
        topic: str = "",
        *,
        topic_factor: float = TOPIC_FACTOR,
    ) -> TermWeights:
        """Fit on the terms of each statement, where they are known."""
        about = frozenset(terms(topic))
        having = Counter(chain.from_iterable(statements))
        if not having:
            return cls(known=MappingProxyType({}), unseen=1.0, topic=about, topic_factor=topic_factor)
        rarity = np.log((1.0 + len(statements)) / (1.0 + np.array(list(having.values())))) + 1.0
        known = {
            term: weight * (topic_factor if term in about else 1.0)
            for term, weight in zip(having, rarity.tolist(), strict=True)
        }
        return cls(
            known=MappingProxyType(known),
            unseen=math.log(1 + len(statements)) + 1,
            topic=about,
            topic_factor=topic_factor,
        )

    def of(self, term: str) -> float:
        """The weight of one term."""
        weight = self.known.get(term)
        if weight is not None:
            return weight
        return self.unseen * (self.topic_factor if term in self.topic else 1.0)

    def total(self, some: Iterable[str]) -> float:
        """The weight of a set of terms; summed exactly, so that their order does not matter."""
        return math.fsum(map(self.of, some))

    def share(self, wanted: frozenset[str], given: frozenset[str], given_kin: frozenset[str]) -> float:
        """The weighted share of `wanted` found in `given`, related words counting in part; 0 for nothing."""
        weighed = self._weighed.get(wanted)
        if weighed is None:
            if len(self._weighed) >= CACHE_SIZE:
                self._weighed.clear()
            weighed = self._weighed[wanted] = self._weigh(wanted)
        whole, wanted_terms, roots, values = weighed
        if not whole:
            return 0.0
        found = [
            weight if term in given else weight * KIN_CREDIT
            for term, root, weight in zip(wanted_terms, roots, values, strict=True)
            if term in given or root in given_kin
        ]
        return math.fsum(found) / whole if found else 0.0

    def _weigh(self, wanted: frozenset[str]) -> Weighed:
        # Four rows, since a tuple for every term would be kept as long.
        found = tuple(wanted)
        values = tuple(map(self.of, found))
        return math.fsum(values), found, tuple(map(related, found)), values
