"""How well assessors of factuality tell true claims from false ones, and which of them does better.

Source: FactReasoner, section 5 (F1, MAE of precision, Table 4's one-sided t-tests).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from statistics import fmean
from typing import Any, Protocol, runtime_checkable

from data.errors import StatisticsError
from data.progress import working
from data.records import Json, MetricItem, Score
from data.records.plain import to_json
from judges.base import each
from judges.metrics.factuality.measures import (
    Label,
    better_than,
    brier,
    calibration_curve,
    label_f1,
    mean_absolute_error,
)
from judges.metrics.factuality.meta_files import LabelledClaims

AT_ONCE = 64


@runtime_checkable
class ClaimAssessor(Protocol):
    """An assessor that can be given the claims."""

    @property
    def name(self) -> str:
        """The metric's name."""
        ...

    async def score_claims(self, item: MetricItem, claims: Sequence[str]) -> Score:
        """Score given claims against the passages of an item."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessed:
    """What one assessor said of labelled claims.

    Attributes:
        metric: Its name.
        labels: Its labels, claim by claim.
        posteriors: Its posteriors; None for an assessor that has none.
        truths: What people say.
        errors: By answer: how far its precision is from the true one.
        precision: Its mean precision, and the true one beside it.
        unscored: How many answers it could not score, and claims it said nothing of, by reason.
    """

    metric: str
    labels: tuple[Label, ...]
    posteriors: tuple[float, ...] | None
    truths: tuple[bool, ...]
    errors: Mapping[str, float]
    precision: tuple[float, float]
    unscored: Mapping[str, int]

    def as_json(self) -> dict[str, Json]:
        """Every measure; Brier score and calibration are null where there are no posteriors."""
        counts = Counter(self.labels)
        curve = () if self.posteriors is None else calibration_curve(self.posteriors, self.truths)
        return {
            "metric": self.metric,
            "answers": len(self.errors),
            "claims": len(self.truths),
            "true": sum(self.truths),
            "unscored": dict(self.unscored),
            **{label.value: counts[label] for label in Label},
            "precision": self.precision[0],
            "true_precision": self.precision[1],
            "mae": fmean(self.errors.values()),
            "f1": label_f1(self.labels, self.truths),
            "brier": None if self.posteriors is None else brier(self.posteriors, self.truths),
            "calibration": None if self.posteriors is None else [to_json(bucket) for bucket in curve],
        }


async def assess(assessor: ClaimAssessor, rows: Sequence[LabelledClaims]) -> Assessed:
    """Have an assessor say what it thinks of labelled claims.

    Raises:
        StatisticsError: It could score none of them.
        JudgeError: Asking as a whole cannot go on.
    """
    with working(f"scoring by {assessor.name}", len(rows)) as work:
        scores = await each(
            lambda row: assessor.score_claims(row.item, row.claims), rows, at_once=AT_ONCE, work=work
        )
    rulings: list[tuple[Mapping[str, Any], bool]] = []
    errors: dict[str, float] = {}
    means: list[tuple[float, float]] = []
    unscored: Counter[str] = Counter()
    for row, scored in zip(rows, scores, strict=True):
        if scored.score is None:
            unscored[f"{scored.outcome}: {scored.reason}"] += 1
            continue
        matched = _matched(row, scored)
        unscored["claims without a ruling"] += len(row.claims) - len(matched)
        rulings += matched
        means.append((scored.score, fmean(row.truths)))
        errors[row.item.id] = mean_absolute_error([means[-1][0]], [means[-1][1]])
    if not rulings:
        message = f"{assessor.name} could score none of {len(rows)} answers."
        raise StatisticsError(message, advice=f"The reasons: {dict(unscored)}.")
    posteriors = [float(claim["posterior"]) for claim, _ in rulings if "posterior" in claim]
    return Assessed(
        metric=assessor.name,
        labels=tuple(Label(claim["label"]) for claim, _ in rulings),
        posteriors=tuple(posteriors) if len(posteriors) == len(rulings) else None,
        truths=tuple(truth for _, truth in rulings),
        errors=errors,
        precision=(fmean(predicted for predicted, _ in means), fmean(true for _, true in means)),
        unscored=+unscored,
    )


def compare(assessed: Sequence[Assessed]) -> list[dict[str, Json]]:
    """For each ordered pair: whether the first one's errors are smaller, by answer (paired, one-sided).

    The p-value is null where the test does not exist: no two shared answers, or all differences equal.
    """
    rows: list[dict[str, Json]] = []
    for ours, theirs in permutations(assessed, 2):
        shared = sorted(ours.errors.keys() & theirs.errors.keys())
        try:
            p = better_than(
                [-ours.errors[name] for name in shared], [-theirs.errors[name] for name in shared]
            )
        except StatisticsError:
            p = None
        rows.append({"better": ours.metric, "than": theirs.metric, "answers": len(shared), "p": p})
    return rows


def _matched(row: LabelledClaims, score: Score) -> list[tuple[Mapping[str, Any], bool]]:
    """What was said of each claim, by its text, with what people say."""
    details: Any = score.details
    by_text = {str(claim["text"]): claim for claim in details["claims"] if claim.get("label") is not None}
    pairs = zip(row.claims, row.truths, strict=True)
    return [(by_text[key], truth) for text, truth in pairs if (key := " ".join(text.split())) in by_text]
