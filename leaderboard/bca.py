"""Bias-corrected and accelerated bootstrap intervals of means, over questions.

Source: Efron (1987), "Better bootstrap confidence intervals", equations 2.3 and 6.6; 10,000 resamples
as in Dejl et al. (comprehensiveness), section 4.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from leaderboard.intervals import LEVEL, Floats, Interval

RESAMPLES = 10_000
SEED = 0
FEWEST = 2
KEPT_UNITS = 5_000
"""Up to so many questions the resamples are drawn once and serve every mean over as many."""
BATCH_CELLS = 4_000_000

Counts = NDArray[np.uint8]


def bca_mean(sums: Floats, counts: Floats, level: float = LEVEL) -> Interval | None:
    """The BCa interval of a mean over answers, resampled by question.

    Args:
        sums: For each question, the sum of its answers' scores.
        counts: For each question, how many answers were scored; at least 1.
        level: Of confidence.

    Returns:
        The interval; None for fewer than two questions, the mean twice where every resample has it. Where
        the acceleration does not exist, the percentile interval stands in.
    """
    units = len(sums)
    if units < FEWEST:
        return None
    mean = float(sums.sum() / counts.sum())
    low, high = float((sums / counts).min()), float((sums / counts).max())
    if low == high:
        return Interval(low, high)
    drawn = np.concatenate([weights @ sums / (weights @ counts) for weights in _resamples(units)])
    shares = _adjusted(drawn, (sums.sum() - sums) / (counts.sum() - counts), mean, level)
    # Summation in another order leaves rounding dust beyond the bounds of the scores.
    lower, upper = np.clip(np.quantile(drawn, np.sort(shares)), low, high)
    return Interval(float(lower), float(upper))


def _adjusted(drawn: Floats, left_out: Floats, mean: float, level: float) -> Floats:
    """The shares of the bootstrap distribution that bound the interval."""
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    below = float(np.mean((drawn < mean) + (drawn == mean) / 2))
    spread = left_out.mean() - left_out
    scale = float((spread**2).sum())
    if not 0 < below < 1 or scale == 0:
        return tails
    bias = ndtri(below)
    acceleration = float((spread**3).sum()) / (6 * scale**1.5)
    shifted = bias + ndtri(tails)
    shares: Floats = ndtr(bias + shifted / (1 - acceleration * shifted))
    return shares


def _resamples(units: int) -> Iterator[Floats]:
    """How often each unit is in each resample, in batches of resamples."""
    for batch in _kept(units) if units <= KEPT_UNITS else _drawn(units):
        yield batch.astype(np.float64)


@lru_cache(maxsize=2)
def _kept(units: int) -> tuple[Counts, ...]:
    return tuple(_drawn(units))


def _drawn(units: int) -> Iterator[Counts]:
    generator = np.random.default_rng(SEED)
    most = max(1, BATCH_CELLS // units)
    for start in range(0, RESAMPLES, most):
        size = min(most, RESAMPLES - start)
        chosen = generator.integers(0, units, (size, units))
        chosen += np.arange(size)[:, None] * units
        # A question is drawn once on average; hundreds of times is beyond all odds.
        counts = np.bincount(chosen.ravel(), minlength=size * units).reshape(size, units)
        yield np.minimum(counts, 255).astype(np.uint8)
