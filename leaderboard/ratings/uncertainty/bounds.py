"""From draws to intervals, and one-sided bounds where no rating exists."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtr, ndtri

from data.intervals import LEVEL, bca_level
from leaderboard.ratings.counts import Floats, Ints, PairCounts
from leaderboard.ratings.uncertainty.paired_errors import freedom_of, t_quantile

TAIL = (1 - LEVEL) / 2
# One-sided bounds leave 5 % on their one side.
ONE_SIDED = 1 - LEVEL
BISECTIONS = 80
LEAST_UNITS = 2.0


def tail_of(units: Floats | float | None) -> Floats:
    """Return the share of draws beyond either end of an interval: 2.5 %, less with few questions.

    Draws spread by the factor √((n−1)/n) too little and know nothing of t; the expanded tail makes up for
    both.

    Args:
        units: Effective questions behind each interval; None where single battles are resampled.

    Source: Hesterberg (2015), "What teachers should know about the bootstrap", section 5.3.
    """
    if units is None:
        return np.asarray(TAIL)
    behind = np.maximum(np.asarray(units, dtype=np.float64), LEAST_UNITS)
    return np.asarray(ndtr(-np.sqrt(behind / (behind - 1)) * t_quantile(freedom_of(behind))))


def percentile(draws: Floats, units: Floats | float | None = None) -> tuple[Floats, Floats]:
    """(S,) lower and upper ends from (B, S) or (B,) draws over a number of independent questions."""
    tail = tail_of(units)
    ranked = np.sort(draws.reshape(len(draws), -1), axis=0)
    lower, upper = (_at(ranked, np.broadcast_to(share, ranked.shape[1])) for share in (tail, 1 - tail))
    return lower.reshape(draws.shape[1:]), upper.reshape(draws.shape[1:])


def _at(ranked: Floats, share: Floats) -> Floats:
    """(S,) quantiles of (B, S) sorted draws at a share of each column."""
    place = np.clip(share, 0, 1) * (len(ranked) - 1)
    first = np.minimum(place.astype(np.int64), len(ranked) - 2)
    column = np.arange(ranked.shape[1])
    low, high = ranked[first, column], ranked[first + 1, column]
    return np.asarray(low + (place - first) * (high - low))


def bca(
    draws: Floats, point: Floats, acceleration: Floats, units: Floats | float | None = None
) -> tuple[Floats, Floats]:
    """(S,) bias-corrected and accelerated ends.

    With as many draws above as below the point and no acceleration these are the percentile ends.

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
    """(len(outside),) log-odds bounds of systems that won, or lost, every battle with rated ones.

    The bound is the rating at which so clean a record has a chance of 5 %; it is exact for the model, given
    the others' ratings.

    Args:
        pairs: All pairs.
        outside: Codes of systems without a rating.
        rated: (S,) log-odds ratings, NaN where there is none.
        effective: (S,) independent battles a battle counts for: below 1 where several are on one question,
            anything where weights are of any scale.
        wins: Whether they won all (the bound is a lower one) or lost all (an upper one).

    Returns:
        Bounds, NaN for systems that met no rated one.
    """
    place = np.full(pairs.systems, -1, dtype=np.int64)
    place[outside] = np.arange(len(outside))
    ends = np.concatenate([pairs.low, pairs.high])
    others = np.concatenate([pairs.high, pairs.low])
    battles = np.tile(pairs.totals, 2) * effective[ends]
    used = (place[ends] >= 0) & ~np.isnan(rated[others])
    system, opponent, battles = place[ends[used]], rated[others[used]], battles[used]
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
