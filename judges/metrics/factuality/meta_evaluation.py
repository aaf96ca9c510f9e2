"""How well assessors of factuality tell true claims from false ones, and which of them does better.

Source: FactReasoner, section 5 (F1, MAE of precision, Table 4's one-sided t-tests).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from itertools import permutations
from statistics import fmean, stdev
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
    count,
    entropy_measure,
    f1_at,
    label_f1,
    label_of,
    mean_absolute_error,
    median_claims,
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
class AnswerMeasures:
    """What one answer's claims come to, each value as in the paper's tables; None where it does not exist.

    Attributes:
        supported: Claims of that label; `contradicted` and `undecided` likewise.
        precision: The assessor's, 0–1.
        true_precision: By the labels of people.
        f1: Of `supported` against the labels; None where neither side finds anything true.
        f1_at_k: With the K of the file.
        mae: How far the precision is from the true one.
        entropy: The E measure; None without posteriors. `brier` likewise.
    """

    supported: int
    contradicted: int
    undecided: int
    precision: float
    true_precision: float
    f1: float | None
    f1_at_k: float
    mae: float
    entropy: float | None
    brier: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanDeviation:
    """A mean over answers with its standard deviation (the ± of Tables 10 and 11)."""

    answers: int
    mean: float
    sd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessed:
    """What one assessor said of labelled claims.

    Attributes:
        metric: Its name.
        labels: Its labels, claim by claim.
        posteriors: Its posteriors; None for an assessor that has none.
        truths: What people say.
        answers: By answer.
        k: The median number of labelled claims of an answer.
        precision: Its mean precision, and the true one beside it.
        unscored: How many answers it could not score, and claims it said nothing of, by reason.
        irrelevant: How many claims people marked as irrelevant.
    """

    metric: str
    labels: tuple[Label, ...]
    posteriors: tuple[float, ...] | None
    truths: tuple[bool, ...]
    answers: Mapping[str, AnswerMeasures]
    k: float
    precision: tuple[float, float]
    unscored: Mapping[str, int]
    irrelevant: int = 0

    def as_json(self) -> dict[str, Json]:
        """Every measure; Brier score and calibration are null where there are no posteriors.

        `f1`, `brier` and `calibration` are over all claims; `per_answer` has means over answers.
        """
        counts = Counter(self.labels)
        curve = () if self.posteriors is None else calibration_curve(self.posteriors, self.truths)
        return {
            "metric": self.metric,
            "answers": len(self.answers),
            "claims": len(self.truths),
            "true": sum(self.truths),
            "irrelevant": self.irrelevant,
            "unscored": dict(self.unscored),
            **{label.value: counts[label] for label in Label},
            "precision": self.precision[0],
            "true_precision": self.precision[1],
            "mae": fmean(answer.mae for answer in self.answers.values()),
            "f1": label_f1(self.labels, self.truths),
            "brier": None if self.posteriors is None else brier(self.posteriors, self.truths),
            "calibration": None if self.posteriors is None else [to_json(bucket) for bucket in curve],
            "k": self.k,
            "per_answer": {name: _json(found) for name, found in self.means().items()},
        }

    def means(self) -> dict[str, MeanDeviation | None]:
        """Each measure over the answers where it exists; None where it exists nowhere."""
        means: dict[str, MeanDeviation | None] = {}
        for field in fields(AnswerMeasures):
            values = [getattr(answer, field.name) for answer in self.answers.values()]
            known = [float(value) for value in values if value is not None]
            means[field.name] = (
                MeanDeviation(
                    answers=len(known), mean=fmean(known), sd=stdev(known) if len(known) > 1 else None
                )
                if known
                else None
            )
        return means


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
    k = median_claims([len(row.claims) for row in rows])
    rulings: list[tuple[Ruled, bool]] = []
    answers: dict[str, AnswerMeasures] = {}
    means: list[tuple[float, float]] = []
    unscored: Counter[str] = Counter()
    for row, scored in zip(rows, scores, strict=True):
        if scored.score is None:
            unscored[f"{scored.outcome}: {scored.reason}"] += 1
            continue
        matched = _matched(row, scored)
        unscored["claims without a ruling"] += len(row.claims) - len(matched)
        if not matched:
            continue
        rulings += matched
        means.append((scored.score, fmean(row.truths)))
        answers[row.item.id] = _measured(matched, precision=means[-1], k=k)
    if not rulings:
        message = f"{assessor.name} could score none of {len(rows)} answers."
        raise StatisticsError(message, advice=f"The reasons: {dict(unscored)}.")
    return Assessed(
        metric=assessor.name,
        labels=tuple(ruled.label for ruled, _ in rulings),
        posteriors=_posteriors([ruled for ruled, _ in rulings]),
        truths=tuple(truth for _, truth in rulings),
        answers=answers,
        k=k,
        precision=(fmean(predicted for predicted, _ in means), fmean(true for _, true in means)),
        unscored=+unscored,
        irrelevant=sum(row.irrelevant for row in rows),
    )


def _json(mean: MeanDeviation | None) -> Json:
    return None if mean is None else to_json(mean)


class Constant(StrEnum):
    """Rules that look at nothing, which every figure is to be held against."""

    SUPPORTED = "all supported"
    NOT_SUPPORTED = "none supported"
    SHARE = "the share of true claims, for each"


def constants(rows: Sequence[LabelledClaims]) -> dict[str, Json]:
    """What constant rules get on the same answers: means over answers, as `per_answer` of an assessor.

    The last one gives every claim the file's share of true claims as its posterior, the best that a constant
    can do for the Brier score.
    """
    share = fmean(truth for row in rows for truth in row.truths)
    posteriors = {Constant.SUPPORTED: 1.0, Constant.NOT_SUPPORTED: 0.0, Constant.SHARE: share}
    k = median_claims([len(row.claims) for row in rows])
    table: dict[str, Json] = {}
    for constant, posterior in posteriors.items():
        ruled = Ruled(label_of(posterior), posterior)
        answers = {
            str(number): _measured(
                [(ruled, truth) for truth in row.truths],
                precision=(float(ruled.label is Label.SUPPORTED), fmean(row.truths)),
                k=k,
            )
            for number, row in enumerate(rows)
        }
        labels = [ruled.label for row in rows for _ in row.truths]
        truths = [truth for row in rows for truth in row.truths]
        found = Assessed(
            metric=constant.value,
            labels=tuple(labels),
            posteriors=(posterior,) * len(truths),
            truths=tuple(truths),
            answers=answers,
            k=k,
            precision=(float(ruled.label is Label.SUPPORTED), share),
            unscored={},
        )
        table[constant.value] = {
            "mae": fmean(answer.mae for answer in answers.values()),
            "f1": label_f1(labels, truths),
            "brier": brier([posterior] * len(truths), truths),
            "per_answer": {name: _json(mean) for name, mean in found.means().items()},
        }
    return table


COMPARED = {"p_precision": "precision", "p_f1": "f1", "p": "mae"}
"""Fields of a comparison and what they test; of the error, smaller is better."""


def compare(assessed: Sequence[Assessed]) -> list[dict[str, Json]]:
    """For each ordered pair: whether the first one does better, by answer (paired, one-sided).

    `p_precision` and `p_f1` test whether its precision and F1 are greater, `p` whether its error (MAE) is
    smaller. A p-value is null where the test does not exist: no two shared answers, or all differences equal.

    Source: FactReasoner, Table 4.
    """
    rows: list[dict[str, Json]] = []
    for ours, theirs in permutations(assessed, 2):
        shared = sorted(ours.answers.keys() & theirs.answers.keys())
        tests: dict[str, Json] = {
            name: _p_value([(ours.answers[one], theirs.answers[one]) for one in shared], measure)
            for name, measure in COMPARED.items()
        }
        rows.append({"better": ours.metric, "than": theirs.metric, "answers": len(shared), **tests})
    return rows


def _p_value(pairs: Sequence[tuple[AnswerMeasures, AnswerMeasures]], measure: str) -> float | None:
    sign = -1.0 if measure == "mae" else 1.0
    values = [(getattr(one, measure), getattr(other, measure)) for one, other in pairs]
    known = [(sign * one, sign * other) for one, other in values if one is not None and other is not None]
    try:
        return better_than([one for one, _ in known], [other for _, other in known])
    except StatisticsError:
        return None


@dataclass(frozen=True, slots=True)
class Ruled:
    """What was said of one claim; the posterior is None where the assessor has none."""

    label: Label
    posterior: float | None


def _posteriors(rulings: Sequence[Ruled]) -> tuple[float, ...] | None:
    known = [ruled.posterior for ruled in rulings if ruled.posterior is not None]
    return tuple(known) if len(known) == len(rulings) else None


def _measured(
    matched: Sequence[tuple[Ruled, bool]], *, precision: tuple[float, float], k: float
) -> AnswerMeasures:
    labels, truths = [ruled.label for ruled, _ in matched], [truth for _, truth in matched]
    counts = count(labels)
    posteriors = _posteriors([ruled for ruled, _ in matched])
    return AnswerMeasures(
        supported=counts.supported,
        contradicted=counts.contradicted,
        undecided=counts.undecided,
        precision=precision[0],
        true_precision=precision[1],
        f1=label_f1(labels, truths) if counts.supported or any(truths) else None,
        f1_at_k=f1_at(counts, k),
        mae=mean_absolute_error([precision[0]], [precision[1]]),
        entropy=None if posteriors is None else entropy_measure(posteriors),
        brier=None if posteriors is None else brier(posteriors, truths),
    )


def _matched(row: LabelledClaims, score: Score) -> list[tuple[Ruled, bool]]:
    """What was said of each claim, by its text, with what people say."""
    details: Any = score.details
    by_text = {str(claim["text"]): claim for claim in details["claims"] if claim.get("label") is not None}
    matched = []
    for text, truth in zip(row.claims, row.truths, strict=True):
        claim = by_text.get(" ".join(text.split()))
        if claim is not None:
            posterior = claim.get("posterior")
            ruled = Ruled(Label(claim["label"]), None if posterior is None else float(posterior))
            matched.append((ruled, truth))
    return matched
