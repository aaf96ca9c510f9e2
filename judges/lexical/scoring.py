"""Scores of answers: overlap with a ground truth, guards and contradictions, sentence by sentence."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TypeVar

from data.declines import asked_by
from data.models import GroundTruth
from judges.lexical.ground_truth import LexicalGroundTruth
from judges.lexical.reading import Sentence, TextReading
from judges.lexical.settings import LexicalSettings
from judges.text.contradictions import Contradiction
from judges.text.languages import ENGLISH, language
from judges.text.statements import read_statement
from judges.text.tokens import related

Key = TypeVar("Key")
SECOND = 0.5
"""Weight of terms that only a second sentence of the passages supports."""


class Adjustment(StrEnum):
    """Parts of a score that do not belong to a sentence."""

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
    """One measure of overlap."""

    weight: float
    gains: Sequence[float]
    losses: Sequence[float]
    beta: float
    within: float = 1.0

    @cached_property
    def recall(self) -> float:
        """Share of the ground truth that the answer covers."""
        return min(1.0, math.fsum(self.gains))

    @cached_property
    def precision(self) -> float:
        """Share of the answer that the ground truth covers."""
        return max(0.0, 1.0 - math.fsum(self.losses))

    def at(self, precision: float) -> float:
        """Return the weighted F-measure for a precision; 0 if precision or recall is 0."""
        if precision <= 0 or self.recall <= 0:
            return 0.0
        square = self.beta * self.beta
        return self.weight * (1 + square) * precision * self.recall / (square * precision + self.recall)

    @property
    def best(self) -> float:
        """Score with perfect precision."""
        return self.at(1.0)

    @property
    def brief(self) -> float:
        """Score without the length factor."""
        return self.at(self.precision)

    @property
    def value(self) -> float:
        """Final score."""
        return self.at(self.precision * self.within)


@dataclass(frozen=True)
class AnswerAnalysis:
    """An answer compared with a ground truth; its score is the sum of its parts.

    Attributes:
        coverage: Share of the ground truth that the answer covers, 0–1.
        padding: Share of the answer that is not in the ground truth, 0–1.
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
        """Sum of the parts; higher is better."""
        return math.fsum((*self.credits, *self.costs, *(amount for _, amount in self.adjustments)))


def analyse(answer: TextReading, truth: LexicalGroundTruth, settings: LexicalSettings) -> AnswerAnalysis:
    """Compare one answer with a ground truth."""
    if not answer.sentences:
        nothing = (0.0,) * len(truth.points)
        amount = settings.yes_no * agreement(answer, truth)
        adjustments = ((Adjustment.YES_NO, amount),) if amount else ()
        return AnswerAnalysis(answer, shares=nothing, credits=nothing, adjustments=adjustments)
    shares = truth.shares(truth.points, answer, settings.kin)
    if truth.reference is None:
        overlaps: Sequence[Overlap] = [_support(answer, truth, shares, settings)]
    else:
        part = 1 - settings.passages if truth.passages else 1.0
        overlaps = [
            _terms(answer, truth.reference, truth, part * settings.words, settings),
            _sentences(answer, truth.reference, truth, shares, part * settings.sentences, settings),
            _pairs(answer, truth.reference, truth, part * settings.pairs, settings),
        ]
    contradictions: tuple[Contradiction, ...] = ()
    if truth.contradictions is not None:
        # Repeated sentences count once.
        texts = dict.fromkeys(sentence.text for sentence in answer.sentences)
        finder = truth.contradictions
        contradictions = tuple(row for text in texts for row in finder.conflicts(read_statement(text)))
    return AnswerAnalysis(
        answer,
        coverage=_mean([(overlap.weight, overlap.recall) for overlap in overlaps]),
        padding=1 - _mean([(overlap.weight, overlap.precision) for overlap in overlaps]),
        shares=tuple(map(_gist(settings), shares)),
        credits=_sums(
            [[_part(overlap.best, gain, overlap.recall) for gain in overlap.gains] for overlap in overlaps]
        ),
        costs=_sums(
            [
                [_part(overlap.brief - overlap.best, loss, total) for loss in overlap.losses]
                for overlap, total in ((overlap, math.fsum(overlap.losses)) for overlap in overlaps)
            ]
        ),
        adjustments=_adjustments(answer, overlaps, truth, contradictions, settings),
        contradictions=contradictions,
    )


def _part(whole: float, share: float, of: float) -> float:
    return whole * share / of if of else 0.0


