"""Guesses of every battle from proxy judges and the verdicts so far, and how far they may be out.

A logistic regression of the expensive judge's share on the proxy judges' shares (and their log-odds) and on
who meets whom; it has no intercept and every column changes sign with the sides, so that naming a battle
the other way round gives the mirrored guess. Both the guess and its expected squared error are fitted
without the questions that they are used on.

Sources: Papke & Wooldridge (1996) for shares as outcomes; Chernozhukov et al. (2018) for cross-fitting;
Zrnic & Candès (2024), section 3.2, for a model of the error.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from data.errors import InputError
from leaderboard.battles import BattleTable, Codes

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

LEAST_VARIANCE = 0.01
"""Least squared error that a guess is expected to have: no battle is ever called certain."""
PENALTY = 1.0
"""Of the systems' strengths in log-odds: a normal prior of variance 1."""
SLIGHT_PENALTY = 0.05
PRIOR_VERDICTS = 20.0
"""How many verdicts the prior belief counts that a guess g errs by g(1 − g), as calibrated ones do."""
EDGE = 1e-3
STEPS = 30


def recalibrated(
    planned: BattleTable,
    verdicts: Floats,
    judged: Flags,
    *,
    others: Sequence[Floats] = (),
    folds: int = 5,
    seed: int = 0,
) -> tuple[Floats, Floats]:
    """Guess every battle's verdict from verdicts on other questions.

    Args:
        planned: All battles, with a proxy judge's shares as `score` (its winners where it has none).
        verdicts: (N,) the expensive judge's shares of the win for side a.
        judged: (N,) whether that is known.
        others: Shares of further proxy judges, (N,) each; NaN where one has none.
        folds: Groups of questions; each is guessed from the others.
        seed: Of the division into groups.

    Returns:
        (N,) the expected share of the win for side a, and (N,) the expected squared error of this guess.

    Raises:
        InputError: A further proxy judge has shares for another number of battles.
    """
    cheap = _columns(planned, others)
    group = folds_of(planned.question, folds, seed)
    guess, variance = np.empty(len(planned)), np.empty(len(planned))
    for fold in range(folds):
        here = group == fold
        guess[here] = _guess(planned, cheap, verdicts, np.flatnonzero(judged & ~here), here)
    doubt = np.maximum(guess * (1 - guess), LEAST_VARIANCE)
    squares = np.square(np.where(judged, verdicts, 0.0) - guess)
    for fold in range(folds):
        here = group == fold
        variance[here] = _variance(doubt, squares, np.flatnonzero(judged & ~here), here)
    return guess, variance


def folds_of(questions: Codes, folds: int, seed: int) -> NDArray[np.int64]:
    """The group, 0…folds−1, of each battle; battles on one question share it."""
    present, codes = np.unique(questions, return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(present))
    return (order % folds)[codes].astype(np.int64)


def _columns(planned: BattleTable, others: Sequence[Floats]) -> Floats:
    """(N, 2J) each proxy judge's share less a half, and its log-odds; 0 where it has none."""
    columns = []
    for shares in (planned.share, *others):
        if len(shares) != len(planned):
            message = f"A proxy judge has {len(shares)} shares for {len(planned)} planned battles."
            raise InputError(message, advice="Give a share for each planned battle, NaN where there is none.")
        known = np.where(np.isfinite(shares), shares, 0.5)
        columns += [known - 0.5, logit(np.clip(known, EDGE, 1 - EDGE))]
    return np.column_stack(columns)


def _guess(
    planned: BattleTable, cheap: Floats, verdicts: Floats, rows: NDArray[np.int64], here: Flags
) -> Floats:
    if not len(rows):
        return planned.share[here]
    slopes = _slopes(_design(planned, cheap, rows), verdicts[rows], cheap.shape[1])
    strength = slopes[cheap.shape[1] :]
    odds = cheap[here] @ slopes[: cheap.shape[1]] + strength[planned.a[here]] - strength[planned.b[here]]
    return np.asarray(expit(odds), dtype=np.float64)


def _design(planned: BattleTable, cheap: Floats, rows: NDArray[np.int64]) -> Floats:
    place = np.arange(len(rows))
    strength = np.zeros((len(rows), len(planned.systems)))
    strength[place, planned.a[rows]] = 1.0
    strength[place, planned.b[rows]] = -1.0
    return np.concatenate([cheap[rows], strength], axis=1)


def _slopes(design: Floats, shares: Floats, slight: int) -> Floats:
    """Newton's steps; the penalty keeps them finite where the proxy judges separate all verdicts."""
    penalty = np.full(design.shape[1], PENALTY)
    penalty[:slight] = SLIGHT_PENALTY
    slopes = np.zeros(design.shape[1])
    for _ in range(STEPS):
        fitted = expit(design @ slopes)
        curvature = design.T @ (design * np.maximum(fitted * (1 - fitted), EDGE)[:, None])
        gradient = design.T @ (shares - fitted) - penalty * slopes
        step = np.linalg.solve(curvature + np.diag(penalty), gradient)
        slopes = slopes + step
        if np.abs(step).max() < 1e-8:  # noqa: PLR2004 - far below any rounding that matters
            break
    return slopes


def _variance(doubt: Floats, squares: Floats, rows: NDArray[np.int64], here: Flags) -> Floats:
    """Squared errors as α + β g(1 − g), both at least 0, drawn towards 0 and 1."""
    from scipy.optimize import nnls  # noqa: PLC0415 - loads for long, and boards without waves take none of it

    # Squared errors of doubtful guesses vary more, so they count less.
    scale = 1.0 / np.sqrt(doubt[rows])
    prior = np.sqrt(PRIOR_VERDICTS * 0.25) * np.eye(2)
    design = np.vstack([np.column_stack([scale, doubt[rows] * scale]), prior])
    outcome = np.concatenate([squares[rows] * scale, prior @ [0.0, 1.0]])
    slopes, _ = nnls(design, outcome)
    return np.asarray(np.maximum(slopes[0] + slopes[1] * doubt[here], LEAST_VARIANCE), dtype=np.float64)
