"""A set's factuality: the scores of its answers taken together, with K their median number of claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from data.errors import StatisticsError
from data.records import Outcome, Score
from judges.factuality.measures import Counts, f1_at, median_claims, precision, recall_at


@dataclass(frozen=True, slots=True, kw_only=True)
class FactualitySummary:
    """Means over the answers of a set that were scored by one assessor.

    Attributes:
        answers: How many were scored.
        left_out: How many were not, by outcome.
        k: The median number of claims.
        supported: Mean number of supported claims; `contradicted` and `undecided` likewise.
        precision: Mean factual precision, 0–1.
        recall_at_k: Mean recall at K, 0–1.
        f1_at_k: Mean F1@K, 0–1.
        entropy: Mean entropy measure; None for the rivals, which have no posteriors.
        entropy_repaired: Mean repaired entropy measure; None likewise.
    """

    answers: int
    left_out: dict[str, int]
    k: float
    supported: float
    contradicted: float
    undecided: float
    precision: float
    recall_at_k: float
    f1_at_k: float
    entropy: float | None
    entropy_repaired: float | None


def summarise(scores: Sequence[Score], *, k: float | None = None) -> FactualitySummary:
    """Take the scores of a set together.

    Args:
        scores: Of one factuality metric, one an answer.
        k: The K of F1@K where it is another than the median of these answers.

    Raises:
        StatisticsError: None of the answers was scored.

    Source: FactReasoner, section 4 (measures of performance).
    """
    judged = [score for score in scores if score.outcome is Outcome.JUDGED]
    if not judged:
        message = f"None of {len(scores)} answers has a factuality score."
        raise StatisticsError(message, advice="Look at the reasons of the scores.")
    counts = [_counts(score) for score in judged]
    at = median_claims([each.claims for each in counts]) if k is None else k
    return FactualitySummary(
        answers=len(judged),
        left_out=dict(
            Counter(score.outcome.value for score in scores if score.outcome is not Outcome.JUDGED)
        ),
        k=at,
        supported=fmean(each.supported for each in counts),
        contradicted=fmean(each.contradicted for each in counts),
        undecided=fmean(each.undecided for each in counts),
        precision=fmean(precision(each) for each in counts),
        recall_at_k=fmean(recall_at(each, at) for each in counts),
        f1_at_k=fmean(f1_at(each, at) for each in counts),
        entropy=_mean(judged, "entropy"),
        entropy_repaired=_mean(judged, "entropy_repaired"),
    )


def _counts(score: Score) -> Counts:
    found = {name: score.details.get(name) for name in ("supported", "contradicted", "undecided")}
    numbers = {name: value for name, value in found.items() if isinstance(value, int)}
    if len(numbers) != len(found):
        message = f"The score {score.metric} of {score.id} has no counts of claims."
        raise StatisticsError(message, advice="Take together scores of the factuality metrics alone.")
    return Counts(**numbers)


def _mean(scores: Sequence[Score], name: str) -> float | None:
    values = [score.details.get(name) for score in scores]
    numbers = [value for value in values if isinstance(value, float)]
    return fmean(numbers) if numbers else None
