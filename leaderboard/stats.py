"""Intervals of shares and means, for independent battles and for battles that share questions."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit

Floats = NDArray[np.float64]
LEVEL = 0.95
NORMAL = 1.959963984540054
"""Half-width in standard errors of an interval of that level."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Lower and upper bound."""

    lower: float
    upper: float

    def __contains__(self, value: float) -> bool:
        """Return whether a value lies between the bounds, the bounds included."""
        return self.lower <= value <= self.upper

    @property
    def width(self) -> float:
        """Distance of the bounds."""
        return self.upper - self.lower

    def as_json(self) -> list[float]:
        """Return the bounds as a pair."""
        return [self.lower, self.upper]


def bounds_json(interval: Interval | None, prefix: str = "") -> dict[str, float | None]:
    """Both bounds by name; null without an interval."""
    lower, upper = (None, None) if interval is None else interval.as_json()
    return {f"{prefix}lower": lower, f"{prefix}upper": upper}


def wilson(share: float, count: float) -> Interval | None:
    """Wilson's score interval of a share of `count` independent trials; None without trials.

    Source: Wilson (1927), equation for the limits; Brown, Cai & DasGupta (2001), section 3.1.1.
    """
    if count <= 0:
        return None
    z2 = NORMAL**2
    centre = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = math.sqrt(z2 * (share * (1 - share) / count + z2 / (4 * count**2))) / (1 + z2 / count)
    # At the ends the exact bounds are 0 and 1; subtracting would leave rounding dust.
    lower = 0.0 if share <= 0 else max(0.0, centre - half)
    upper = 1.0 if share >= 1 else min(1.0, centre + half)
    return Interval(lower, upper)


def bca_level(bias: Floats, acceleration: Floats, tail: Floats) -> Floats:
    """Return the share of draws below the bias-corrected and accelerated end for a tail; all broadcast.

    Source: Efron (1987), equation 2.3.
    """
    shifted = bias + ndtri(tail)
    level: Floats = ndtr(bias + shifted / (1 - acceleration * shifted))
    return level


