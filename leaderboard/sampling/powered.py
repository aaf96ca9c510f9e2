"""Prediction-powered battles: a cheap judge on all, an expensive one on a sample, unbiased.

Every planned battle gets the score

    z = g + (judged? (y − g) / π : 0)

with g the cheap judge's share of the win, recalibrated, y the expensive judge's, and π the battle's
chance of having been judged. E[z] = y whatever g is worth, so sums of z estimate sums of y without
bias: mean scores, and Bradley-Terry ratings, whose equations are sums of scores. A good g makes z vary
little. z may leave 0–1; only its sums mean something. Question-clustered intervals of z are right
intervals of the estimate, since g is fitted on other questions' verdicts.

Sources: Angelopoulos et al. (2023) and (2024, "PPI++"); Zrnic & Candès (2024), "Active statistical
inference"; Robins, Rotnitzky & Zhao (1994) for the estimator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from data.errors import InputError, StatisticsError
from leaderboard.battles import BattleTable
from leaderboard.sampling.folds import folds_of

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

RIDGE = 1.0
LEAST_CHANCE = 1e-3
LEAST_JUDGED = 10


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Draw:
    """One round of asking the expensive judge.

    Attributes:
        probability: (N,) chance of each planned battle to be judged in this round, given all rounds
            before; 1 for battles that were judged before.
        judged: (N,) whether its verdict is known after this round.
    """

    probability: Floats
    judged: Flags


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Powered:
    """The planned battles with unbiased scores.

    Attributes:
        table: To be rated, and its mean scores taken, as any table with scores; its `winner` column is
            that of the cheap judge and must not be counted.
        guess: (N,) the recalibrated cheap share g of each battle.
        judged: How many verdicts of the expensive judge it rests on.
        gain: How many times as many verdicts the plain mean score would have needed, estimated.
    """

    table: BattleTable
    guess: Floats
    judged: int
    gain: float


def power(
    planned: BattleTable,
    verdicts: Floats,
    draws: Sequence[Draw],
    *,
    worth: Floats | None = None,
    folds: int = 5,
    seed: int = 0,
) -> Powered:
    """Score every planned battle from cheap shares and a sample of expensive verdicts.

    Args:
        planned: All battles with the cheap judge's shares as `score` (its winners where it has none).
        verdicts: (N,) the expensive judge's share of the win for side a; NaN where not judged.
        draws: The rounds of judging in order, one for a simple sample. Several are averaged, the
            surer weighing more.
        worth: (N,) how much each battle moves what is asked about, as `NextBattles.worth`, by which
            rounds are called sure; None for every battle alike.
        folds: Groups of questions; each group's g is fitted on the others.
        seed: Of the division into groups.

    Raises:
        InputError: Lengths differ, a chance is not in 0–1, or a judged battle has no verdict.
        StatisticsError: Fewer than ten verdicts.
    """
    _check(planned, verdicts, draws)
    sampled = draws[-1].judged
    if sampled.sum() < LEAST_JUDGED:
        message = f"{int(sampled.sum())} verdicts cannot recalibrate a cheap judge."
        raise StatisticsError(message, advice=f"Judge at least {LEAST_JUDGED} battles.")
    group = folds_of(planned.question, folds, seed)
    guess = np.empty(len(planned))
    for fold in range(folds):
        guess[group == fold] = _recalibrated(planned, verdicts, draws, sampled & (group != fold))[
            group == fold
        ]
    score = _scores(guess, verdicts, draws, np.ones(len(planned)) if worth is None else worth)
    return Powered(
        table=replace(planned, score=score),
        guess=guess,
        judged=int(sampled.sum()),
        gain=_gain(planned, score, verdicts, sampled),
    )


def _check(planned: BattleTable, verdicts: Floats, draws: Sequence[Draw]) -> None:
    if not draws:
        raise InputError("No battle was drawn for the expensive judge.", advice="Give at least one draw.")
    for draw in draws:
        if not len(planned) == len(verdicts) == len(draw.probability) == len(draw.judged):
            message = f"{len(planned)} battles, {len(verdicts)} verdicts and {len(draw.judged)} draws differ."
            raise InputError(message, advice="Give one of each for every planned battle.")
        if not ((draw.probability >= 0) & (draw.probability <= 1)).all():
            message = "A chance of being judged is not between 0 and 1."
            raise InputError(message, advice="Give the chances that the draw reported.")
        if (draw.judged & (draw.probability <= 0)).any():
            message = "A battle was judged that had no chance of it."
            raise InputError(message, advice="Give the chances that the draw reported.")
        if not np.isfinite(verdicts[draw.judged]).all():
            message = "A battle that was drawn has no verdict."
            raise InputError(message, advice="Leave out battles that could not be read from plan and draw.")


def _recalibrated(planned: BattleTable, verdicts: Floats, draws: Sequence[Draw], fit: Flags) -> Floats:
    """Ridge regression of verdicts on the cheap share and on who meets whom.

    Without an intercept, and every column changes sign with the sides: naming a battle the other way
    round gives the mirrored guess.
    """
    rows = np.flatnonzero(fit)
    systems, cheap = len(planned.systems), planned.share - 0.5
    if not len(rows):
        return planned.share
    # Rarely drawn battles stand for many others.
    weight = 1.0 / np.maximum(draws[-1].probability[rows], LEAST_CHANCE)
    ones, place = np.ones(len(rows)), np.arange(len(rows))
    cells = np.concatenate([cheap[rows], ones, -ones])
    columns = np.concatenate([np.zeros_like(place), 1 + planned.a[rows], 1 + planned.b[rows]])
    design = csr_array((cells, (np.tile(place, 3), columns)), shape=(len(rows), 1 + systems))
    penalty = np.diag([1e-6, *[RIDGE * float(weight.mean())] * systems])
    weighted = (design * weight[:, None]).T
    slopes = np.linalg.solve((weighted @ design).toarray() + penalty, weighted @ (verdicts[rows] - 0.5))
    strength = slopes[1:]
    guess = 0.5 + slopes[0] * cheap + strength[planned.a] - strength[planned.b]
    return np.asarray(np.clip(guess, 0.0, 1.0), dtype=np.float64)


def _scores(guess: Floats, verdicts: Floats, draws: Sequence[Draw], worth: Floats) -> Floats:
    """The mean of each round's scores, weighed by how little each is expected to vary.

    What is expected follows from chances and guesses alone, so the weights favour no verdict.
    """
    spread = np.maximum(guess * (1 - guess), LEAST_CHANCE) * worth / worth.mean()
    total, weights = np.zeros(len(guess)), 0.0
    for draw in draws:
        gap = np.where(draw.judged, np.where(draw.judged, verdicts, 0.0) - guess, 0.0)
        scores = guess + gap / np.where(draw.judged, draw.probability, 1.0)
        chance = np.maximum(draw.probability, LEAST_CHANCE)
        weight = 1.0 / max(float((spread * (1 / chance - 1)).sum()), LEAST_CHANCE)
        total, weights = total + weight * scores, weights + weight
    return total / weights


def _gain(planned: BattleTable, score: Floats, verdicts: Floats, sampled: Flags) -> float:
    """Summed variances of plain means of the verdicts over those of the scores, pair by pair of systems."""
    cells = planned.a.astype(np.int64) * len(planned.systems) + planned.b
    plain = _variances(cells[sampled], verdicts[sampled])
    ours = _variances(cells, score)
    both = [cell for cell, variance in plain.items() if variance > 0 and cell in ours]
    below = sum(ours[cell] for cell in both)
    return sum(plain[cell] for cell in both) / below if below > 0 else 1.0


def _variances(cells: NDArray[np.int64], values: Floats) -> dict[int, float]:
    """Variance of each cell's mean, of cells with two values or more."""
    present, codes, counts = np.unique(cells, return_inverse=True, return_counts=True)
    means = np.bincount(codes, values) / counts
    squares = np.bincount(codes, (values - means[codes]) ** 2)
    return {
        int(cell): float(square / (count - 1) / count)
        for cell, square, count in zip(present, squares, counts, strict=True)
        if count > 1
    }
