"""How well a metric of comprehensiveness tells complete answers from incomplete ones.

Source: section 4.1, appendix B.1.2 and figure 7 of the paper. Label match rates reward caution (always
answering "partially" matches 77 % of WikiContradict's labels), so agreement beyond chance (Cohen's
kappa) and the mean F1 of the labels are given with that constant as the baseline.

Bias-corrected and accelerated bootstrap intervals, over answers or over questions.

Source: Efron (1987); 10,000 resamples and 95 % as in section 4.1 of the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from data.intervals import Interval
from data.progress import working
from data.records import Json, MetricItem, Passage, Score
from data.stats import bca_levels
from judges.base import each
from judges.metrics.comprehensiveness.meta_files import ConflictItem, Label, LabelledItem
from judges.metrics.registry import Metric

FloatArray = NDArray[np.float64]
Statistic = Callable[[FloatArray], FloatArray]

RESAMPLES = 10_000
BATCH = 250


def bca(tallies: FloatArray, statistic: Statistic, *, resamples: int = RESAMPLES, seed: int = 0) -> Interval:
    """The interval of a statistic of summed tallies.

    Args:
        tallies: One row a resampled unit (an answer, or a question with all its answers).
        statistic: Maps summed tallies, with any number of axes before the last, to values.
        resamples: How many bootstrap samples are drawn.
        seed: Makes the interval the same at every run.

    Returns:
        The 95 % interval. It is degenerate with one unit and where all resamples agree; where the
        acceleration does not exist, the percentile interval stands in.
    """
    value = float(statistic(tallies.sum(axis=0)))
    units = len(tallies)
    if units < 2 or (tallies == tallies[0]).all():  # noqa: PLR2004 - one unit cannot be resampled
        return Interval(value, value)
    draws = _resampled(tallies, statistic, resamples, seed)
    if np.ptp(draws) == 0:
        return Interval(value, value)
    left_out = statistic(tallies.sum(axis=0) - tallies)
    shares = bca_levels(draws, left_out, value)
    lower, upper = np.quantile(draws, shares)
    return Interval(float(lower), float(upper))


def group_rows(rows: FloatArray, names: Sequence[Hashable]) -> FloatArray:
    """Add up the rows that share a name, in the order of first appearance."""
    order = {name: at for at, name in enumerate(dict.fromkeys(names))}
    grouped = np.zeros((len(order), rows.shape[1]))
    np.add.at(grouped, [order[name] for name in names], rows)
    return grouped


def _resampled(tallies: FloatArray, statistic: Statistic, resamples: int, seed: int) -> FloatArray:
    generator = np.random.default_rng(seed)
    units = len(tallies)
    batches = []
    for start in range(0, resamples, BATCH):
        size = min(BATCH, resamples - start)
        counts = generator.multinomial(units, np.full(units, 1 / units), size=size)
        batches.append(statistic(counts @ tallies))
    return np.concatenate(batches)


LABELS = tuple(Label)
AT_ONCE = 64
CONSTANT_SCORES = (0.0, 0.5, 1.0)
FORMAT_WIKI, FORMAT_CONFLICT = "wikicontradict", "conflictbank"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its intervals, resampled over answers and over questions."""

    value: float
    over_answers: Interval
    over_questions: Interval

    def as_json(self) -> dict[str, Json]:
        """The value and both intervals."""
        intervals = {
            "over_answers": self.over_answers.as_json(),
            "over_questions": self.over_questions.as_json(),
        }
        return {"value": self.value, **intervals}


@dataclass(frozen=True, kw_only=True)
class MetaEvaluation:
    """What a metric's scores say of the labels.

    Attributes:
        metric: The metric's name.
        format: Whose labels: WikiContradict's or ConflictBank's.
        answers: How many answers were scored.
        questions: How many questions they belong to.
        unscored: How many answers the metric could not score, by reason.
        estimates: WikiContradict: `lmr`, `kappa`, `macro_f1`. ConflictBank: `lmr`, `lmr_strict`,
            `lmr_lax`; `lmr_all`, where answers without a score count as mismatches, as the authors have it.
        baseline: The same for the constant "Partially correct" (WikiContradict only).
        constants: The same for every constant answer.
        confusion: Rows are labels, columns what the scores say (WikiContradict only).
    """

    metric: str
    format: str
    answers: int
    questions: int
    unscored: dict[str, int]
    estimates: dict[str, Estimate]
    baseline: dict[str, float] = field(default_factory=dict)
    constants: dict[str, dict[str, float]] = field(default_factory=dict)
    confusion: tuple[tuple[int, ...], ...] = ()

    def as_json(self) -> dict[str, Json]:
        """Everything, for `--json`."""
        return {
            "metric": self.metric,
            "format": self.format,
            "answers": self.answers,
            "questions": self.questions,
            "unscored": dict(self.unscored),
            **{name: estimate.as_json() for name, estimate in self.estimates.items()},
            "baseline": dict(self.baseline),
            "constants": {name: dict(values) for name, values in self.constants.items()},
            "confusion": [list(row) for row in self.confusion],
        }


