"""Mean scores of a metric: an expensive one on a sample of answers, a cheap one on all.

Every answer gets z = g + (scored? (y − g) / π : 0), with y the expensive metric's score, π the answer's
chance of being scored by it, and g the cheap score recalibrated by a regression on other questions' answers
(slope on the cheap score, a level for each system drawn towards the common one). A system's mean of z is
that of y without bias, whatever the proxy metric is worth; questions are the units of every interval.

Sources: Angelopoulos et al. (2023) and (2024, "PPI++"); Särndal, Swensson & Wretman (1992), chapter 6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from data.errors import InputError, StatisticsError
from data.intervals import Interval
from leaderboard.ratings.uncertainty.paired_errors import freedom_of, t_quantile
from leaderboard.sampling.chances import systematic
from leaderboard.sampling.powered import gain_of
from leaderboard.sampling.recalibration import folds_of

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]

LEAST_SCORED = 10


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class ScoredAnswers:
    """Answers with a cheap score each, and an expensive one on a sample.

    Attributes:
        systems: Names, in code order.
        system: (N,) code of each answer's system.
        question: (N,) code of its question.
        cheap: (N,) cheap scores; NaN where there is none.
        expensive: (N,) expensive scores; NaN where not sampled.
        sampling_prob: (N,) chance of each answer to be in the sample.
    """

    systems: tuple[str, ...]
    system: Codes
    question: Codes
    cheap: Floats
    expensive: Floats
    sampling_prob: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class PoweredMean:
    """A system's mean score, or the difference of two.

    Attributes:
        system: Its name.
        against: The other system of a paired difference; empty for a mean.
        mean: The estimate.
        error: Its standard error.
        interval: 95 %.
        gain: How many times as many expensive scores a plain sample would need for the same width.
        gain_interval: 95 % interval of the gain.
        scored: Answers with an expensive score among those that it is the mean of.
        answers: These; of a difference the answers of both systems to questions that both answered.
    """

    system: str
    against: str = ""
    mean: float
    error: float
    interval: Interval
    gain: float
    gain_interval: Interval
    scored: int
    answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PoweredMeans:
    """Estimated means of all systems.

    Attributes:
        means: One a system.
        differences: One a pair of systems, on the questions that both answered.
        scored: Answers with an expensive score.
        answers: All answers.
    """

    means: tuple[PoweredMean, ...]
    differences: tuple[PoweredMean, ...]
    scored: int
    answers: int


def sample_answers(system: Codes, count: int, seed: int) -> tuple[NDArray[np.int64], Floats]:
    """Places of a sample that is spread evenly over systems, and every answer's chance.

    Raises:
        InputError: Fewer than one answer is asked for, or there is none.
    """
    if count < 1 or not len(system):
        message = f"{count} of {len(system)} answers cannot be sampled."
        raise InputError(message, advice="Sample at least one answer of a set with answers.")
    chance = np.full(len(system), min(count, len(system)) / len(system))
    return systematic(chance, seed, strata=system), chance


def powered_means(answers: ScoredAnswers, *, folds: int = 5, seed: int = 0) -> PoweredMeans:
    """Estimate every system's mean expensive score, and all paired differences.

    Raises:
        InputError: Lengths differ, or a scored answer had no chance.
        StatisticsError: Fewer than ten answers have an expensive score.
    """
    scored = np.isfinite(answers.expensive)
    _check(answers, scored)
    guess = _guesses(answers, scored, folds, seed)
    known, inverse = (
        np.where(scored, answers.expensive, 0.0),
        np.where(scored, 1 / np.where(scored, answers.sampling_prob, 1.0), 0.0),
    )
    score = guess + (known - guess) * inverse
    usual = _usual(answers, known, inverse)
    terms = _Terms(
        score=score,
        plain=(known - usual) ** 2 * inverse * np.maximum(inverse - 1, 0.0),
        ours=(known - guess) ** 2 * inverse * np.maximum(inverse - 1, 0.0),
    )
    present = np.unique(answers.system).tolist()
    means = [_mean(answers, terms, {code: 1.0}) for code in present]
    pairs = [_mean(answers, terms, {first: 1.0, second: -1.0}) for first, second in combinations(present, 2)]
    return PoweredMeans(
        means=tuple(mean for mean in means if mean is not None),
        differences=tuple(pair for pair in pairs if pair is not None),
        scored=int(scored.sum()),
        answers=len(scored),
    )


@dataclass(frozen=True, eq=False, slots=True)
class _Terms:
    """(N,) each: scores, and what each answer adds to the sampling variance of sums, plain and ours."""

    score: Floats
    plain: Floats
    ours: Floats


def _check(answers: ScoredAnswers, scored: NDArray[np.bool_]) -> None:
    columns = (answers.system, answers.question, answers.cheap, answers.expensive, answers.sampling_prob)
    if len({len(column) for column in columns}) > 1:
        message = f"Columns of {', '.join(str(len(column)) for column in columns)} answers differ."
        raise InputError(message, advice="Give one of each for every answer.")
    if scored.sum() < LEAST_SCORED:
        message = f"{int(scored.sum())} expensive scores cannot recalibrate a proxy metric."
        raise StatisticsError(message, advice=f"Score at least {LEAST_SCORED} answers.")
    if (answers.sampling_prob[scored] <= 0).any() or (answers.sampling_prob > 1).any():
        message = "An answer was scored that had no chance of it, or a chance is above 1."
        raise InputError(message, advice="Give the chances that the sample reported.")


def _usual(answers: ScoredAnswers, known: Floats, inverse: Floats) -> Floats:
    """(N,) each system's weighted mean of the sample."""
    systems = len(answers.systems)
    weights = np.bincount(answers.system, inverse, systems)
    means = np.bincount(answers.system, known * inverse, systems) / np.where(weights > 0, weights, 1.0)
    return np.asarray(means[answers.system])


