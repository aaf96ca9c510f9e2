"""Whether covariates settle battles so far that no fit exists, decided before anything is fitted.

A logistic fit has no finite maximum where some direction of its terms ranks no battle wrongly: every winner
at or above its loser, tied answers level. Ratings and coefficients then grow along it for ever. Ford's
condition finds this among systems alone; with covariates it is a linear program. It is solved on some
battles, to which those that its solution ranks wrongly are added until none is left.

Sources: Albert & Anderson (1984), "On the existence of maximum likelihood estimates in logistic regression
models", Biometrika 71(1); Konis (2007), "Linear programming algorithms for detecting separated data in
binary logistic regression models", University of Oxford (the linear program).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array

from leaderboard.battles import BattleTable
from leaderboard.ratings.counts import Floats

STEP = 512
"""Battles that the program starts from, and that it gets more at a time."""
TOLERANCE = 1e-7
"""How far a battle may be ranked wrongly by rounding, in units of a column."""


def separating(table: BattleTable, columns: Sequence[Floats]) -> tuple[int, ...]:
    """The places of covariates that leave a fit without a finite maximum; empty where one exists.

    Args:
        table: Battles of one group of systems, whose ratings without covariates exist.
        columns: (N,) values of each covariate, none of which follows from the systems and the others.

    Returns:
        A set of covariates of which each is needed: without any one of them the others separate nothing.
    """
    everything = tuple(range(len(columns)))
    battles = _Battles(table=table, columns=columns)
    if not battles.separated_by(everything):
        return ()
    needed = everything
    for place in everything:
        fewer = tuple(other for other in needed if other != place)
        if fewer and battles.separated_by(fewer):
            needed = fewer
    return needed


@dataclass(eq=False, kw_only=True)
class _Battles:
    """Battles and their covariates; `chosen` marks the battles that the linear program knows."""

    table: BattleTable
    columns: Sequence[Floats]
    chosen: NDArray[np.bool_] = field(init=False)
    won: NDArray[np.int8] = field(init=False)

    def __post_init__(self) -> None:
        size, share = len(self.table), self.table.share
        self.chosen = np.zeros(size, dtype=bool)
        self.chosen[np.linspace(0, size - 1, min(size, STEP)).astype(np.int64)] = True
        # 1 where a won all, -1 where b did, 0 where both have a share.
        self.won = (share >= 1).astype(np.int8) - (share <= 0).astype(np.int8)

    def separated_by(self, places: Sequence[int]) -> bool:
        return any(self._separated_along(places, first, sign) for first, sign in _directions(places))

    def _separated_along(self, places: Sequence[int], first: int, sign: float) -> bool:
        """Whether some direction with this coefficient, and no larger one, ranks no battle wrongly."""
        while True:
            point, wrong = self._best(places, first, sign)
            if wrong > TOLERANCE:
                return False
            wrongly = self._wrongly(places, point)
            wrongly[self.chosen] = 0.0
            if wrongly.max() <= TOLERANCE:
                return True
            worst = np.argpartition(wrongly, -min(STEP, len(wrongly)))[-STEP:]
            self.chosen[worst[wrongly[worst] > TOLERANCE]] = True

    def _best(self, places: Sequence[int], first: int, sign: float) -> tuple[Floats, float]:
        """The direction that ranks the chosen battles least wrongly, and by how much it does."""
        rows = np.flatnonzero(self.chosen)
        systems = len(self.table.systems)
        won = self.won[rows]
        # A tie is a constraint from either side.
        rows = np.concatenate([rows, rows[won == 0]])
        side = np.concatenate([np.where(won == 0, 1, won), np.full((won == 0).sum(), -1)]).astype(np.float64)
        count, size = len(rows), systems + len(places) + 1
        number = np.arange(count)
        values = [side, -side, *(side * self.columns[place][rows] for place in places), np.ones(count)]
        at = [self.table.a[rows], self.table.b[rows]]
        at += [np.full(count, systems + place) for place in range(len(places) + 1)]
        upper = coo_array(
            (-np.concatenate(values), (np.tile(number, len(values)), np.concatenate(at))), shape=(count, size)
        )
        bounds: list[tuple[float | None, float | None]] = [(None, None)] * systems
        bounds[0] = (0.0, 0.0)
        bounds += [(sign, sign) if place == first else (-1.0, 1.0) for place in places]
        bounds.append((0.0, None))
        cost = np.zeros(size)
        cost[-1] = 1.0
        found = linprog(  # type: ignore[call-overload]  # its stubs know no sparse matrix
            cost,
            A_ub=upper.tocsr(),
            b_ub=np.zeros(count),
            bounds=bounds,
            method="highs",
            options={"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
        )
        if found.x is None:
            # The program always has a solution; without one nothing was shown, and the fit certifies itself.
            return np.zeros(size - 1), np.inf
        return np.asarray(found.x[:-1]), float(found.x[-1])

    def _wrongly(self, places: Sequence[int], point: Floats) -> Floats:
        """(N,) by how much a direction ranks each battle wrongly."""
        gap = point[self.table.a] - point[self.table.b]
        for number, place in enumerate(places, len(self.table.systems)):
            gap += point[number] * self.columns[place]
        return np.where(self.won == 0, np.abs(gap), -self.won * gap)


def _directions(places: Sequence[int]) -> Iterator[tuple[int, float]]:
    """Every covariate as the one with the largest coefficient, either way."""
    for place in places:
        yield place, 1.0
        yield place, -1.0
