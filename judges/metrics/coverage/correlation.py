"""Correlations between two scores of the same things, with bootstrap intervals.

Pearson, Spearman and Kendall (tau-b), as ICAT reports them. Scores of one question are not independent,
so whole questions are drawn. What does not exist (constant scores, fewer than three things) is None.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from data.errors import StatisticsError

Floats = NDArray[np.float64]
RESAMPLES = 1_000
LEVEL = 0.95
FEWEST = 3
FEW = 100
FEWEST_DEFINED = 0.9
SYSTEMS_BY_QUESTIONS = 2


class Coefficient(StrEnum):
    """The kinds of correlation."""

    PEARSON = "pearson"
    SPEARMAN = "spearman"
    KENDALL = "kendall"


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """One correlation.

    Attributes:
        value: −1 to 1; None where it does not exist.
        lower: Lower end of the percentile interval; None where too many resamples have no correlation.
        upper: Its upper end.
        things: How many pairs of scores it depends on.
        resamples: How many of the resamples had a correlation.
    """

    value: float | None
    lower: float | None
    upper: float | None
    things: int
    resamples: int


def coefficient(kind: Coefficient, x: Floats, y: Floats) -> float | None:
    """One correlation, None where either side is constant or there are fewer than three pairs."""
    from scipy import stats  # noqa: PLC0415 - loads for long, and metrics are known without it

    if len(x) < FEWEST or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    if kind is Coefficient.KENDALL:
        return float(np.clip(_kendall(x, y), -1, 1))
    if kind is Coefficient.SPEARMAN:
        x, y = stats.rankdata(x), stats.rankdata(y)
    a, b = x - x.mean(), y - y.mean()
    spread = float(np.sqrt((a @ a) * (b @ b)))
    return float(np.clip((a @ b) / spread, -1, 1)) if spread else None


def _kendall(x: Floats, y: Floats) -> float:
    """Kendall's tau-b; of few things by all their pairs, where scipy's checks would take most of the time."""
    from scipy import stats  # noqa: PLC0415 - as above

    if len(x) > FEW:
        return float(stats.kendalltau(x, y).statistic)
    one, other = np.triu_indices(len(x), 1)
    a, b = np.sign(x[one] - x[other]), np.sign(y[one] - y[other])
    return float((a @ b) / np.sqrt((a @ a) * (b @ b)))


def correlate(
    x: Sequence[float],
    y: Sequence[float],
    *,
    questions: Sequence[Hashable] | None = None,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = 0,
) -> Mapping[Coefficient, Correlation]:
    """Correlate two scores of the same things.

    Args:
        x: One score a thing.
        y: The other, in the same order.
        questions: What each thing belongs to; resampled as a whole. By default each stands alone.
        resamples: How many; 0 gives no intervals.
        level: Of the percentile interval.
        seed: Makes the interval repeatable.

    Raises:
        StatisticsError: The two are not equally long, or a score is no finite number.

    Source: ICAT, section 6 (human evaluation study); the intervals are ours.
    """
    first, second = _checked(x, "first"), _checked(y, "second")
    if len(first) != len(second) or (questions is not None and len(questions) != len(first)):
        message = f"There are {len(first)} and {len(second)} scores to correlate."
        raise StatisticsError(message, advice="Give both scores, and the question, of every thing.")
    groups = _groups(questions if questions is not None else range(len(first)))
    rows = [(first[indices], second[indices]) for indices in _draws(groups, resamples, seed)]
    return MappingProxyType({kind: _measured(kind, (first, second), rows, level) for kind in Coefficient})


def correlate_systems(
    context: Sequence[Sequence[float]],
    answer: Sequence[Sequence[float]],
    *,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = 0,
) -> Mapping[Coefficient, Correlation]:
    """Correlate the systems' mean context scores with their mean answer scores.

    Args:
        context: Systems × questions: one score a system and question, the same questions for all.
        answer: Likewise.
        resamples: How often questions are drawn anew.
        level: Of the percentile interval.
        seed: Makes the interval repeatable.

    Raises:
        StatisticsError: The tables differ in shape, or a score is no finite number.

    Source: CRUX, Table 1 (rank correlation, Kendall's tau) over systems.
    """
    first, second = _checked(context, "context"), _checked(answer, "answer")
    if first.ndim != SYSTEMS_BY_QUESTIONS or first.shape != second.shape or not first.shape[1]:
        message = f"The scores of contexts and answers have the shapes {first.shape} and {second.shape}."
        raise StatisticsError(message, advice="Give each system a score for every question in both.")
    groups = [np.array([number]) for number in range(first.shape[1])]
    draws = _draws(groups, resamples, seed)
    rows = [(first[:, columns].mean(axis=1), second[:, columns].mean(axis=1)) for columns in draws]
    observed = (first.mean(axis=1), second.mean(axis=1))
    return MappingProxyType({kind: _measured(kind, observed, rows, level) for kind in Coefficient})


def _measured(
    kind: Coefficient, observed: tuple[Floats, Floats], rows: Sequence[tuple[Floats, Floats]], level: float
) -> Correlation:
    value = coefficient(kind, *observed)
    defined = [resampled for resampled in (coefficient(kind, *row) for row in rows) if resampled is not None]
    usable = value is not None and defined and len(defined) >= FEWEST_DEFINED * len(rows)
    tail = (1 - level) / 2
    lower, upper = np.quantile(defined, [tail, 1 - tail]) if usable else (None, None)
    return Correlation(
        value=value,
        lower=None if lower is None else float(lower),
        upper=None if upper is None else float(upper),
        things=len(observed[0]),
        resamples=len(defined),
    )


def _checked(scores: object, noun: str) -> Floats:
    try:
        read = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        message = f"The {noun} scores are not all numbers."
        raise StatisticsError(message, advice="Leave out what has no score.") from error
    if not np.isfinite(read).all():
        message = f"The {noun} scores are not all finite."
        raise StatisticsError(message, advice="Leave out what has no score; it is neither 0 nor a mean.")
    return read


def _groups(questions: Sequence[Hashable]) -> list[NDArray[np.intp]]:
    places: dict[Hashable, list[int]] = {}
    for place, question in enumerate(questions):
        places.setdefault(question, []).append(place)
    return [np.array(indices, dtype=np.intp) for indices in places.values()]


def _draws(groups: Sequence[NDArray[np.intp]], resamples: int, seed: int) -> Iterator[NDArray[np.intp]]:
    generator = np.random.default_rng(seed)
    for _ in range(resamples if groups else 0):
        picks = generator.integers(0, len(groups), len(groups))
        yield np.concatenate([groups[number] for number in picks])
