"""The terms and pairs of neighbouring terms of sentences with what they weigh, for sums over them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TypeAlias, TypeVar

from judges.lexical.reading import Pair, Sentence

Key = TypeVar("Key")
Weighed: TypeAlias = tuple[Sequence[Key], Sequence[float]]
"""What stands in a sentence, and what each weighs: two rows, since a pair for each would be kept for long."""


@dataclass(frozen=True)
class Sought:
    """What some sentences have, each term weighing what it weighs in a question.

    Attributes:
        sentences: The sentences.
        topic: The terms that weigh less.
        topic_weight: What those weigh; any other weighs 1.
        live: Whether only what says something counts.
    """

    sentences: Sequence[Sentence]
    topic: frozenset[str]
    topic_weight: float
    live: bool

    @cached_property
    def terms(self) -> Sequence[Weighed[str]]:
        """The terms of each sentence in order, and what each weighs."""
        topic, low = self.topic, self.topic_weight
        found = [each.live_terms if self.live else each.terms for each in self.sentences]
        return [(terms, [low if term in topic else 1.0 for term in terms]) for terms in found]

    @cached_property
    def terms_total(self) -> float:
        """What all terms weigh; summed exactly, so that their order does not matter."""
        return _total(self.terms)

    @cached_property
    def pairs(self) -> Sequence[Weighed[Pair]]:
        """The neighbouring terms of each sentence, which weigh what their two terms do on average."""
        found = [each.bigrams if self.live else each.all_bigrams for each in self.sentences]
        return [(pairs, [(self._weight(a) + self._weight(b)) / 2 for a, b in pairs]) for pairs in found]

    @cached_property
    def pairs_total(self) -> float:
        """What all pairs weigh."""
        return _total(self.pairs)

    def _weight(self, term: str) -> float:
        return self.topic_weight if term in self.topic else 1.0


def _total(weighed: Sequence[Weighed[Key]]) -> float:
    return math.fsum(chain.from_iterable([weights for _, weights in weighed]))


def shared_of(wanted: Mapping[Pair, int], given: Mapping[Pair, int]) -> Mapping[Pair, int]:
    """How often each wanted pair is given, at most as often as it is wanted; without those that are not."""
    return {pair: min(count, given[pair]) for pair, count in wanted.items() if pair in given}