def bca_levels(drawn: Floats, left_out: Floats, value: float) -> Floats:
    """Return the two shares of a statistic's draws that bound its interval.

    `left_out` are the statistic without each unit in turn. Where bias or acceleration do not exist the shares
    are the plain tails.
    """
    tails = np.array([(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    below = float(np.mean((drawn < value) + (drawn == value) / 2))
    spread = left_out.mean() - left_out
    scale = float((spread**2).sum())
    if not 0 < below < 1 or scale == 0:
        return tails
    acceleration = float((spread**3).sum()) / (6 * scale**1.5)
    return bca_level(ndtri(np.array([below])), np.array([acceleration]), tails)


def kish(total: Floats, squares: Floats) -> Floats:
    """Return Kish's effective sample size: (sum)² / sum of squares; 0 without any.

    Source: Kish (1965), section 11.7.
    """
    return np.divide(total**2, squares, out=np.zeros_like(total), where=squares > 0)


def effective_count(
    share: float, count: float, questions: int, variance: float, *, alike: float | None = None
) -> float:
    """Return the effective number of independent battles behind a share of clustered ones.

    Binomial over clustered variance, never more than the count, and shrunk for few questions by the squared
    ratio of normal and t quantiles. Where all battles ended alike the variance cannot be seen: then the
    number of questions.

    Where battles have weights, `count` and `alike` are Kish's effective numbers of battles and questions.

    Source: Korn & Graubard (1998); Dean & Pagano (2015) recommend it with Wilson's interval.
    """
    if count * (1 - ROUNDING) <= questions <= count * (1 + ROUNDING):
        return count
    at_most = min(count, float(questions) if alike is None else alike)
    if questions < 2:  # noqa: PLR2004 - a variance needs two
        return at_most
    if variance <= 0 or share in {0.0, 1.0}:
        return at_most
    plain = min(count, share * (1 - share) / variance)
    ratio = NORMAL / float(stdtrit(questions - 1, (1 + LEVEL) / 2))
    return max(min(1.0, at_most), plain * ratio**2)


UNIT = Interval(0.0, 1.0)
DIFFERENCES = Interval(-1.0, 1.0)
ROUNDING = 1e-9
"""Spreads and differences up to this are rounding."""


def mean_interval(
    mean: float, error: float | None, questions: int, *, within: Interval | None = None
) -> Interval | None:
    """Return a t interval of a mean whose error rests on a number of questions; None without an error.

    If all questions agree, only their number is known: the interval of a share is then Wilson's, that of a
    difference the sign test's; it never has zero width.

    `within` are the values that exist; both signs make it a difference. Without it no count stands in.
    """
    if error is None or questions < 2:  # noqa: PLR2004 - a variance needs two
        return None
    if error <= ROUNDING * max(1.0, abs(mean)):
        return None if within is None else _of_agreeing(mean, questions, within)
    half = float(stdtrit(questions - 1, (1 + LEVEL) / 2)) * error
    if within is None:
        return Interval(mean - half, mean + half)
    # An estimated mean may lie beyond the values that exist; its interval does not.
    lower, upper = (min(max(end, within.lower), within.upper) for end in (mean - half, mean + half))
    return Interval(lower, upper)


def _of_agreeing(mean: float, questions: int, within: Interval) -> Interval:
    """Return the interval of a mean that each question has.

    Source: Wilson (1927) for shares; Clopper & Pearson (1934), whose limits go with the exact sign test.
    """
    if within.lower < 0 and abs(mean) > ROUNDING:
        lower = 2 * ((1 - LEVEL) / 2) ** (1 / questions) - 1
        ends = sorted((mean * lower, mean * (2 - lower)))
        return Interval(max(within.lower, ends[0]), min(within.upper, ends[1]))
    reach = within.upper - within.lower
    share = min(max((mean - within.lower) / reach, 0.0), 1.0)
    found = wilson(share, questions) or UNIT
    return Interval(within.lower + reach * found.lower, within.lower + reach * found.upper)


def cluster_variance(residual_sums: Floats, total_weight: float) -> float | None:
    """Cluster-robust variance of a mean from each question's sum of residuals; None for one question.

    The Q/(Q−1) factor makes up for residuals being taken around the estimate.

    Source: Liang & Zeger (1986); Miller (2024), "Adding error bars to evals", section 2.2.
    """
    questions = len(residual_sums)
    if questions < 2 or total_weight <= 0:  # noqa: PLR2004 - a variance needs two
        return None
    return float(residual_sums @ residual_sums) / total_weight**2 * questions / (questions - 1)


def percentile_interval(draws: Floats) -> Interval | None:
    """Return the middle 95 % of finite bootstrap draws; None if fewer than half are finite."""
    finite = draws[np.isfinite(draws)]
    if 2 * len(finite) < len(draws) or not len(finite):
        return None
    lower, upper = np.quantile(finite, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(lower), float(upper))


RESAMPLES = 10_000
SEED = 0
FEWEST = 2
MOST_CACHED_UNITS = 5_000
"""Largest number of questions whose resamples are cached for every mean."""
BATCH_CELLS = 4_000_000

Counts = NDArray[np.uint8]


def bca_mean(sums: Floats, counts: Floats) -> Interval | None:
    """Return the BCa interval of a mean over answers, resampled by question.

    `sums` and `counts` are of the scored answers of each question.

    Returns:
        The interval; None for fewer than two questions. Where the acceleration does not exist, the percentile
        interval stands in. Where all questions have the same score, resamples tell no spread: of a score
        from 0 to 1 it is Wilson's of as many wins or losses, which spread most; of others there is none.
    """
    units = len(sums)
    if units < FEWEST:
        return None
    mean = float(sums.sum() / counts.sum())
    low, high = float((sums / counts).min()), float((sums / counts).max())
    if low == high:
        return wilson(low, units) if 0 <= low <= 1 else None
    means = np.concatenate([weights @ sums / (weights @ counts) for weights in _resamples(units)])
    shares = bca_levels(means, (sums.sum() - sums) / (counts.sum() - counts), mean)
    # Summation in another order leaves rounding dust beyond the bounds of the scores.
    lower, upper = np.clip(np.quantile(means, np.sort(shares)), low, high)
    return Interval(float(lower), float(upper))


def _resamples(units: int) -> Iterator[Floats]:
    for batch in _cached_draws(units) if units <= MOST_CACHED_UNITS else _draws(units):
        yield batch.astype(np.float64)


@lru_cache(maxsize=2)
def _cached_draws(units: int) -> tuple[Counts, ...]:
    return tuple(_draws(units))


def _draws(units: int) -> Iterator[Counts]:
    generator = np.random.default_rng(SEED)
    most = max(1, BATCH_CELLS // units)
    for start in range(0, RESAMPLES, most):
        size = min(most, RESAMPLES - start)
        chosen = generator.integers(0, units, (size, units))
        chosen += np.arange(size)[:, None] * units
        # A question is drawn once on average; hundreds of times is beyond all odds.
        counts = np.bincount(chosen.ravel(), minlength=size * units).reshape(size, units)
        yield np.minimum(counts, 255).astype(np.uint8)
