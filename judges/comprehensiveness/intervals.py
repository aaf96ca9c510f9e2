"""Bias-corrected and accelerated bootstrap intervals, over answers or over questions.

Source: Efron (1987); 10,000 resamples and 95 % as in section 4.1 of the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

FloatArray = NDArray[np.float64]
Statistic = Callable[[FloatArray], FloatArray]

RESAMPLES = 10_000
LEVEL = 0.95
BATCH = 250


@dataclass(frozen=True, slots=True)
class Bounds:
    """A confidence interval; both ends are the value itself where resampling changes nothing."""

    lower: float
    upper: float


def bca(tallies: FloatArray, statistic: Statistic, *, resamples: int = RESAMPLES, seed: int = 0) -> Bounds:
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
        return Bounds(value, value)
    drawn = _resampled(tallies, statistic, resamples, seed)
    if np.ptp(drawn) == 0:
        return Bounds(value, value)
    left_out = statistic(tallies.sum(axis=0) - tallies)
    shares = _adjusted(drawn, left_out, value)
    lower, upper = np.quantile(drawn, shares)
    return Bounds(float(lower), float(upper))


def group_rows(rows: FloatArray, names: Sequence[Hashable]) -> FloatArray:
    """Add up the rows that share a name, in the order of first appearance."""
    order = {name: at for at, name in enumerate(dict.fromkeys(names))}
    grouped = np.zeros((len(order), rows.shape[1]))
    np.add.at(grouped, [order[name] for name in names], rows)
    return grouped


def _resampled(tallies: FloatArray, statistic: Statistic, resamples: int, seed: int) -> FloatArray:
    generator = np.random.default_rng(seed)
    units = len(tallies)
    found = []
    for start in range(0, resamples, BATCH):
        size = min(BATCH, resamples - start)
        counts = generator.multinomial(units, np.full(units, 1 / units), size=size)
        found.append(statistic(counts @ tallies))
    return np.concatenate(found)


def _adjusted(drawn: FloatArray, left_out: FloatArray, value: float) -> FloatArray:
    """The shares of the bootstrap distribution that bound the interval (Efron 1987, equation 2.3)."""
    tails = np.array([(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    below = (np.count_nonzero(drawn < value) + np.count_nonzero(drawn == value) / 2) / len(drawn)
    spread = left_out.mean() - left_out
    scale = float((spread**2).sum())
    if not 0 < below < 1 or scale == 0:
        return tails
    bias = stats.norm.ppf(below)
    acceleration = float((spread**3).sum()) / (6 * scale**1.5)
    shifted = bias + stats.norm.ppf(tails)
    shares: FloatArray = stats.norm.cdf(bias + shifted / (1 - acceleration * shifted))
    return shares