def label_of(score: float) -> Label:
    """What a score says: everything, nothing or something is covered."""
    if score >= 1:
        return Label.CORRECT
    return Label.INCORRECT if score <= 0 else Label.PARTIAL


async def evaluate_wikicontradict(
    metric: Metric, items: Sequence[LabelledItem], *, resamples: int = RESAMPLES, seed: int = 0
) -> MetaEvaluation:
    """Hold a metric's scores against WikiContradict's adjusted labels."""
    scores = await _score_all(metric, [item.item for item in items])
    pairs = list(zip(items, scores, strict=True))
    read = [(item, score.score) for item, score in pairs if score.score is not None]
    rows = np.zeros((len(read), len(LABELS) ** 2))
    for at, (item, value) in enumerate(read):
        rows[at, len(LABELS) * LABELS.index(item.label) + LABELS.index(label_of(value))] = 1
    names = [item.item.question for item, _ in read]
    statistics: dict[str, Statistic] = {"lmr": _accuracy, "kappa": _kappa, "macro_f1": _macro_f1}
    confusion = rows.sum(axis=0).reshape(len(LABELS), len(LABELS))
    constants = {label: _constant(confusion, label, statistics) for label in LABELS} if read else {}
    return MetaEvaluation(
        metric=metric.name,
        format=FORMAT_WIKI,
        answers=len(read),
        questions=len(set(names)),
        unscored=_reasons(scores),
        estimates=(
            {
                **_estimates(rows, names, statistics, resamples, seed),
                **_of_all(
                    [(item.item.question, item.label, score.score) for item, score in pairs], resamples, seed
                ),
            }
            if read
            else {}
        ),
        baseline=dict(constants.get(Label.PARTIAL, {})),
        constants={label.value: values for label, values in constants.items()},
        confusion=tuple(tuple(int(cell) for cell in row) for row in confusion),
    )


async def evaluate_conflictbank(
    metric: Metric, items: Sequence[ConflictItem], *, resamples: int = RESAMPLES, seed: int = 0
) -> MetaEvaluation:
    """Hold a metric's scores against what ConflictBank's contexts demand (figure 7)."""
    variants = [variant for item in items for variant in _conflict_items(item)]
    scores = await _score_all(metric, variants)
    by_id = {score.id: score.score for score in scores}
    rows, names = [], []
    everything: list[list[float]] = []
    for item in items:
        values = [by_id[variant.id] for variant in _conflict_items(item)]
        scored = [value for value in values if value is not None]
        matches = [*_conflict_matches(item, scored), 1.0] if len(scored) == len(values) else [0.0, 0.0, 1.0]
        everything.append(matches)
        if len(scored) == len(values):
            rows.append(matches)
            names.append(item.question)
    statistics: dict[str, Statistic] = {
        "lmr_strict": lambda sums: sums[..., 0] / sums[..., 2],
        "lmr_lax": lambda sums: sums[..., 1] / sums[..., 2],
        "lmr": lambda sums: (sums[..., 0] + sums[..., 1]) / (2 * sums[..., 2]),
    }
    return MetaEvaluation(
        metric=metric.name,
        format=FORMAT_CONFLICT,
        answers=len(rows),
        questions=len(set(names)),
        unscored=_reasons(scores),
        estimates=(
            {
                **_estimates(np.array(rows), names, statistics, resamples, seed),
                **_estimates(
                    np.array(everything),
                    [item.question for item in items],
                    {"lmr_all": statistics["lmr"]},
                    resamples,
                    seed,
                ),
            }
            if rows
            else {}
        ),
        constants={f"{score:g}": _constant_conflicts(items, score, statistics) for score in CONSTANT_SCORES},
    )