def _guesses(answers: ScoredAnswers, scored: NDArray[np.bool_], folds: int, seed: int) -> Floats:
    group = folds_of(answers.question, folds, seed)
    usable = np.isfinite(answers.cheap)
    middle = float(answers.cheap[usable].mean()) if usable.any() else 0.0
    scale = float(answers.cheap[usable].std()) if usable.any() else 1.0
    cheap = np.where(usable, answers.cheap - middle, 0.0) / (scale if scale > 0 else 1.0)
    design = np.column_stack([np.ones(len(cheap)), cheap, np.eye(len(answers.systems))[answers.system]])
    penalty = np.diag([1e-6, 0.1, *[1.0] * len(answers.systems)])
    guess = np.empty(len(cheap))
    for fold in range(folds):
        rows, here = scored & (group != fold), group == fold
        known = design[rows]
        slopes = np.linalg.solve(known.T @ known + penalty, known.T @ answers.expensive[rows])
        guess[here] = design[here] @ slopes
    return guess


def _mean(answers: ScoredAnswers, terms: _Terms, signs: dict[int, float]) -> PoweredMean | None:
    """The mean of one system, or the difference of two on questions that both answered."""
    questions = int(answers.question.max()) + 1
    answered = [
        np.bincount(answers.question[answers.system == code], minlength=questions) > 0 for code in signs
    ]
    shared = np.flatnonzero(np.logical_and.reduce(answered))
    if len(shared) < 2:  # noqa: PLR2004 - one question has no spread
        return None
    sign = np.zeros(len(answers.systems))
    sign[list(signs)] = list(signs.values())
    ours = sign[answers.system]

    def by_question(values: Floats) -> Floats:
        return np.asarray(np.bincount(answers.question, values, questions)[shared])

    values = by_question(terms.score * ours)
    error = float(values.std(ddof=1)) / math.sqrt(len(shared))
    mean = float(values.mean())
    half = float(t_quantile(freedom_of(len(shared))))
    gain, interval = gain_of(
        by_question(terms.plain * ours**2), by_question(terms.ours * ours**2), len(shared)
    )
    first, *others = signs
    among = np.isin(answers.question, shared) & (ours != 0)
    return PoweredMean(
        system=answers.systems[first],
        against=answers.systems[others[0]] if others else "",
        mean=mean,
        error=error,
        interval=Interval(mean - half * error, mean + half * error),
        gain=gain,
        gain_interval=interval,
        scored=int((among & np.isfinite(answers.expensive)).sum()),
        answers=int(among.sum()),
    )
