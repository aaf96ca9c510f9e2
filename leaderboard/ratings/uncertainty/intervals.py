"""Intervals of ratings, one-sided bounds, and the significance test behind letters, ranks and differences.

A Wald test on the rating scale loses power for strong results, since near 0 and 1 the error grows faster than
the rating (Hauck & Donner, 1977). Instead, the statistic for a difference d of log-odds with standard error s
is 2 sinh(d/2) / s: the score test, which is (p − ½) / √(¼/n) for n battles and a share p of wins. Inverting
it gives the interval d ± 2 asinh(t s / 2), Wilson's for independent battles, which excludes 0 if and only if
the test is significant.

Sources: Wilson (1927); Newcombe (2001), "Logit confidence intervals and the inverse sinh transformation".
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from leaderboard.ratings.counts import Floats, Ints, PairCounts
from leaderboard.ratings.vocabulary import POINTS
from leaderboard.stats import LEVEL, bca_level

FEW_QUESTIONS = 12
"""With fewer questions, intervals are Student's t, because percentiles of resamples are too narrow."""
MAX_FREEDOM = 1e6
NO_SPREAD = 1e-6
"""A smaller spread in points is a rounding error."""
ROUNDING = 1e-10
"""A smaller variance of a difference, as a share of the two variances, is a rounding error."""
ONE_UNIT = 1 + 1e-6
MAX_GAP = 200.0
"""Maximum difference in log-odds; beyond it sinh overflows."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PairedErrors:
    """(S, S) standard errors of differences of ratings, NaN if unknown, and effective `units` of each."""

    se: Floats
    units: Floats

    @classmethod
    def of(
        cls, points: Floats, covariance: Floats, units: Floats | float, factor: Floats | float = 1.0
    ) -> "PairedErrors":
        """Build the errors from the ratings' covariance in squared points.

        If all questions agree on a difference, there is no spread. Each then counts as one battle with the
        expected result, so the statistic is tanh(d/2) √units. One question gives no standard error.

        `factor` corrects the variance of each difference for few questions.
        """
        gap = points[:, None] - points
        units = np.broadcast_to(np.asarray(units, dtype=np.float64), gap.shape)
        variance, own = variances_of_differences(covariance), np.diag(covariance)
        agreed = variance < np.maximum(NO_SPREAD**2, ROUNDING * (own[:, None] + own))
        se = np.where(agreed, _error_of_single_battles(gap, units), np.sqrt(variance * factor))
        unknown = (units <= ONE_UNIT) | np.isnan(variance) | np.eye(len(points), dtype=bool)
        return cls(se=np.where(unknown, np.nan, se), units=units)

    def agreed(self, gap: Floats) -> NDArray[np.bool_]:
        """Find pairs on which all questions agree, so that resamples do not vary."""
        return np.isclose(self.se, _error_of_single_battles(gap, self.units), rtol=1e-9)

    def among(self, codes: Ints) -> "PairedErrors":
        """Select systems, in their order."""
        chosen = np.ix_(codes, codes)
        return PairedErrors(se=self.se[chosen], units=self.units[chosen])

    @property
    def freedom(self) -> Floats:
        """Degrees of freedom of Student's t."""
        return freedom_of(self.units)

    def statistic(self, gap: Floats) -> Floats:
        """Return Student's t of differences in points, with their sign."""
        return np.asarray(score_distance(gap / POINTS) * POINTS / self.se)

    def p_values(self, gap: Floats) -> Floats:
        """Return two-sided p-values of differences."""
        return np.asarray(2 * stdtr(self.freedom, -np.abs(self.statistic(gap))))

    def prob_above(self, gap: Floats) -> Floats:
        """Return the probability that a difference, in points, is above 0."""
        return np.asarray(stdtr(self.freedom, self.statistic(gap)))

    @property
    def reach(self) -> Floats:
        """Half-widths of the 95 % intervals of differences, in points."""
        half = t_quantile(self.freedom) * self.se / POINTS / 2
        return np.asarray(2 * POINTS * np.arcsinh(half))


def _error_of_single_battles(gap: Floats, units: Floats) -> Floats:
    half = np.clip(gap / POINTS / 2, -MAX_GAP, MAX_GAP)
    return np.asarray(2 * POINTS * np.cosh(half) / np.sqrt(np.maximum(units, ONE_UNIT)))


def variances_of_differences(covariance: Floats) -> Floats:
    """(S, S) variances of differences from a covariance."""
    variance = np.diag(covariance)
    return np.asarray(np.maximum(variance[:, None] + variance - 2 * covariance, 0.0))


def score_distance(gap: Floats) -> Floats:
    """Return a difference of log-odds on the scale of the score test: 2 sinh(d / 2)."""
    return np.asarray(2 * np.sinh(np.clip(gap, -MAX_GAP, MAX_GAP) / 2))


def freedom_of(units: Floats | float) -> Floats:
    """Return the degrees of freedom of effective units: one less, at least 1."""
    return np.clip(np.asarray(units, dtype=np.float64) - 1, 1.0, MAX_FREEDOM)


def t_quantile(freedom: Floats, level: float = LEVEL) -> Floats:
    """Return the half-width of a two-sided interval in standard errors."""
    return np.asarray(stdtrit(np.minimum(freedom, MAX_FREEDOM), (1 + level) / 2))


ERROR = 0.05