def _constant(confusion: FloatArray, label: Label, statistics: dict[str, Statistic]) -> dict[str, float]:
    """What always saying one label gets on the same answers."""
    constant = np.zeros_like(confusion)
    constant[:, LABELS.index(label)] = confusion.sum(axis=1)
    return {name: float(statistic(constant.ravel())) for name, statistic in statistics.items()}


def _constant_conflicts(
    items: Sequence[ConflictItem], score: float, statistics: dict[str, Statistic]
) -> dict[str, float]:
    """What always giving one score gets of figure 7."""
    rows = np.array(
        [[*_conflict_matches(item, [score] * (2 + len(item.counterfactual))), 1.0] for item in items]
    )
    return {name: float(statistic(rows.sum(axis=0))) for name, statistic in statistics.items()}


def _of_all(
    answers: Sequence[tuple[str, Label, float | None]], resamples: int, seed: int
) -> dict[str, Estimate]:
    """The share of all answers whose label is met, those without a score counting 0."""
    rows = np.array(
        [[float(value is not None and label_of(value) is label), 1.0] for _, label, value in answers]
    )
    names = [question for question, _, _ in answers]
    return _estimates(rows, names, {"lmr_all": lambda sums: sums[..., 0] / sums[..., 1]}, resamples, seed)


async def _score_all(metric: Metric, items: Sequence[MetricItem]) -> list[Score]:
    with working(f"scoring by {metric.name}", len(items)) as work:
        return await each(metric.score, items, at_once=AT_ONCE, work=work)


def _conflict_items(item: ConflictItem) -> list[MetricItem]:
    """The statement with all contexts, with the default one, and with each counterfactual one."""
    contexts = [Passage(f"context{at}", text) for at, text in enumerate((item.default, *item.counterfactual))]
    choices = [contexts, *([context] for context in contexts)]
    return [
        MetricItem(id=f"{item.id}.{at}", question=item.question, answer=item.answer, passages=tuple(chosen))
        for at, chosen in enumerate(choices)
    ]


def _conflict_matches(item: ConflictItem, scores: Sequence[float]) -> tuple[float, float]:
    """The strict and the lax share of what figure 7 demands of one statement's scores."""
    overall, default, *others = scores
    strict = [0 < overall < 1, default == float(item.is_default)]
    strict += [other == float(not item.is_default) for other in others]
    lax = [other < default if item.is_default else other > default for other in others]
    return sum(strict) / len(strict), sum(lax) / len(lax)


def _estimates(
    rows: FloatArray, names: Sequence[str], statistics: dict[str, Statistic], resamples: int, seed: int
) -> dict[str, Estimate]:
    by_question = group_rows(rows, names)
    return {
        name: Estimate(
            float(statistic(rows.sum(axis=0))),
            bca(rows, statistic, resamples=resamples, seed=seed),
            bca(by_question, statistic, resamples=resamples, seed=seed),
        )
        for name, statistic in statistics.items()
    }


def _square(sums: FloatArray) -> FloatArray:
    return sums.reshape(*sums.shape[:-1], len(LABELS), len(LABELS))


def _accuracy(sums: FloatArray) -> FloatArray:
    result: FloatArray = np.trace(_square(sums), axis1=-2, axis2=-1) / sums.sum(axis=-1)
    return result


def _kappa(sums: FloatArray) -> FloatArray:
    """Cohen's kappa; 0 where both sides say one and the same thing only, so that chance explains all."""
    table = _square(sums)
    total = sums.sum(axis=-1)
    chance = (table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1) / total**2
    beyond = _accuracy(sums) - chance
    result: FloatArray = np.divide(beyond, 1 - chance, out=np.zeros_like(beyond), where=chance < 1)
    return result


def _macro_f1(sums: FloatArray) -> FloatArray:
    """The mean F1 over all three labels; a label that neither side uses counts 0."""
    table = _square(sums)
    either = table.sum(axis=-1) + table.sum(axis=-2)
    hits = 2 * np.diagonal(table, axis1=-2, axis2=-1)
    result: FloatArray = np.divide(hits, either, out=np.zeros_like(either), where=either > 0).mean(axis=-1)
    return result


def _reasons(scores: Sequence[Score]) -> dict[str, int]:
    """How many answers went unscored, by how that came about."""
    reasons: dict[str, int] = {}
    for score in scores:
        if score.score is None:
            key = f"{score.outcome}: {score.reason}"
            reasons[key] = reasons.get(key, 0) + 1
    return reasons
