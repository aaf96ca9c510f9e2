"""How much each term of one question's texts tells, fitted on that question alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from sklearn.feature_extraction.text import TfidfVectorizer

from judges.text.tokens import kin, terms

TOPIC_FACTOR = 0.5
KIN_CREDIT = 0.6


@dataclass(frozen=True)
class TermWeights:
    """Smoothed inverse document frequencies over the statements of a yardstick.

    Nothing but the yardstick and the question shapes them, so a battle gets one verdict wherever and
    in whatever company it is judged.

    Attributes:
        known: The weight of each term of the yardstick; terms of the question count less, because
            an answer that only repeats the question says nothing.
        unseen: The weight of a term that the yardstick does not have.
        topic: The terms of the question.
        topic_factor: What their weights are multiplied by.
    """

    known: Mapping[str, float]
    unseen: float
    topic: frozenset[str] = field(default=frozenset())
    topic_factor: float = TOPIC_FACTOR

    @classmethod
    def fit(
        cls, statements: Sequence[str], topic: str = "", *, topic_factor: float = TOPIC_FACTOR
    ) -> TermWeights:
        """Fit on the statements of one yardstick; `topic` is the question."""
        about = frozenset(terms(topic))
        if not any(terms(statement) for statement in statements):
            return cls(known=MappingProxyType({}), unseen=1.0, topic=about, topic_factor=topic_factor)
        fitted = TfidfVectorizer(analyzer=terms, norm=None, binary=True).fit(statements)
        known = {
            term: float(fitted.idf_[at]) * (topic_factor if term in about else 1.0)
            for term, at in fitted.vocabulary_.items()
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
        return math.fsum(self.of(term) for term in some)

    def share(self, wanted: frozenset[str], given: frozenset[str], given_kin: frozenset[str]) -> float:
        """The weighted share of `wanted` found in `given`, related words counting in part; 0 for nothing."""
        whole = self.total(wanted)
        if not whole:
            return 0.0
        found = math.fsum(
            self.of(term) * (1.0 if term in given else KIN_CREDIT)
            for term in wanted
            if term in given or kin(term) in given_kin
        )
        return found / whole
