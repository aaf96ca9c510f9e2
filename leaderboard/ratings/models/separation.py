"""Separation by covariates: finds, before anything is fitted, that no fit exists.

A logistic fit has no finite maximum where some direction of its terms ranks no battle wrongly: every winner
at or above its loser, tied answers level. This is a linear program, solved on some battles, to which those
that its solution ranks wrongly are added until none is left.

Sources: Albert & Anderson (1984), Biometrika 71(1); Konis (2007), "Linear programming algorithms for
detecting separated data in binary logistic regression models", University of Oxford (the linear program).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array, diags_array, hstack, vstack

from leaderboard.battles import BattleTable
from leaderboard.ratings.counts import Floats

STEP = 512
"""Battles that the program starts from, and that it gets more at a time."""
TOLERANCE = 1e-7
"""Tolerance for a battle that rounding ranks wrongly, in units of a column."""
PRECISE = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}


def terms_of(table: BattleTable, columns: Sequence[Floats]) -> csr_array:
    """(N, S + K) terms of a fit: 1 and −1 for the two systems of each battle, then the covariates."""
    count, systems = len(table), len(table.systems)
    values = np.concatenate([np.ones(count), -np.ones(count), *columns])
    places = [table.a, table.b, *(np.full(count, systems + place) for place in range(len(columns)))]
    rows = np.tile(np.arange(count), len(places))
    return coo_array((values, (rows, np.concatenate(places))), (count, systems + len(columns))).tocsr()


def separating(table: BattleTable, columns: Sequence[Floats]) -> tuple[int, ...]:
    """Return the places of covariates that leave a fit without a finite maximum; empty where one exists.

    Each of them is needed: without any one the others separate nothing. The battles are of one group of
    systems, whose ratings without covariates exist, and no column follows from the systems and the others.
    """
    tied = (table.share > 0) & (table.share < 1)
    towards = diags_array(np.where(table.share <= 0, -1.0, 1.0)) @ terms_of(table, columns)
    chosen = np.zeros(len(table), dtype=bool)
    chosen[np.linspace(0, len(table) - 1, min(len(table), STEP)).astype(np.int64)] = True
    battles = _Battles(terms=towards.tocsr(), tied=tied, systems=len(table.systems), chosen=chosen)
    needed = list(range(len(columns)))
    if not battles.separated_by(needed):
        return ()
    for place in range(len(columns)):
        fewer = [other for other in needed if other != place]
        if fewer and battles.separated_by(fewer):
            needed = fewer
    return tuple(needed)


@dataclass(eq=False, kw_only=True)
class _Battles:
    """Battles by their terms towards the winner; `chosen` marks those that the linear program knows."""

    terms: csr_array
    tied: NDArray[np.bool_]
    systems: int
    chosen: NDArray[np.bool_]

    def separated_by(self, places: Sequence[int]) -> bool:
        return any(self._separated_along(places, first, sign) for first in places for sign in (1.0, -1.0))

    def _separated_along(self, places: Sequence[int], first: int, sign: float) -> bool:
        """Return whether some direction with this coefficient, and no larger one, ranks no battle wrongly."""
        bounds: list[tuple[float | None, float | None]] = [(0.0, 0.0)] * (self.terms.shape[1] + 1)
        bounds[1 : self.systems] = [(None, None)] * (self.systems - 1)
        for place in places:
            bounds[self.systems + place] = (sign, sign) if place == first else (-1.0, 1.0)
        bounds[-1] = (0.0, None)
        cost = np.zeros(len(bounds))
        cost[-1] = 1.0
        while True:
            # A tie is a constraint from either side.
            known = vstack([self.terms[self.chosen], -self.terms[self.chosen & self.tied]])
            slack = csr_array(np.ones((known.shape[0], 1)))
            found = linprog(  # type: ignore[call-overload]  # its stubs know no sparse matrix
                cost,
                A_ub=-hstack([known, slack]).tocsr(),
                b_ub=np.zeros(known.shape[0]),
                bounds=bounds,
                method="highs",
                options=PRECISE,
            )
            # The program always has a solution; without one nothing is shown, and the fit certifies itself.
            if found.x is None or found.x[-1] > TOLERANCE:
                return False
            gap = self.terms @ found.x[:-1]
            wrongly = np.where(self.tied, np.abs(gap), -gap)
            wrongly[self.chosen] = 0.0
            if wrongly.max() <= TOLERANCE:
                return True
            worst = np.argpartition(wrongly, -min(STEP, len(wrongly)))[-STEP:]
            self.chosen[worst[wrongly[worst] > TOLERANCE]] = True