def better(points: Floats, errors: PairedErrors) -> NDArray[np.bool_]:
    """(S, S) whether the row's system is significantly better than the column's, by Holm's procedure."""
    gap = points[:, None] - points
    above, right = np.triu_indices(len(points), k=1)
    p_values = errors.p_values(gap)[above, right]
    significant = holm(np.where(np.isnan(p_values), 1.0, p_values))
    first, second = above[significant], right[significant]
    sure = np.zeros(gap.shape, dtype=bool)
    sure[first, second] = gap[first, second] > 0
    sure[second, first] = gap[first, second] < 0
    return sure


def holm(p_values: Floats, error: float = ERROR) -> NDArray[np.bool_]:
    """Select the hypotheses that Holm's procedure rejects at family-wise error `error`."""
    order = np.argsort(p_values, kind="stable")
    allowed = error / np.arange(len(p_values), 0, -1)
    failed = np.flatnonzero(p_values[order] > allowed)
    rejected = np.zeros(len(p_values), dtype=bool)
    rejected[order[: failed[0] if len(failed) else len(p_values)]] = True
    return rejected


TAIL = (1 - LEVEL) / 2
ONE_SIDED = 1 - LEVEL
BISECTIONS = 80
MIN_UNITS = 2.0


def tail_of(units: Floats | float | None) -> Floats:
    """Return the share of draws beyond either end of an interval: 2.5 %, less with few questions.

    The spread of draws is too small by the factor √((n−1)/n) and lacks the tails of t; the smaller share
    corrects both. `units` is None if single battles are resampled.

    Source: Hesterberg (2015), "What teachers should know about the bootstrap", section 5.3.
    """
    if units is None:
        return np.asarray(TAIL)
    units = np.maximum(np.asarray(units, dtype=np.float64), MIN_UNITS)
    return np.asarray(ndtr(-np.sqrt(units / (units - 1)) * t_quantile(freedom_of(units))))


def percentile(draws: Floats, units: Floats | float | None = None) -> tuple[Floats, Floats]:
    """(S,) lower and upper ends from (B, S) or (B,) draws."""
    tail = tail_of(units)
    ranked = np.sort(draws.reshape(len(draws), -1), axis=0)
    lower, upper = (_at(ranked, np.broadcast_to(share, ranked.shape[1])) for share in (tail, 1 - tail))
    return lower.reshape(draws.shape[1:]), upper.reshape(draws.shape[1:])


def _at(ranked: Floats, share: Floats) -> Floats:
    """(S,) quantiles of (B, S) sorted draws at one level per column."""
    place = np.clip(share, 0, 1) * (len(ranked) - 1)
    first = np.minimum(place.astype(np.int64), len(ranked) - 2)
    column = np.arange(ranked.shape[1])
    low, high = ranked[first, column], ranked[first + 1, column]
    return np.asarray(low + (place - first) * (high - low))


def bca(
    draws: Floats, point: Floats, acceleration: Floats, units: Floats | float | None = None
) -> tuple[Floats, Floats]:
    """(S,) bias-corrected and accelerated ends.

    Source: Efron (1987), equations 2.3 and 6.6.
    """
    count = len(draws)
    below = ((draws < point).sum(axis=0) + (draws == point).sum(axis=0) / 2) / count
    bias = ndtri(np.clip(below, 1 / (count + 1), count / (count + 1)))
    ranked, tail = np.sort(draws, axis=0), np.broadcast_to(tail_of(units), draws.shape[1])
    lower, upper = (_at(ranked, bca_level(bias, acceleration, share)) for share in (tail, 1 - tail))
    return lower, upper


def acceleration(influence: Floats | csr_array, weight: Floats | None = None) -> Floats:
    """(S,) Efron's a from (units, S) influence values, each counting `weight` times."""
    values = np.asarray(influence.todense()) if isinstance(influence, csr_array) else influence
    counted = values if weight is None else values * weight[:, None]
    square = (counted * values).sum(axis=0)
    cube = (counted * values**2).sum(axis=0)
    return np.asarray(np.divide(cube, 6 * square**1.5, out=np.zeros_like(cube), where=square > 0))


def one_sided(pairs: PairCounts, outside: Ints, rated: Floats, effective: Floats, *, wins: bool) -> Floats:
    """(len(outside),) log-odds bounds of systems that won, or lost, every battle with rated systems.

    The bound is the rating at which such a record has a probability of 5 %, given the opponents' ratings; NaN
    without rated opponents. `rated` are (S,) log-odds, NaN without a rating. `effective` is the number of
    independent battles per battle. `wins` selects lower bounds.
    """
    place = np.full(pairs.systems, -1, dtype=np.int64)
    place[outside] = np.arange(len(outside))
    ends = np.concatenate([pairs.low, pairs.high])
    opponents = np.concatenate([pairs.high, pairs.low])
    battles = np.tile(pairs.totals, 2) * effective[ends]
    used = (place[ends] >= 0) & ~np.isnan(rated[opponents])
    system, opponent, battles = place[ends[used]], rated[opponents[used]], battles[used]
    sign = 1.0 if wins else -1.0
    met = np.bincount(system, minlength=len(outside)) > 0
    spread = 60.0 + np.abs(opponent).max(initial=0.0)
    low, high = np.full(len(outside), -spread), np.full(len(outside), spread)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        log_chance = np.bincount(
            system, -battles * np.logaddexp(0, -sign * (middle[system] - opponent)), len(outside)
        )
        up = (log_chance < np.log(ONE_SIDED)) == wins
        low, high = np.where(up, middle, low), np.where(up, high, middle)
    return np.where(met, (low + high) / 2, np.nan)
