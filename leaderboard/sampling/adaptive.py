"""The next battles to judge: those that shrink the intervals asked about, with their chances kept.

A battle of a against b moves the difference of systems i and j, in the Bradley-Terry model, by
cᵀH⁻¹x per unit of surprise, with x = e_a − e_b, c = e_i − e_j and H the information of the planned
battles. It is drawn with a chance in proportion to √(v · Σ_c λ_c (cᵀH⁻¹x)²), v being the squared error
that the guess of its verdict is expected to have. For one difference, λ = 1 minimises its variance at a
given number of verdicts; for several, λ minimises the greatest. No chance is zero, so estimates stay
unbiased.

Sources: Zrnic & Candès (2024), section 3 (chances by uncertainty); Neyman (1934) for the optimum;
Atkinson & Donev (1992), chapter 10, for c-optimal designs; Silvey, Titterington & Torsney (1978) for the
multiplicative steps to λ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from data.errors import InputError, NotFoundError
from leaderboard.battles import BattleTable
from leaderboard.sampling.chances import systematic, topped_up
from leaderboard.sampling.powered import usual_shares

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

LEAST_VARIANCE = 0.02
BALANCING_STEPS = 60


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class NextBattles:
    """What to judge next.

    Attributes:
        chosen: Positions of the battles to judge, ascending; none was judged before.
        sampling_prob: (N,) probability of each battle to be judged by the end of this wave, whether it was or
            not: what `power` takes, since all waves together count as one draw.
    """

    chosen: Codes
    sampling_prob: Floats


@dataclass(frozen=True, slots=True)
class Contrast:
    """A difference of two systems that is asked about.

    Attributes:
        first: A system.
        second: Another.
        domain: The domain whose battles alone are rated; None for all battles.
    """

    first: str
    second: str
    domain: str | None = None


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Design:
    """What each battle moves.

    Attributes:
        cell: (N,) code of who meets whom in which part of the round.
        moves: (C, cells) squared move of each difference by a surprise of size 1, in squared log-odds.
    """

    cell: Codes
    moves: Floats

    def balance(self, variance: Floats) -> Floats:
        """(C,) how much each difference counts so that the greatest variance is as small as may be."""
        spread = np.bincount(self.cell, np.sqrt(variance), self.moves.shape[1])
        counts = np.full(len(self.moves), 1.0 / len(self.moves))
        for _ in range(BALANCING_STEPS if len(counts) > 1 else 0):
            worth = np.sqrt(np.maximum(counts @ self.moves, 1e-12 * self.moves.max()))
            reached = self.moves @ (spread / worth)
            counts = counts * reached / (counts @ reached)
        return np.asarray(counts)

    def worth(self, counts: Floats) -> Floats:
        """(N,) squared moves, summed over differences by how much each counts."""
        return np.asarray((counts @ self.moves)[self.cell])

    def variances(self, per_battle: Floats) -> Floats:
        """(C,) variance of each difference where each battle's score varies by so much, squared log-odds."""
        return np.asarray(self.moves @ np.bincount(self.cell, per_battle, self.moves.shape[1]))


def neighbours(ranking: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Systems next to each other in a ranking: the differences that decide it."""
    return tuple(pairwise(ranking))


def next_battles(
    planned: BattleTable,
    guess: Floats,
    judged: NDArray[np.bool_],
    budget: int,
    *,
    contrasts: Sequence[Contrast],
    variance: Floats,
    before: Floats,
    seed: int,
) -> NextBattles:
    """Draw the next battles to judge.

    Args:
        planned: All battles of the round.
        guess: (N,) expected share of side a, from the proxy judge or `Powered.guess`.
        judged: (N,) whether the verdict is known already.
        budget: Verdicts to buy, at most the battles that are left.
        contrasts: The differences asked about; none for every pair alike.
        variance: (N,) expected squared error of the guess, `Powered.variance`.
        before: (N,) `NextBattles.sampling_prob` of the wave before; 0 at first.
        seed: Of the draw.

    Raises:
        InputError: The budget is not positive, or lengths differ.
        NotFoundError: A difference names a system that has no battle.
    """
    if budget < 1 or not len(planned) == len(guess) == len(judged):
        message = f"A budget of {budget} for {len(planned)} battles ({len(guess)} guesses) draws nothing."
        raise InputError(message, advice="Ask for at least one battle, with a guess for each.")
    design = design_of(planned, guess, contrasts)
    worth = design.worth(design.balance(variance) if contrasts else np.ones(len(design.moves)))
    return drawn_by(np.sqrt(variance * worth), judged, before, budget, seed)


def drawn_by(worth: Floats, judged: NDArray[np.bool_], before: Floats, budget: int, seed: int) -> NextBattles:
    """Draw battles that are not judged yet in proportion to worth, in all waves together."""
    anew = topped_up(worth, before, ~judged, budget)
    left = np.flatnonzero(~judged)
    return NextBattles(chosen=left[systematic(anew[left], seed)], sampling_prob=1 - (1 - before) * (1 - anew))


def design_of(planned: BattleTable, guess: Floats, contrasts: Sequence[Contrast]) -> Design:
    """How battles move the differences asked about; without any, each system's to the mean of all.

    Raises:
        NotFoundError: A difference names a system or a domain that has no battle.
    """
    size = len(planned.systems)
    apart = any(contrast.domain is not None for contrast in contrasts)
    blocks = len(planned.domains) if apart else 1
    block = planned.domain.astype(np.int64) if apart else np.zeros(len(planned), dtype=np.int64)
    cell = (block * size + planned.a) * size + planned.b
    usual = usual_shares(planned, guess)
    information = np.maximum(usual * (1 - usual), LEAST_VARIANCE)
    met = np.bincount(cell, information, blocks * size**2).reshape(blocks, size, size)
    if not contrasts:
        return Design(cell=cell, moves=_moves(np.eye(size) - 1 / size, met[0]))
    moves = np.zeros((len(contrasts), blocks, size**2))
    whole = met.sum(axis=0)
    for row, contrast in enumerate(contrasts):
        towards = _towards(planned, contrast)[None, :]
        if contrast.domain is None:
            moves[row] = _moves(towards, whole)
        else:
            place = _place(contrast.domain, planned.domains)
            moves[row, place] = _moves(towards, met[place])
    return Design(cell=cell, moves=moves.reshape(len(contrasts), -1))


def _towards(planned: BattleTable, contrast: Contrast) -> Floats:
    towards = np.zeros(len(planned.systems))
    towards[_place(contrast.first, planned.systems)] += 1.0
    towards[_place(contrast.second, planned.systems)] -= 1.0
    return towards


def _place(name: str, names: Sequence[str]) -> int:
    if name not in names:
        message = f"No planned battle names {name}."
        raise NotFoundError(message, advice="Ask about systems and domains of the round.")
    return names.index(name)


def _moves(contrasts: Floats, met: Floats) -> Floats:
    """(C, S²) squared moves of the differences by a battle of each ordered pair."""
    both = met + met.T
    information = np.diag(both.sum(axis=1)) - both
    reach = contrasts @ np.linalg.pinv(information, hermitian=True)
    return np.asarray(((reach[:, :, None] - reach[:, None, :]) ** 2).reshape(len(contrasts), -1))
