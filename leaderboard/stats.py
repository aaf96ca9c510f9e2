"""Intervals of shares and means, for independent battles and for battles that share questions."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit

Floats = NDArray[np.float64]
LEVEL = 0.95
NORMAL = 1.959963984540054
"""Half-width of a 95 % interval in standard errors."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Lower and upper bound."""

    lower: float
    upper: float

    def __contains__(self, value: float) -> bool:
        """Return whether a value lies within the bounds, inclusive."""
        return self.lower <= value <= self.upper

    @property
    def width(self) -> float:
        """Upper minus lower bound."""
        return self.upper - self.lower

    def as_json(self) -> list[float]:
        """Return the bounds as a pair."""
        return [self.lower, self.upper]


def bounds_json(interval: Interval | None, prefix: str = "") -> dict[str, float | None]:
    """Return both bounds by name; null without an interval."""
    lower, upper = (None, None) if interval is None else interval.as_json()
    return {f"{prefix}lower": lower, f"{prefix}upper": upper}


def wilson(share: float, count: float) -> Interval | None:
    """Return Wilson's score interval of a share of `count` independent trials; None without trials.

    Source: Wilson (1927), equation for the limits; Brown, Cai & DasGupta (2001), section 3.1.1.
    """
    if count <= 0:
        return None
    z2 = NORMAL**2
    centre = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = math.sqrt(z2 * (share * (1 - share) / count + z2 / (4 * count**2))) / (1 + z2 / count)
    # At the ends the exact bounds are 0 and 1; subtraction would add rounding errors.
    lower = 0.0 if share <= 0 else max(0.0, centre - half)
    upper = 1.0 if share >= 1 else min(1.0, centre + half)
    return Interval(lower, upper)


def bca_level(bias: Floats, acceleration: Floats, tail: Floats) -> Floats:
    """Return the share of draws below the BCa end for a tail; arguments broadcast.

    Source: Efron (1987), equation 2.3.
    """
    shifted = bias + ndtri(tail)
    level: Floats = ndtr(bias + shifted / (1 - acceleration * shifted))
    return level


