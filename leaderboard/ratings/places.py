"""Order, ranks, rank intervals and tie groups of a table, systems without a rating included."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leaderboard.ratings import ranks
from leaderboard.ratings.counts import Floats, Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class Places:
    """(S,) places within each component, and the order of all systems, best first."""

    order: Ints
    rank: Ints
    lower: Ints
    upper: Ints
    group: Ints


def place_systems(
    points: Floats, se: Floats, ends: tuple[Floats, Floats], component: Ints, covariance: Floats | None
) -> Places:
    """Order the systems of each component and say what the battles leave open.

    Args:
        points: (S,) ratings, NaN where there is none.
        se: (S,) standard errors, NaN where there are none.
        ends: (S,) lower and upper ends; of a system without a rating at most one is a number.
        component: (S,) groups, 0 for the main one.
        covariance: (S, S) of the ratings; None to work from standard errors alone.
    """
    size = len(points)
    places = Places(
        order=_order(points, ends, component),
        rank=np.zeros(size, dtype=np.int64),
        lower=np.ones(size, dtype=np.int64),
        upper=np.zeros(size, dtype=np.int64),
        group=np.ones(size, dtype=np.int64),
    )
    edges = np.searchsorted(component[places.order], np.arange(component.max(initial=0) + 2))
    for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        if last > first:
            _place_component(places, places.order[first:last], points, se, ends, covariance)
    return places


def _order(points: Floats, ends: tuple[Floats, Floats], component: Ints) -> Ints:
    """Best first: bounded from below alone, rated, bounded from above alone."""
    lower, upper = ends
    rated, from_below, from_above = ~np.isnan(points), ~np.isnan(lower), ~np.isnan(upper)
    level = np.select([rated, from_below, from_above], [1, 0, 2], 3)
    value = np.select([rated, from_below, from_above], [points, lower, upper], 0.0)
    return np.asarray(np.lexsort((np.arange(len(points)), -value, level, component)))


def _place_component(
    places: Places,
    order: Ints,
    points: Floats,
    se: Floats,
    ends: tuple[Floats, Floats],
    covariance: Floats | None,
) -> None:
    rated = ~np.isnan(points[order])
    rank = np.arange(1, len(order) + 1)
    if rated.any():
        rank[rated] = int(np.argmax(rated)) + ranks.competition_ranks(points[order[rated]])
    places.rank[order] = rank
    places.upper[order] = len(order)
    if covariance is None:
        _place_many(places, order[rated & ~np.isnan(se[order])], points, se)
        return
    sure = _sure(order, points, se, ends, covariance)
    places.lower[order] = 1 + sure.sum(axis=0)
    places.upper[order] = len(order) - sure.sum(axis=1)
    places.group[order] = ranks.tie_groups(np.arange(len(order)), sure)


def _sure(
    order: Ints, points: Floats, se: Floats, ends: tuple[Floats, Floats], covariance: Floats
) -> NDArray[np.bool_]:
    """(M, M) whether the row's system is surely better: by Holm, and by one-sided bounds."""
    lower, upper = ends[0][order], ends[1][order]
    tested = ~np.isnan(points[order]) & ~np.isnan(se[order])
    sure = np.zeros((len(order), len(order)), dtype=bool)
    inner = np.flatnonzero(tested)
    codes = order[inner]
    sure[np.ix_(inner, inner)] = ranks.better(points[codes], covariance[np.ix_(codes, codes)])
    single = np.isnan(points[order])
    bounded = single[:, None] != single[None, :]
    with np.errstate(invalid="ignore"):
        sure |= bounded & (lower[:, None] > upper[None, :])
    return sure


def _place_many(places: Places, tested: Ints, points: Floats, se: Floats) -> None:
    over, under = ranks.wide_better(points[tested], se[tested])
    places.lower[tested] = 1 + over
    places.upper[tested] -= under
    reach = ranks.simultaneous_reach(len(tested)) * se[tested]
    lowest, number = np.inf, 0
    for code, low, high in zip(
        tested.tolist(), (points[tested] - reach).tolist(), (points[tested] + reach).tolist(), strict=True
    ):
        if number == 0 or high < lowest:
            lowest, number = low, number + 1
        places.group[code] = number
