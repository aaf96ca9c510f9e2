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

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from data.errors import InputError, StatisticsError
from data.stats import LEVEL, Interval
from leaderboard.battles import BattleTable
from leaderboard.sampling.recalibration import Recalibrated, recalibrated

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

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
        gain: How many times as many verdicts a plain sample would have needed for the same width, estimated;
            1 where nothing was left to chance.
        variance: (N,) expected squared error of the guess. Give it to `next_battles`.
        gain_interval: 95 % interval of the gain; questions are its units.
    """

    table: BattleTable
    guess: Floats
    judged: int
    gain: float
    variance: Floats
    gain_interval: Interval


def power(
    planned: BattleTable,
    verdicts: Floats,
    draws: Sequence[Draw],
    *,
    worth: Floats | None = None,
    others: Sequence[Floats] = (),
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
            rounds are called sure and the gain is taken; None for every battle alike.
        others: Shares of further cheap judges, (N,) each, NaN where one has none; all are combined.
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
    expected = recalibrated(planned, verdicts, sampled, others=others, folds=folds, seed=seed)
    weight = np.ones(len(planned)) if worth is None else worth
    score = _scores(expected, verdicts, draws, weight)
    gain, interval = _gain(planned, expected.guess, verdicts, draws, weight)
    return Powered(
        table=replace(planned, score=score),
        guess=expected.guess,
        variance=expected.variance,
        judged=int(sampled.sum()),
        gain=gain,
        gain_interval=interval,
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


def _scores(expected: Recalibrated, verdicts: Floats, draws: Sequence[Draw], worth: Floats) -> Floats:
    """The mean of each round's scores, weighed by how little each is expected to vary.

    What is expected follows from chances and guesses alone, so the weights favour no verdict.
    """
    guess, spread = expected.guess, expected.variance * worth / worth.mean()
    total, weights = np.zeros(len(guess)), 0.0
    for draw in draws:
        gap = np.where(draw.judged, np.where(draw.judged, verdicts, 0.0) - guess, 0.0)
        scores = guess + gap / np.where(draw.judged, draw.probability, 1.0)
        chance = np.maximum(draw.probability, LEAST_CHANCE)
        weight = 1.0 / max(float((spread * (1 / chance - 1)).sum()), LEAST_CHANCE)
        total, weights = total + weight * scores, weights + weight
    return total / weights


def _gain(
    planned: BattleTable, guess: Floats, verdicts: Floats, draws: Sequence[Draw], worth: Floats
) -> tuple[float, Interval]:
    """A plain sample's variance over ours, of what sampling adds, with a linearised interval of its log.

    Both are sums over questions of what was judged, weighed by one over its chance; what judging every
    battle would still leave open is the same for both and cancels at equal width.
    """
    judged = draws[-1].judged
    chance = np.where(judged, _pooled_chance(draws), 1.0)
    known = np.where(judged, verdicts, 0.0)
    usual = usual_shares(planned, guess)
    plain = np.where(judged, worth * (known - usual) ** 2 / chance, 0.0) * (len(judged) / judged.sum() - 1)
    ours = np.where(judged, worth * (known - guess) ** 2 * (1 - chance) / chance**2, 0.0)
    above, below = float(plain.sum()), float(ours.sum())
    if above <= 0 or below <= 0:
        return 1.0, Interval(1.0, 1.0)
    by_question = np.bincount(planned.question, plain / above - ours / below)
    half = float(ndtri((1 + LEVEL) / 2)) * float(np.sqrt(np.square(by_question).sum()))
    gain = above / below
    return gain, Interval(gain * math.exp(-half), gain * math.exp(half))


def _pooled_chance(draws: Sequence[Draw]) -> Floats:
    """(N,) chance of each battle to be judged in one of the rounds that could still draw it."""
    before = np.zeros(len(draws[0].judged), dtype=bool)
    missed = np.ones(len(before))
    for draw in draws:
        missed = missed * np.where(before, 1.0, 1.0 - draw.probability)
        before = draw.judged
    return np.maximum(1.0 - missed, LEAST_CHANCE)


def usual_shares(planned: BattleTable, guess: Floats) -> Floats:
    """(N,) what side a is expected to get on average whenever these two systems meet."""
    systems = len(planned.systems)
    low, high = np.minimum(planned.a, planned.b), np.maximum(planned.a, planned.b)
    cells = low.astype(np.int64) * systems + high
    towards = np.where(planned.a == low, guess, 1 - guess)
    counts = np.maximum(np.bincount(cells, minlength=systems**2), 1)
    mean = (np.bincount(cells, towards, systems**2) / counts)[cells]
    return np.where(planned.a == low, mean, 1 - mean)
