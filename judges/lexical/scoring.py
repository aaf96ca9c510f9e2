"""Scores of answers: overlap with a ground truth, guards and contradictions, sentence by sentence."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TypeVar

from data.models import GroundTruth
from judges.lexical.ground_truth import LexicalGroundTruth
from judges.lexical.reading import Sentence, TextReading
from judges.lexical.settings import LexicalSettings
from judges.text.contradictions import Contradiction
from judges.text.languages import language
from judges.text.statements import read_statement
from judges.text.tokens import related

Key = TypeVar("Key")
SECOND = 0.5
"""Weight of the terms that only a second sentence of the passages has."""


class Adjustment(StrEnum):
    """Parts of a score beside its sentences."""

    PASSAGES = "said of the passages"
    LENGTH = "length"
    ORDER = "word order"
    COPIES = "copied text"
    YES_NO = "yes or no"
    CONTRADICTIONS = "contradictions"
    DENIED_FACTS = "contradicted facts"
    NAMES = "names out of place"


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
    gains: Sequence[float]
    losses: Sequence[float]
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

    def at(self, precision: float) -> float:
        """Return the weighted F-measure with another precision; 0 where either is 0."""
        if precision <= 0 or self.recall <= 0:
            return 0.0
        square = self.beta * self.beta
        return self.weight * (1 + square) * precision * self.recall / (square * precision + self.recall)

    @property
    def best(self) -> float:
        """Score of the answer if it said nothing else."""
        return self.at(1.0)

    @property
    def brief(self) -> float:
        """Score of the answer if it were not too long."""
        return self.at(self.precision)

    @property
    def value(self) -> float:
        """Final score."""
        return self.at(self.precision * self.within)


@dataclass(frozen=True)
class AnswerAnalysis:
    """An answer compared with a ground truth; its score is the sum of its parts.

    Attributes:
        coverage: The share of the ground truth that the answer says, 0–1.
        padding: The share of the answer that the ground truth does not have, 0–1.
        shares: How far each sentence of the ground truth is said, 0–1.
        credits: What each sentence of the ground truth gives.
        costs: What each sentence of the answer takes, as numbers not above 0.
        adjustments: What else gives or takes.
        contradictions: What it says otherwise than the question's texts.
    """

    answer: TextReading
    coverage: float = 0.0
    padding: float = 1.0
    shares: tuple[float, ...] = ()
    credits: tuple[float, ...] = ()
    costs: tuple[float, ...] = ()
    adjustments: tuple[tuple[Adjustment, float], ...] = ()
    contradictions: tuple[Contradiction, ...] = ()

    @cached_property
    def score(self) -> float:
        """The sum of the parts; the higher, the better."""
        return math.fsum((*self.credits, *self.costs, *(amount for _, amount in self.adjustments)))


def analyse(answer: TextReading, truth: LexicalGroundTruth, settings: LexicalSettings) -> AnswerAnalysis:
    """Compare one answer with a ground truth."""
    if not answer.sentences:
        nothing = (0.0,) * len(truth.points)
        return AnswerAnalysis(answer, shares=nothing, credits=nothing)
    shares = truth.shares(truth.points, answer, settings.kin)
    if truth.reference is None:
        found: Sequence[Overlap] = [_support(answer, truth, shares, settings)]
    else:
        part = 1 - settings.passages if truth.passages else 1.0
        found = [
            _terms(answer, truth.reference, truth, part * settings.words, settings),
            _sentences(answer, truth.reference, truth, shares, part * settings.sentences, settings),
            _pairs(answer, truth.reference, truth, part * settings.pairs, settings),
        ]
    contradictions: tuple[Contradiction, ...] = ()
    if truth.contradictions is not None:
        # What an answer repeats counts once.
        texts = dict.fromkeys(sentence.text for sentence in answer.sentences)
        finder = truth.contradictions
        contradictions = tuple(one for text in texts for one in finder.conflicts(read_statement(text)))
    return AnswerAnalysis(
        answer,
        coverage=_mean([(each.weight, each.recall) for each in found]),
        padding=1 - _mean([(each.weight, each.precision) for each in found]),
        shares=tuple(map(_gist(settings), shares)),
        credits=_summed([[_part(each.best, gain, each.recall) for gain in each.gains] for each in found]),
        costs=_summed(
            [
                [_part(each.brief - each.best, loss, lost) for loss in each.losses]
                for each, lost in ((each, math.fsum(each.losses)) for each in found)
            ]
        ),
        adjustments=_adjustments(answer, found, truth, contradictions, settings),
        contradictions=contradictions,
    )


def _part(whole: float, share: float, of: float) -> float:
    return whole * share / of if of else 0.0


def _summed(rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    return tuple(math.fsum(column) for column in zip(*rows, strict=True))


def _mean(weighed: Sequence[tuple[float, float]]) -> float:
    whole = math.fsum(weight for weight, _ in weighed)
    return math.fsum(weight * value for weight, value in weighed) / whole if whole else 0.0


def _gist(settings: LexicalSettings) -> Callable[[float], float]:
    return lambda share: min(1.0, max(0.0, (share - settings.chance) / (settings.full - settings.chance)))


def _terms(
    answer: TextReading,
    reference: TextReading,
    truth: LexicalGroundTruth,
    weight: float,
    settings: LexicalSettings,
) -> Overlap:
    same = {term: min(count, answer.said.get(term, 0)) for term, count in reference.said.items()}
    missing = {term: count - same[term] for term, count in reference.said.items()}
    extra = {term: count - same.get(term, 0) for term, count in answer.said.items()}
    missing_kin, extra_kin = _by_root(missing), _by_root(extra)
    kin = settings.kin
    wanted = {
        term: (same[term] + kin * min(missing[term], extra_kin[related(term)])) / count
        for term, count in reference.said.items()
    }
    short = {
        term: 1 - (same.get(term, 0) + kin * min(count, missing_kin[related(term)])) / answer.counts[term]
        for term, count in extra.items()
    }
    return _overlap(
        weight,
        [_weighed(point.sentence.live_terms, truth.weight, wanted, 0.0) for point in truth.points],
        [_weighed(sentence.terms, truth.weight, short, 1.0) for sentence in answer.sentences],
        settings,
    )


def _by_root(counts: Mapping[str, int]) -> Counter[str]:
    found: Counter[str] = Counter()
    for term, count in counts.items():
        found[related(term)] += count
    return found


def _sentences(
    answer: TextReading,
    reference: TextReading,
    truth: LexicalGroundTruth,
    shares: Sequence[float],
    weight: float,
    settings: LexicalSettings,
) -> Overlap:
    """Overlap of sentences: how far each is said anywhere in the other text."""
    gist = _gist(settings)
    masses = [truth.total(point.sentence.said) for point in truth.points]
    given = [truth.total(frozenset(sentence.terms)) for sentence in answer.sentences]
    told = [truth.share(sentence.said, reference, settings.kin) for sentence in answer.sentences]
    return _overlap(
        weight,
        [(mass * gist(share), mass) for mass, share in zip(masses, shares, strict=True)],
        [(mass * (1 - gist(share / mass)), mass) for mass, share in zip(given, told, strict=True)],
        settings,
    )


def _pairs(
    answer: TextReading,
    reference: TextReading,
    truth: LexicalGroundTruth,
    weight: float,
    settings: LexicalSettings,
) -> Overlap:
    same = Counter(reference.bigrams) & Counter(answer.bigrams)
    said = {pair: count / reference.bigrams[pair] for pair, count in same.items()}
    short = {pair: 1 - count / answer.all_bigrams[pair] for pair, count in same.items()}
    return _overlap(
        weight,
        [_weighed(point.sentence.bigrams, truth.pair_weight, said, 0.0) for point in truth.points],
        [_weighed(sentence.all_bigrams, truth.pair_weight, short, 1.0) for sentence in answer.sentences],
        settings,
    )


def _weighed(
    keys: Sequence[Key], weight: Callable[[Key], float], shares: Mapping[Key, float], otherwise: float
) -> tuple[float, float]:
    weights = [weight(key) for key in keys]
    found = math.fsum(each * shares.get(key, otherwise) for key, each in zip(keys, weights, strict=True))
    return found, math.fsum(weights)


def _overlap(
    weight: float,
    gained: Sequence[tuple[float, float]],
    lost: Sequence[tuple[float, float]],
    settings: LexicalSettings,
) -> Overlap:
    """Shares of what was gained and lost; nothing wanted is nothing gained, nothing given all lost."""
    wanted, given = (math.fsum(whole for _, whole in rows) for rows in (gained, lost))
    return Overlap(
        weight=weight,
        gains=[part / wanted if wanted else 0.0 for part, _ in gained],
        losses=[part / given if given else 1.0 / len(lost) for part, _ in lost],
        beta=settings.recall,
    )


def _support(
    answer: TextReading, truth: LexicalGroundTruth, shares: Sequence[float], settings: LexicalSettings
) -> Overlap:
    """Return how well the passages support an answer's sentences, and how much of their content it covers.

    A sentence is borne out by the one sentence of the passages that has most of its weight, and in part by a
    second one: so words that are gathered from everywhere are not.
    """
    whole, given = math.fsum(truth.matters), truth.total(answer.terms)
    lost = [truth.total(each.terms) - _borne_out(each, truth) for each in answer.sentences]
    return Overlap(
        weight=1.0,
        gains=[matter * share / whole for matter, share in zip(truth.matters, shares, strict=True)],
        losses=[each / given for each in lost],
        beta=settings.recall_of_passages,
        within=truth.evidence.excess(answer, settings),
    )


def _borne_out(sentence: Sentence, truth: LexicalGroundTruth) -> float:
    best, place = truth.closest(sentence.live_terms)
    if place is None:
        return 0.0
    said = truth.passages[place].sentence.said
    second, _ = truth.closest([term for term in sentence.live_terms if term not in said])
    return best + SECOND * second


def _adjustments(
    answer: TextReading,
    found: Sequence[Overlap],
    truth: LexicalGroundTruth,
    contradictions: Sequence[Contradiction],
    settings: LexicalSettings,
) -> tuple[tuple[Adjustment, float], ...]:
    said, evidence = 0.0, truth.evidence
    if truth.kind is GroundTruth.REFERENCE and truth.passages:
        shares = truth.shares(truth.passages, answer, settings.kin)
        told = math.fsum(matter * share for matter, share in zip(truth.matters, shares, strict=True))
        said = settings.passages * _part(1.0, told, math.fsum(truth.matters))
    value = math.fsum((said, *(each.value for each in found)))
    ordered = value * evidence.order(answer, settings)
    needed = evidence.allowance(settings)
    if truth.reference is not None:
        needed = max(settings.length_free, settings.copied_lengths * len(truth.reference.terms))
    beyond = max(0.0, evidence.copied(answer) - needed) / len(answer.terms)
    worth = max(0.0, 1 - settings.copies * beyond)
    misplaced = min(float(len(evidence.misplaced(answer))), settings.most_names)
    wrong = min(math.fsum(each.strength for each in contradictions), settings.most_contradictions)
    amounts = (
        (Adjustment.PASSAGES, said),
        (Adjustment.LENGTH, value - math.fsum((said, *(each.brief for each in found)))),
        (Adjustment.ORDER, ordered - value),
        (Adjustment.COPIES, ordered * worth - ordered),
        (Adjustment.YES_NO, settings.yes_no * _agreement(answer, truth)),
        (Adjustment.CONTRADICTIONS, -settings.contradiction * wrong),
        (Adjustment.NAMES, -settings.name * misplaced),
    )
    return tuple((kind, amount) for kind, amount in amounts if amount)


def _agreement(answer: TextReading, truth: LexicalGroundTruth) -> int:
    """1 where answer and reference begin with the same of Yes and No, -1 with the other, 0 otherwise."""
    known = language(truth.language).yes_and_no
    theirs = truth.reference.beginning if truth.reference else ""
    if answer.beginning not in known or theirs not in known:
        return 0
    return 1 if answer.beginning == theirs else -1
