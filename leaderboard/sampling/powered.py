"""Prediction-powered battles: a proxy judge on all, an expensive one on a sample, unbiased.

Every planned battle gets the score

    z = g + (judged? (y − g) / π : 0)

with g the proxy judge's share of the win, recalibrated, y the expensive judge's, and π the battle's
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

from data.errors import InputError, StatisticsError
from data.intervals import Interval
from leaderboard.battles import BattleTable
from leaderboard.ratings.uncertainty.paired_errors import freedom_of, t_quantile
from leaderboard.sampling.recalibration import recalibrated

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

LEAST_PROB = 1e-3
LEAST_JUDGED = 10
LEAST_GAIN = 1.05
"""A gain below which a plain sample does as well."""


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Powered:
    """The planned battles with unbiased scores.

    Attributes:
        table: To be rated, and its mean scores taken, as any table with scores; its `winner` column is
            that of the proxy judge and must not be counted.
        guess: (N,) the recalibrated proxy share g of each battle.
        gain: How many times as many verdicts a plain sample would have needed for the same width, estimated;
            1 where nothing was left to chance.
        variance: (N,) expected squared error of the guess. Give it to `next_battles`.
        gain_interval: 95 % interval of the gain; questions are its units.
    """

    table: BattleTable
    guess: Floats
    gain: float
    variance: Floats
    gain_interval: Interval


def power(
    planned: BattleTable,
    verdicts: Floats,
    sampling_prob: Floats,
    *,
    worth: Floats | None = None,
    others: Sequence[Floats] = (),
    folds: int = 5,
    seed: int = 0,
) -> Powered:
    """Score every planned battle from proxy shares and a sample of expensive verdicts.

    Args:
        planned: All battles with the proxy judge's shares as `score` (its winners where it has none).
        verdicts: (N,) the expensive judge's share of the win for side a; NaN where not judged.
        sampling_prob: (N,) probability of each planned battle to be judged.
        worth: (N,) how much each battle moves what is asked about, as `Design.worth`, by which the gain is
            taken; None for every battle alike.
        others: Shares of further proxy judges, (N,) each, NaN where one has none; all are combined.
        folds: Groups of questions; each group's g is fitted on the others.
        seed: Of the division into groups.

    Raises:
        InputError: Lengths differ, a probability is not in 0–1, or a battle was judged that had none.
        StatisticsError: Fewer than ten verdicts.
    """
    judged = np.isfinite(verdicts)
    _check(planned, judged, sampling_prob)
    if judged.sum() < LEAST_JUDGED:
        message = f"{int(judged.sum())} verdicts cannot recalibrate a proxy judge."
        raise StatisticsError(message, advice=f"Judge at least {LEAST_JUDGED} battles.")
    guess, variance = recalibrated(planned, verdicts, judged, others=others, folds=folds, seed=seed)
    known = np.where(judged, verdicts, 0.0)
    score = guess + np.where(judged, known - guess, 0.0) / np.where(judged, sampling_prob, 1.0)
    weight = np.ones(len(planned)) if worth is None else worth
    gain, interval = _gain(planned, guess, known, np.where(judged, sampling_prob, np.inf), weight)
    return Powered(
        table=replace(planned, score=score),
        guess=guess,
        variance=variance,
        gain=gain,
        gain_interval=interval,
    )


def _check(planned: BattleTable, judged: Flags, sampling_prob: Floats) -> None:
    if not len(planned) == len(judged) == len(sampling_prob):
        message = f"{len(planned)} battles, {len(judged)} verdicts and {len(sampling_prob)} chances differ."
        raise InputError(message, advice="Give one of each for every planned battle.")
    if not ((sampling_prob >= 0) & (sampling_prob <= 1)).all():
        message = "A probability of being judged is not between 0 and 1."
        raise InputError(message, advice="Give the probabilities that the draw reported.")
    if (judged & (sampling_prob <= 0)).any():
        message = "A battle was judged that had no chance of it."
        raise InputError(message, advice="Give the probabilities that the draw reported.")


def _gain(
    planned: BattleTable, guess: Floats, known: Floats, sampling_prob: Floats, worth: Floats
) -> tuple[float, Interval]:
    """The gain by what was judged, each battle weighed by one over its probability (infinite: not judged)."""
    judged = np.isfinite(sampling_prob)
    chance = np.where(judged, np.maximum(sampling_prob, LEAST_PROB), 1.0)
    usual, left = usual_shares(planned, guess), len(judged) / judged.sum() - 1
    plain = np.where(judged, worth * (known - usual) ** 2 / chance, 0.0) * left
    ours = np.where(judged, worth * (known - guess) ** 2 * (1 - chance) / chance**2, 0.0)
    above, below = (np.bincount(planned.question, part).astype(np.float64) for part in (plain, ours))
    return gain_of(above, below)


def gain_of(plain: Floats, ours: Floats, units: int | None = None) -> tuple[float, Interval]:
    """A plain sample's variance over ours, of what sampling adds, with a linearised interval of its log.

    What judging everything would still leave open is the same for both and cancels at equal width.

    Args:
        plain: (Q,) what each question adds to the variance of a plain sample.
        ours: (Q,) what it adds to ours.
        units: Questions behind the interval; None for those that add anything.
    """
    above, below = float(plain.sum()), float(ours.sum())
    if above <= 0 or below <= 0:
        return 1.0, Interval(1.0, 1.0)
    gap = plain / above - ours / below
    count = float(np.count_nonzero(gap)) if units is None else units
    half = float(t_quantile(freedom_of(count))) * float(np.sqrt(np.square(gap).sum()))
    gain = above / below
    return gain, Interval(gain * math.exp(-half), gain * math.exp(half))


def usual_shares(planned: BattleTable, guess: Floats) -> Floats:
    """(N,) what side a is expected to get on average whenever these two systems meet."""
    systems = len(planned.systems)
    low, high = np.minimum(planned.a, planned.b), np.maximum(planned.a, planned.b)
    cells = low.astype(np.int64) * systems + high
    towards = np.where(planned.a == low, guess, 1 - guess)
    counts = np.maximum(np.bincount(cells, minlength=systems**2), 1)
    mean = (np.bincount(cells, towards, systems**2) / counts)[cells]
    return np.where(planned.a == low, mean, 1 - mean)
