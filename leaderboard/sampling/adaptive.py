"""The next battles to judge: those that shrink the intervals asked about, with their chances kept.

A battle of a against b moves the difference of systems i and j, in the Bradley-Terry model, by
cᵀH⁻¹x per unit of surprise, with x = e_a − e_b, c = e_i − e_j and H the information of the planned
battles. It is drawn with a chance in proportion to √(Σ_c (cᵀH⁻¹x)² · v), v being the variance that the
cheap judge leaves of its verdict: the choice that minimises the summed variances of the differences asked
for at a given number of verdicts. No chance is zero, so estimates stay unbiased.

Sources: Zrnic & Candès (2024), section 3 (chances by uncertainty); Neyman (1934) for the optimum;
Atkinson & Donev (1992), chapter 10, for c-optimal designs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from data.errors import InputError, NotFoundError
from leaderboard.battles import BattleTable
from leaderboard.sampling.chances import chances_of, systematic

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

LEAST_VARIANCE = 0.02


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class NextBattles:
    """What to judge next.

    Attributes:
        chosen: Positions of the battles to judge, ascending; none was judged before.
        probability: (N,) each battle's chance in this round; 1 for those judged before. Give it to
            `power` with the verdicts.
        worth: (N,) squared move of the differences asked about by a battle's surprise, summed over
            them. Give it to `power` too.
    """

    chosen: Codes
    probability: Floats
    worth: Floats


def neighbours(ranking: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Systems next to each other in a ranking: the differences that decide it."""
    return tuple(pairwise(ranking))


def next_battles(
    planned: BattleTable,
    guess: Floats,
    judged: NDArray[np.bool_],
    budget: int,
    *,
    targets: Sequence[tuple[str, str]] = (),
    seed: int = 0,
) -> NextBattles:
    """Draw the next battles to judge.

    Args:
        planned: All battles of the round.
        guess: (N,) expected share of side a, from the cheap judge or `Powered.guess`.
        judged: (N,) whether the verdict is known already.
        budget: Verdicts to buy, at most the battles that are left.
        targets: Pairs of systems whose difference is asked about; none for every pair alike.
        seed: Of the draw.

    Raises:
        InputError: The budget is not positive, or lengths differ.
        NotFoundError: A target names a system that has no battle.
    """
    if budget < 1 or not len(planned) == len(guess) == len(judged):
        message = f"A budget of {budget} for {len(planned)} battles ({len(guess)} guesses) draws nothing."
        raise InputError(message, advice="Ask for at least one battle, with a guess for each.")
    left = np.flatnonzero(~judged)
    spread = np.maximum(guess * (1 - guess), LEAST_VARIANCE)
    worth = _leverage(planned, spread, _contrasts(planned, targets))
    chances = chances_of(np.sqrt(spread * worth)[left], min(budget, len(left)))
    probability = np.ones(len(planned))
    probability[left] = chances
    return NextBattles(chosen=left[systematic(chances, seed)], probability=probability, worth=worth)


def _contrasts(planned: BattleTable, targets: Sequence[tuple[str, str]]) -> Floats:
    """(targets, S) differences asked about; all pairs together are what every system is to the mean."""
    size = len(planned.systems)
    if not targets:
        centred: Floats = np.eye(size) - 1 / size
        return centred
    codes = {name: code for code, name in enumerate(planned.systems)}
    rows = np.zeros((len(targets), size))
    for row, (first, second) in enumerate(targets):
        for name, sign in ((first, 1.0), (second, -1.0)):
            if name not in codes:
                message = f"No planned battle names the system {name}."
                raise NotFoundError(message, advice="Ask about systems of the round.")
            rows[row, codes[name]] += sign
    return rows


def _leverage(planned: BattleTable, spread: Floats, contrasts: Floats) -> Floats:
    """(N,) how much a battle's surprise moves the differences, squared and summed."""
    size = len(planned.systems)
    cells = planned.a.astype(np.int64) * size + planned.b
    met = np.bincount(cells, spread, size**2).reshape(size, size)
    met = met + met.T
    information = np.diag(met.sum(axis=1)) - met
    reach = contrasts @ np.linalg.pinv(information, hermitian=True)
    moves: Floats = ((reach[:, planned.a] - reach[:, planned.b]) ** 2).sum(axis=0)
    return moves
