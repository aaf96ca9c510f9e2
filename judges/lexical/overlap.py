"""How much of a ground truth an answer says, and how much of the answer that has, by sentences."""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from judges.lexical.ground_truth import LexicalGroundTruth
from judges.lexical.reading import Sentence, TextReading
from judges.lexical.settings import LexicalSettings
from judges.lexical.sought import Key, Sought, Weighed, shared_of
from judges.text.tokens import related


@dataclass(frozen=True)
class Overlap:
    """One measure of overlap.

    Attributes:
        weight: What it counts beside others.
        gains: What each sentence of the ground truth adds to recall; they sum to it.
        losses: What each sentence of the answer takes from precision; they sum to 1 less precision.
        beta: How much more recall counts than precision.
        within: What precision is multiplied by, for length.
    """

    weight: float
    gains: tuple[float, ...]
    losses: tuple[float, ...]
    beta: float
    within: float = 1.0

    @cached_property
    def recall(self) -> float:
        """The share of the ground truth that the answer says."""
        return min(1.0, math.fsum(self.gains))

    @cached_property
    def precision(self) -> float:
        """The share of the answer that the ground truth has."""
        return max(0.0, 1.0 - math.fsum(self.losses))

    @property
    def best(self) -> float:
        """What it would be if the answer said nothing else."""
        return self.weight * f_measure(1.0, self.recall, self.beta)

    @property
    def brief(self) -> float:
        """What it would be if the answer were not too long."""
        return self.weight * f_measure(self.precision, self.recall, self.beta)

    @property
    def value(self) -> float:
        """What it is."""
        return self.weight * f_measure(self.precision * self.within, self.recall, self.beta)


def f_measure(precision: float, recall: float, beta: float) -> float:
    """The weighted harmonic mean of precision and recall; 0 where either is."""
    if precision <= 0 or recall <= 0:
        return 0.0
    square = beta * beta
    return (1 + square) * precision * recall / (square * precision + recall)


def overlaps(
    answer: TextReading, ground_truth: LexicalGroundTruth, shares: Sequence[float], settings: LexicalSettings
) -> tuple[Overlap, ...]:
    """An answer's overlap with a reference: in terms, in sentences, and in pairs of neighbouring terms.

    Args:
        answer: The answer.
        ground_truth: The reference, read.
        shares: The share of each of its sentences that the answer says.
        settings: The constants.
    """
    reference = ground_truth.texts[0]
    given = ground_truth.weigh(answer.sentences, live=False)
    part = 1 - settings.passages if ground_truth.passages else 1.0
    return (
        _terms(answer, reference, ground_truth, given, part, settings),
        _sentences(answer, reference, ground_truth, shares, part, settings),
        _pairs(answer, reference, ground_truth, given, part, settings),
    )


def _terms(
    answer: TextReading,
    reference: TextReading,
    ground_truth: LexicalGroundTruth,
    given: Sought,
    part: float,
    settings: LexicalSettings,
) -> Overlap:
    """Overlap of terms with their counts, related words counting in part."""
    same = {term: min(count, answer.said.get(term, 0)) for term, count in reference.said.items()}
    missing = {term: count - same[term] for term, count in reference.said.items()}
    extra = {term: count - same.get(term, 0) for term, count in answer.said.items()}
    missing_kin, extra_kin = _by_root(missing), _by_root(extra)
    kin = settings.kin
    wanted = {
        term: (same[term] + kin * min(missing[term], extra_kin.get(related(term), 0))) / count
        for term, count in reference.said.items()
    }
    short = {
        term: 1
        - (same.get(term, 0) + kin * min(count, missing_kin.get(related(term), 0))) / answer.counts[term]
        for term, count in extra.items()
    }
    return _overlap(
        part * settings.words,
        [_sum(point, wanted, 0.0) for point in ground_truth.sought.terms],
        ground_truth.sought.terms_total,
        [_sum(each, short, 1.0) for each in given.terms],
        given.terms_total,
        settings,
    )


def _by_root(counts: Mapping[str, int]) -> Mapping[str, int]:
    found: Counter[str] = Counter()
    for term, count in counts.items():
        if count:
            found[related(term)] += count
    return found


def _sentences(
    answer: TextReading,
    reference: TextReading,
    ground_truth: LexicalGroundTruth,
    shares: Sequence[float],
    part: float,
    settings: LexicalSettings,
) -> Overlap:
    """Overlap of sentences: how far each is said anywhere in the other text."""
    gist = gist_of(settings)
    sought = ground_truth.index.masses
    gained = [mass * gist(share) for mass, share in zip(sought, shares, strict=True)]
    masses = [ground_truth.total(frozenset(sentence.terms)) for sentence in answer.sentences]
    lost = [
        mass * (1 - gist(share_of(sentence.said, reference, ground_truth, settings) / mass))
        for sentence, mass in zip(answer.sentences, masses, strict=True)
    ]
    return _overlap(part * settings.sentences, gained, math.fsum(sought), lost, math.fsum(masses), settings)


