"""Pairwise significance tests: the one source of letters, ranks, differences and chances.

A Wald test on the rating scale grows weaker as the result grows stronger, since near 0 and 1 the error
grows faster than the rating (Hauck & Donner, 1977). The statistic here is that of the score test for as many
battles as give the standard error s of a difference d of log-odds, 2 sinh(d/2) / s: with n battles of which a
share p was won it is (p − ½) / √(¼/n). Solved for the difference it gives the interval d ± 2 asinh(t s / 2),
which for independent battles is Wilson's, so an interval leaves out 0 exactly where the test finds a
difference.

Sources: Wilson (1927); Newcombe (2001), "Logit confidence intervals and the inverse sinh transformation".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from data.intervals import LEVEL
from leaderboard.ratings.counts import Floats, Ints
from leaderboard.ratings.vocabulary import POINTS

FEW_QUESTIONS = 12
"""With fewer questions behind a quantity percentiles of resamples hold too little; Student's t stands in."""
MOST_FREEDOM = 1e6
NO_SPREAD = 1e-6
"""Below this many points a spread is rounding, not variation."""
ROUNDING = 1e-10
"""Likewise the variance of a difference, as a share of those of its two ratings."""
ONE_UNIT = 1 + 1e-6
FURTHEST = 200.0
"""In log-odds; beyond this a difference is beyond all doubt, and its sinh beyond all numbers."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PairedErrors:
    """Standard errors of differences of ratings; (S, S), NaN where unknown.

    Attributes:
        se: Standard errors of differences, in points.
        units: The effective number of independent questions (or battles) that carry each difference.
    """

    se: Floats
    units: Floats

    @classmethod
    def of(
        cls, points: Floats, covariance: Floats, units: Floats | float, factor: Floats | float = 1.0
    ) -> PairedErrors:
        """Build the errors from the ratings' covariance in squared points.

        Where all questions agree on a difference, they show no spread. Each then counts as one battle, won
        with the chance that the ratings give, so that the statistic is tanh(d/2) √units. A single question
        does not say how sure a difference is.

        Args:
            points: (S,) ratings.
            covariance: (S, S).
            units: Behind each difference.
            factor: What the variance of each difference grows by for few questions.
        """
        gap = points[:, None] - points
        units = np.broadcast_to(np.asarray(units, dtype=np.float64), gap.shape)
        variance, own = variances_of_differences(covariance), np.diag(covariance)
        agreed = variance < np.maximum(NO_SPREAD**2, ROUNDING * (own[:, None] + own))
        se = np.where(agreed, _of_single_battles(gap, units), np.sqrt(variance * factor))
        unknown = (units <= ONE_UNIT) | np.isnan(variance) | np.eye(len(points), dtype=bool)
        return cls(se=np.where(unknown, np.nan, se), units=units)

    def agreed(self, gap: Floats) -> NDArray[np.bool_]:
        """Find pairs on which no question differed in points, so that resamples hardly vary."""
        return np.isclose(self.se, _of_single_battles(gap, self.units), rtol=1e-9)

    def among(self, codes: Ints) -> PairedErrors:
        """Select some systems, in their order."""
        chosen = np.ix_(codes, codes)
        return PairedErrors(se=self.se[chosen], units=self.units[chosen])

    @property
    def freedom(self) -> Floats:
        """Degrees of freedom of Student's t."""
        return freedom_of(self.units)

    def statistic(self, gap: Floats) -> Floats:
        """Student's t of differences in points, with their sign."""
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


def _of_single_battles(gap: Floats, units: Floats) -> Floats:
    """Return the standard errors of differences in points for as many single battles."""
    half = np.clip(gap / POINTS / 2, -FURTHEST, FURTHEST)
    return np.asarray(2 * POINTS * np.cosh(half) / np.sqrt(np.maximum(units, ONE_UNIT)))


def variances_of_differences(covariance: Floats) -> Floats:
    """(S, S) variances of the differences of what has this covariance."""
    variance = np.diag(covariance)
    return np.asarray(np.maximum(variance[:, None] + variance - 2 * covariance, 0.0))


def score_distance(gap: Floats) -> Floats:
    """Return a difference of log-odds on the scale on which its test grows with the result: 2 sinh(d / 2)."""
    return np.asarray(2 * np.sinh(np.clip(gap, -FURTHEST, FURTHEST) / 2))


def freedom_of(units: Floats | float) -> Floats:
    """Degrees of freedom of so many units, effective ones: one less, at least 1."""
    return np.clip(np.asarray(units, dtype=np.float64) - 1, 1.0, MOST_FREEDOM)


def t_quantile(freedom: Floats, level: float = LEVEL) -> Floats:
    """Return the number of standard errors that a two-sided interval reaches."""
    return np.asarray(stdtrit(np.minimum(freedom, MOST_FREEDOM), (1 + level) / 2))


ERROR = 0.05


def better(points: Floats, errors: PairedErrors) -> NDArray[np.bool_]:
    """(S, S) whether the row's system is surely better than the column's, for all pairs at once (Holm).

    Args:
        points: (S,) ratings.
        errors: Of their differences; a pair without an error is not told apart.
    """
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
