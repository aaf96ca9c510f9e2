"""Ranks that admit what the battles leave open: simultaneous intervals and tie groups.

Every pair of systems is tested; Holm's procedure keeps the chance of even one false separation at 5 %.
A system's best possible rank counts those that are surely better, its worst those that are surely worse.

Sources: Holm (1979); Mogstad, Romano, Shaikh & Wilhelm (2024) for ranks from tests of differences.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from leaderboard.ratings.counts import Floats, Ints

ERROR = 0.05


def better(points: Floats, covariance: Floats) -> NDArray[np.bool_]:
    """(S, S) whether the row's system is surely better than the column's, simultaneously."""
    size = len(points)
    variance = np.diag(covariance)
    spread = np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2 * covariance, 0.0))
    gap = points[:, None] - points[None, :]
    above, right = np.triu_indices(size, k=1)
    sure = np.zeros((size, size), dtype=bool)
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = 2 * ndtr(-np.abs(gap[above, right]) / spread[above, right])
    chance = np.where(spread[above, right] > 1e-9 * (1 + np.abs(points).max(initial=0.0)), chance, 1.0)
    kept = holm(chance)
    sure[above[kept], right[kept]] = gap[above[kept], right[kept]] > 0
    sure[right[kept], above[kept]] = gap[above[kept], right[kept]] < 0
    return sure


def holm(chances: Floats, error: float = ERROR) -> NDArray[np.bool_]:
    """Which hypotheses fall when at most `error` of all such families may see even one fall wrongly."""
    order = np.argsort(chances, kind="stable")
    allowed = error / np.arange(len(chances), 0, -1)
    failed = np.flatnonzero(chances[order] > allowed)
    rejected = np.zeros(len(chances), dtype=bool)
    rejected[order[: failed[0] if len(failed) else len(chances)]] = True
    return rejected


def wide_better(points: Floats, se: Floats) -> tuple[Ints, Ints]:
    """How many systems are surely better, and how many surely worse, from Bonferroni intervals alone.

    Used where systems are too many for every pair: two systems are apart where their simultaneous
    intervals do not meet.
    """
    reach = simultaneous_reach(len(points)) * se
    lower, upper = np.sort(points - reach), np.sort(points + reach)
    over = len(points) - np.searchsorted(lower, points + reach, side="right")
    under = np.searchsorted(upper, points - reach, side="left")
    return over, under


def simultaneous_reach(systems: int) -> float:
    """How many standard errors simultaneous Bonferroni intervals reach to either side."""
    return float(ndtri(1 - ERROR / 2 / max(systems, 1)))


def tie_groups(order: Ints, sure: NDArray[np.bool_]) -> Ints:
    """(S,) group of each system; a new one begins with the first that the group's best surely beats."""
    groups = np.zeros(len(order), dtype=np.int64)
    if not len(order):
        return groups
    best, number = order[0], 1
    for system in order:
        if sure[best, system]:
            best, number = system, number + 1
        groups[system] = number
    return groups


def competition_ranks(points: Floats) -> Ints:
    """1 for the best; ratings equal to a billionth of a point share a rank."""
    rounded = np.round(points, 9)
    return 1 + len(points) - np.searchsorted(np.sort(rounded), rounded, side="right")