def gist_of(settings: LexicalSettings) -> Callable[[float], float]:
    """How much of a sentence is said where so much of its weight is there."""
    return lambda share: min(1.0, max(0.0, (share - settings.chance) / (settings.full - settings.chance)))


def share_of(
    terms: frozenset[str], text: TextReading, ground_truth: LexicalGroundTruth, settings: LexicalSettings
) -> float:
    """What those of the terms weigh that a text says, related words counting in part."""
    weight, said, roots, kin = ground_truth.weight, text.said, text.roots, settings.kin
    return math.fsum(
        [
            weight(term) if term in said else kin * weight(term)
            for term in terms
            if term in said or related(term) in roots
        ]
    )


def _pairs(
    answer: TextReading,
    reference: TextReading,
    ground_truth: LexicalGroundTruth,
    given: Sought,
    part: float,
    settings: LexicalSettings,
) -> Overlap:
    """Overlap of neighbouring terms with their counts."""
    wanted, whole = reference.bigrams, answer.all_bigrams
    same = shared_of(wanted, answer.bigrams)
    said = {pair: count / wanted[pair] for pair, count in same.items()}
    short = {pair: 1 - count / whole[pair] for pair, count in same.items()}
    return _overlap(
        part * settings.pairs,
        [_sum(point, said, 0.0) for point in ground_truth.sought.pairs],
        ground_truth.sought.pairs_total,
        [_sum(each, short, 1.0) for each in given.pairs],
        given.pairs_total,
        settings,
    )


def _sum(weighed: Weighed[Key], shares: Mapping[Key, float], otherwise: float) -> float:
    """What the parts of a sentence weigh by their shares."""
    keys, weights = weighed
    return math.fsum([weight * shares.get(key, otherwise) for key, weight in zip(keys, weights, strict=True)])


def _overlap(
    weight: float,
    gained: Sequence[float],
    wanted: float,
    lost: Sequence[float],
    given: float,
    settings: LexicalSettings,
) -> Overlap:
    """Shares of what was gained and lost; nothing wanted is nothing gained, nothing given all lost."""
    losses = [each / given for each in lost] if given else [1.0 / len(lost)] * len(lost)
    return Overlap(
        weight=weight,
        gains=tuple(each / wanted for each in gained) if wanted else (0.0,) * len(gained),
        losses=tuple(losses),
        beta=settings.recall,
    )


def support(
    answer: TextReading, ground_truth: LexicalGroundTruth, shares: Sequence[float], settings: LexicalSettings
) -> tuple[Overlap, ...]:
    """How far the passages bear out an answer's sentences, and how much of what matters in them it says.

    A sentence is borne out by the one sentence of the passages that has most of its weight, and in part by a
    second one: so words that are gathered from everywhere are not.
    """
    matters = ground_truth.passage_index.matters
    whole = math.fsum(matters)
    given = ground_truth.total(answer.terms)
    lost = [ground_truth.total(each.terms) - _borne_out(each, ground_truth) for each in answer.sentences]
    overlap = Overlap(
        weight=1.0,
        gains=tuple(matter * share / whole for matter, share in zip(matters, shares, strict=True)),
        losses=tuple(each / given for each in lost),
        beta=settings.recall_of_passages,
        within=ground_truth.evidence.excess(answer, settings),
    )
    return (overlap,)


def said_of_passages(
    answer: TextReading, ground_truth: LexicalGroundTruth, settings: LexicalSettings
) -> float:
    """The share of the passages that an answer says, 0–1, what has to do with the question counting more."""
    index = ground_truth.passage_index
    whole = math.fsum(index.matters)
    shares = index.shares(answer, settings.kin)
    return math.fsum(map(operator.mul, index.matters, shares)) / whole if whole else 0.0


SECOND = 0.5
"""What the terms count that only a second sentence of the passages has."""


def _borne_out(sentence: Sentence, ground_truth: LexicalGroundTruth) -> float:
    """The weight of a sentence's terms that the passages bear out."""
    index, weight = ground_truth.passage_index, ground_truth.weight
    live = [(term, weight(term)) for term in sentence.live_terms]
    best, place = index.closest(live)
    if place is None:
        return 0.0
    said = ground_truth.passages[place].sentence.said
    second, _ = index.closest([each for each in live if each[0] not in said])
    return best + SECOND * second