def bca_levels(draws: Floats, jackknife: Floats, value: float) -> Floats:
    """Return the two quantile levels of the draws that bound a statistic's BCa interval.

    `jackknife` are the values without each unit in turn. Where bias or acceleration is undefined, the levels
    are those of the percentile interval.
    """
    tails = np.array([(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    below = float(np.mean((draws < value) + (draws == value) / 2))
    spread = jackknife.mean() - jackknife
    scale = float((spread**2).sum())
    if not 0 < below < 1 or scale == 0:
        return tails
    acceleration = float((spread**3).sum()) / (6 * scale**1.5)
    return bca_level(ndtri(np.array([below])), np.array([acceleration]), tails)


def kish(total: Floats, squares: Floats) -> Floats:
    """Return Kish's effective sample size, (sum)² / sum of squares; 0 if all weights are 0.

    Source: Kish (1965), section 11.7.
    """
    return np.divide(total**2, squares, out=np.zeros_like(total), where=squares > 0)


def effective_count(
    share: float, count: float, questions: int, variance: float, *, effective_questions: float | None = None
) -> float:
    """Return the effective number of independent battles behind a share of clustered battles.

    Binomial over clustered variance, at most the count, and shrunk for few questions by the squared ratio of
    normal and t quantiles. If all battles ended the same way, the variance is unknown and the number of
    questions is used. With weights, `count` and `effective_questions` are Kish's effective sizes.

    Source: Korn & Graubard (1998); Dean & Pagano (2015) recommend it with Wilson's interval.
    """
    if count * (1 - ROUNDING) <= questions <= count * (1 + ROUNDING):
        return count
    at_most = min(count, float(questions) if effective_questions is None else effective_questions)
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
"""Maximum spread or difference that is a rounding error."""


def mean_interval(
    mean: float, error: float | None, questions: int, *, within: Interval | None = None
) -> Interval | None:
    """Return the t interval of a mean from its clustered standard error; None without an error.

    If all questions agree, the error is 0 and the interval comes from their number: Wilson's for a share,
    the sign test's for a difference. `within` is the range of the values; a range with both signs means a
    difference. Without `within`, questions that agree give None.
    """
    if error is None or questions < 2:  # noqa: PLR2004 - a variance needs two
        return None
    if error <= ROUNDING * max(1.0, abs(mean)):
        return None if within is None else _interval_of_agreeing(mean, questions, within)
    half = float(stdtrit(questions - 1, (1 + LEVEL) / 2)) * error
    if within is None:
        return Interval(mean - half, mean + half)
    # A t interval may reach beyond the possible values.
    lower, upper = (min(max(end, within.lower), within.upper) for end in (mean - half, mean + half))
    return Interval(lower, upper)


def _interval_of_agreeing(mean: float, questions: int, within: Interval) -> Interval:
    # Sources: Wilson (1927) for shares; Clopper & Pearson (1934), whose limits match the exact sign test.
    if within.lower < 0 and abs(mean) > ROUNDING:
        lower = 2 * ((1 - LEVEL) / 2) ** (1 / questions) - 1
        ends = sorted((mean * lower, mean * (2 - lower)))
        return Interval(max(within.lower, ends[0]), min(within.upper, ends[1]))
    width = within.upper - within.lower
    share = min(max((mean - within.lower) / width, 0.0), 1.0)
    bounds = wilson(share, questions) or UNIT
    return Interval(within.lower + width * bounds.lower, within.lower + width * bounds.upper)


def cluster_variance(residual_sums: Floats, total_weight: float) -> float | None:
    """Return the cluster-robust variance of a mean from sums of residuals; None for one question.

    The factor Q/(Q−1) corrects for residuals around the estimate.

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
MIN_UNITS = 2
MAX_CACHED_UNITS = 5_000
"""Maximum number of questions whose resamples are cached."""
BATCH_CELLS = 4_000_000

Counts = NDArray[np.uint8]


def bca_means(pairs: Sequence[tuple[Floats, Floats]]) -> list[Interval | None]:
    """Return BCa intervals of means over answers, resampled by question; None for fewer than two.

    A pair has the sums and counts over the scored answers of each question. If all questions have the same
    score, the interval is Wilson's for scores from 0 to 1 and None for other scores.
    """
    keys = [(sums.tobytes(), counts.tobytes()) for sums, counts in pairs]
    distinct = dict(zip(keys, pairs, strict=True))
    intervals: dict[tuple[bytes, bytes], Interval | None] = {}
    for units in {len(sums) for sums, _ in pairs}:
        group = {key: pair for key, pair in distinct.items() if len(pair[0]) == units}
        means: dict[tuple[bytes, bytes], list[Floats]] = {key: [] for key in group}
        # Means over equally many questions share their resamples.
        for weights in _resamples(units) if units >= MIN_UNITS else ():
            for key, (sums, counts) in group.items():
                # With one answer per question, each resample has as many answers as questions.
                answers = units if (counts == 1).all() else weights @ counts
                means[key].append(weights @ sums / answers)
        intervals |= {key: _bca_interval(means[key], *pair) for key, pair in group.items()}
    return [intervals[key] for key in keys]


def _bca_interval(draws: Sequence[Floats], sums: Floats, counts: Floats) -> Interval | None:
    if not draws:
        return None
    low, high = float((sums / counts).min()), float((sums / counts).max())
    if low == high:
        return wilson(low, len(sums)) if 0 <= low <= 1 else None
    means, mean = np.concatenate(draws), float(sums.sum() / counts.sum())
    shares = bca_levels(means, (sums.sum() - sums) / (counts.sum() - counts), mean)
    # Summation in another order may exceed the bounds by a rounding error.
    lower, upper = np.clip(np.quantile(means, np.sort(shares)), low, high)
    return Interval(float(lower), float(upper))


def _resamples(units: int) -> Iterator[Floats]:
    for batch in _cached_draws(units) if units <= MAX_CACHED_UNITS else _draws(units):
        yield batch.astype(np.float64)


@lru_cache(maxsize=2)
def _cached_draws(units: int) -> tuple[Counts, ...]:
    return tuple(_draws(units))


def _draws(units: int) -> Iterator[Counts]:
    generator = np.random.default_rng(SEED)
    batch = max(1, BATCH_CELLS // units)
    for start in range(0, RESAMPLES, batch):
        size = min(batch, RESAMPLES - start)
        chosen = generator.integers(0, units, (size, units))
        chosen += np.arange(size)[:, None] * units
        # A question is drawn once on average, so uint8 cannot overflow in practice.
        counts = np.bincount(chosen.ravel(), minlength=size * units).reshape(size, units)
        yield np.minimum(counts, 255).astype(np.uint8)