def _sums(rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
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
    same = {
        term: min(count, answer.live_counts.get(term, 0)) for term, count in reference.live_counts.items()
    }
    missing = {term: count - same[term] for term, count in reference.live_counts.items()}
    extra = {term: count - same.get(term, 0) for term, count in answer.live_counts.items()}
    missing_kin, extra_kin = _by_root(missing), _by_root(extra)
    kin = settings.kin
    covered = {
        term: (same[term] + kin * min(missing[term], extra_kin[related(term)])) / count
        for term, count in reference.live_counts.items()
    }
    short = {
        term: 1 - (same.get(term, 0) + kin * min(count, missing_kin[related(term)])) / answer.counts[term]
        for term, count in extra.items()
    }
    return _overlap(
        weight,
        [_weighed(point.sentence.live_terms, truth.weight, covered, 0.0) for point in truth.points],
        [_weighed(sentence.terms, truth.weight, short, 1.0) for sentence in answer.sentences],
        settings,
    )


def _by_root(counts: Mapping[str, int]) -> Counter[str]:
    totals: Counter[str] = Counter()
    for term, count in counts.items():
        totals[related(term)] += count
    return totals


def _sentences(
    answer: TextReading,
    reference: TextReading,
    truth: LexicalGroundTruth,
    shares: Sequence[float],
    weight: float,
    settings: LexicalSettings,
) -> Overlap:
    """Compare sentences by their coverage anywhere in the other text."""
    gist = _gist(settings)
    masses = [truth.total(point.sentence.live_set) for point in truth.points]
    weights = [truth.total(frozenset(sentence.terms)) for sentence in answer.sentences]
    supports = [truth.share(sentence.live_set, reference, settings.kin) for sentence in answer.sentences]
    return _overlap(
        weight,
        [(mass * gist(share), mass) for mass, share in zip(masses, shares, strict=True)],
        [(mass * (1 - gist(share / mass)), mass) for mass, share in zip(weights, supports, strict=True)],
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
    covered = {pair: count / reference.bigrams[pair] for pair, count in same.items()}
    short = {pair: 1 - count / answer.all_bigrams[pair] for pair, count in same.items()}
    return _overlap(
        weight,
        [_weighed(point.sentence.bigrams, truth.pair_weight, covered, 0.0) for point in truth.points],
        [_weighed(sentence.all_bigrams, truth.pair_weight, short, 1.0) for sentence in answer.sentences],
        settings,
    )


def _weighed(
    keys: Sequence[Key], weight: Callable[[Key], float], shares: Mapping[Key, float], default: float
) -> tuple[float, float]:
    weights = [weight(key) for key in keys]
    part = math.fsum(value * shares.get(key, default) for key, value in zip(keys, weights, strict=True))
    return part, math.fsum(weights)


def _overlap(
    weight: float,
    gains: Sequence[tuple[float, float]],
    losses: Sequence[tuple[float, float]],
    settings: LexicalSettings,
) -> Overlap:
    truth_weight, answer_weight = (math.fsum(whole for _, whole in rows) for rows in (gains, losses))
    return Overlap(
        weight=weight,
        gains=[part / truth_weight if truth_weight else 0.0 for part, _ in gains],
        losses=[part / answer_weight if answer_weight else 1.0 / len(losses) for part, _ in losses],
        beta=settings.recall,
    )


def _support(
    answer: TextReading, truth: LexicalGroundTruth, shares: Sequence[float], settings: LexicalSettings
) -> Overlap:
    """Compare an answer with passages.

    The best sentence of the passages supports a sentence of the answer, a second one in part, so that words
    collected from everywhere have no support.
    """
    whole, total = math.fsum(truth.matters), truth.total(answer.terms)
    losses = [truth.total(row.terms) - _supported(row, truth) for row in answer.sentences]
    return Overlap(
        weight=1.0,
        gains=[matter * share / whole for matter, share in zip(truth.matters, shares, strict=True)],
        losses=[loss / total for loss in losses],
        beta=settings.recall_of_passages,
        within=truth.evidence.excess(answer, settings),
    )


def _supported(sentence: Sentence, truth: LexicalGroundTruth) -> float:
    best, place = truth.closest(sentence.live_terms)
    if place is None:
        return 0.0
    first = truth.passages[place].sentence.live_set
    second, _ = truth.closest([term for term in sentence.live_terms if term not in first])
    return best + SECOND * second


def _adjustments(
    answer: TextReading,
    overlaps: Sequence[Overlap],
    truth: LexicalGroundTruth,
    contradictions: Sequence[Contradiction],
    settings: LexicalSettings,
) -> tuple[tuple[Adjustment, float], ...]:
    from_passages, evidence = 0.0, truth.evidence
    if truth.kind is GroundTruth.REFERENCE and truth.passages:
        shares = truth.shares(truth.passages, answer, settings.kin)
        covered = math.fsum(matter * share for matter, share in zip(truth.matters, shares, strict=True))
        from_passages = settings.passages * _part(1.0, covered, math.fsum(truth.matters))
    value = math.fsum((from_passages, *(overlap.value for overlap in overlaps)))
    ordered = value * evidence.order(answer, settings)
    allowance = evidence.allowance(settings)
    if truth.reference is not None:
        allowance = max(settings.length_free, settings.copied_lengths * len(truth.reference.terms))
    excess = max(0.0, evidence.copied(answer) - allowance) / len(answer.terms)
    worth = max(0.0, 1 - settings.copies * excess)
    misplaced = min(float(len(evidence.misplaced(answer))), settings.most_names)
    wrong = min(math.fsum(row.strength for row in contradictions), settings.most_contradictions)
    amounts = (
        (Adjustment.PASSAGES, from_passages),
        (Adjustment.LENGTH, value - math.fsum((from_passages, *(overlap.brief for overlap in overlaps)))),
        (Adjustment.ORDER, ordered - value),
        (Adjustment.COPIES, ordered * worth - ordered),
        (Adjustment.YES_NO, settings.yes_no * agreement(answer, truth)),
        (Adjustment.CONTRADICTIONS, -settings.contradiction * wrong),
        (Adjustment.NAMES, -settings.name * misplaced),
    )
    return tuple((kind, amount) for kind, amount in amounts if amount)


def agreement(answer: TextReading, truth: LexicalGroundTruth) -> int:
    """Return 1 if an answer begins with the Yes or No of the reference, -1 with the opposite, else 0."""
    known = language(truth.language).yes_and_no
    theirs = truth.reference.beginning if truth.reference else ""
    if theirs not in known and truth.language == ENGLISH and asked_by(truth.question).kind == "yes":
        # A reference without Yes or No answers by its first statement.
        theirs = known[read_statement(truth.points[0].sentence.text).negated] if truth.reference else ""
    if answer.beginning not in known or theirs not in known:
        return 0
    return 1 if answer.beginning == theirs else -1
