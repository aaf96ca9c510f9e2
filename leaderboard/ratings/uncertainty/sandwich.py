"""Robust standard errors: sandwich covariances, plain and clustered.

Sources: Huber (1967), White (1980); Liang & Zeger (1986) for clusters, with the factor Q/(Q−1).
"""

import numpy as np
from scipy.sparse import csr_array

from leaderboard.battles import BattleTable
from leaderboard.ratings.counts import (
    DENSE_CELLS,
    HIGH,
    LOW,
    TIE,
    Floats,
    Ints,
    PairCounts,
    locate_rows,
    split_shares,
)
from leaderboard.ratings.models.likelihoods import PairModel
from leaderboard.ratings.models.newton import Fit, laplacian_solver
from leaderboard.ratings.result import Settings
from leaderboard.ratings.uncertainty.effective import DENSE_SCORES
from leaderboard.ratings.vocabulary import Cluster

DRAWS = 200
"""Number of draws of the multiplier bootstrap."""


def plain_covariance(model: PairModel, fit: Fit, pairs: PairCounts, inverse: Floats) -> Floats:
    """(S, S) covariance of the log-odds ratings for independent battles."""
    at_gap, at_tie = model.outcome_scores(fit.theta[pairs.low] - fit.theta[pairs.high], fit.tie)
    square = (pairs.outcomes * at_gap**2).sum(axis=0)
    meat = np.zeros_like(inverse)
    meat[pairs.low, pairs.high] = meat[pairs.high, pairs.low] = -square
    inner = np.arange(pairs.systems)
    meat[inner, inner] = pairs.sum_ends(square, square)
    if fit.has_tie and at_tie is not None:
        mixed = (pairs.outcomes * at_gap * at_tie).sum(axis=0)
        meat[: pairs.systems, -1] = meat[-1, : pairs.systems] = pairs.sum_ends(mixed, -mixed)
        meat[-1, -1] = (pairs.outcomes * at_tie**2).sum()
    return _bread(inverse, meat, pairs.systems)


def clustered_covariance(inverse: Floats, scores: Floats | csr_array, systems: int) -> Floats:
    """(S, S) covariance of the log-odds ratings for independent questions."""
    # Scaling by a power of two avoids overflow without changing a digit.
    largest = float(np.abs(scores.data if isinstance(scores, csr_array) else scores).max(initial=0.0))
    scale = 2.0 ** np.floor(np.log2(largest)) if largest > 0 else 1.0
    relative = scores / scale
    meat = relative.T @ relative
    dense = np.asarray(meat.todense() if isinstance(meat, csr_array) else meat)
    questions = scores.shape[0]
    return _bread(inverse * scale, dense * (questions / (questions - 1)), systems)


def _bread(inverse: Floats, meat: Floats, systems: int) -> Floats:
    covariance = (inverse @ meat @ inverse)[:systems, :systems]
    return np.asarray((covariance + covariance.T) / 2)


def row_scores(
    model: PairModel, fit: Fit, pairs: PairCounts, table: BattleTable
) -> tuple[Floats, Floats | None]:
    """(N,) weighted score of each battle by its first-named system, and by the tie parameter.

    Battles of pairs not in `pairs` score 0.
    """
    at_gap, at_tie = model.outcome_scores(fit.theta[pairs.low] - fit.theta[pairs.high], fit.tie)
    systems = pairs.systems
    if 3 * systems * systems <= max(DENSE_CELLS, len(table)):
        cell = table.a * np.int64(systems)
        cell += table.b
        towards = _by_cell(pairs, at_gap, mirrored=-1.0)
        ties = None if at_tie is None else _by_cell(pairs, at_tie, mirrored=1.0)
    else:
        place, swapped = locate_rows(table, pairs)
        cell = np.where(swapped, len(pairs.low), 0) + place
        cell[place < 0] = 2 * len(pairs.low)
        towards, ties = _by_pair(at_gap, -1.0), None if at_tie is None else _by_pair(at_tie, 1.0)
    score = _look_up(towards, cell, table)
    return score, None if ties is None or not fit.has_tie else _look_up(ties, cell, table)


def _by_cell(pairs: PairCounts, scores: Floats, *, mirrored: float) -> Floats:
    """(3 S²,) scores by winner for every ordered pair."""
    systems = pairs.systems
    table = np.zeros((systems * systems, 3))
    table[pairs.low * systems + pairs.high] = scores.T
    table[pairs.high * systems + pairs.low] = mirrored * scores[[HIGH, LOW, TIE]].T
    return np.asarray(table.reshape(-1))


def _by_pair(scores: Floats, mirrored: float) -> Floats:
    both = np.concatenate([scores, mirrored * scores[[HIGH, LOW, TIE]], np.zeros((3, 1))], axis=1)
    return np.asarray(both.T.reshape(-1))


def _look_up(scores: Floats, cell: Ints, table: BattleTable) -> Floats:
    if table.score is None:
        values = scores[3 * cell + table.winner]
    else:
        side, decided, tied = split_shares(table)
        values = decided * scores[3 * cell + side] + tied * scores[3 * cell + TIE]
    return np.asarray(values if table.weight is None else values * table.weight)


def cluster_scores(
    table: BattleTable, scores: tuple[Floats, Floats | None], systems: int
) -> Floats | csr_array:
    """(questions, K) scores summed over each question's battles, dense or sparse by size."""
    at_gap, at_tie = scores
    questions = len(table.questions)
    wide = systems + (at_tie is not None)
    if questions * wide > DENSE_SCORES:
        return _sparse_scores(table, scores, wide)
    row = table.question.astype(np.int64)
    row *= wide
    summed = np.bincount(row + table.a, at_gap, questions * wide)
    summed -= np.bincount(row + table.b, at_gap, questions * wide)
    if at_tie is not None:
        summed += np.bincount(row + systems, at_tie, questions * wide)
    return summed.astype(np.float64, copy=False).reshape(questions, wide)


def _sparse_scores(table: BattleTable, scores: tuple[Floats, Floats | None], wide: int) -> csr_array:
    at_gap, at_tie = scores
    values, columns = [at_gap, -at_gap], [table.a, table.b]
    if at_tie is not None:
        values.append(at_tie)
        columns.append(np.full(len(table), wide - 1))
    places = (np.tile(table.question, len(values)), np.concatenate(columns))
    return csr_array((np.concatenate(values), places), shape=(len(table.questions), wide))


def multiplier_errors(
    model: PairModel, fit: Fit, pairs: PairCounts, table: BattleTable, settings: Settings, anchor: Ints | None
) -> Floats:
    """(S,) standard errors in log-odds without any systems × systems array.

    Each draw multiplies every question's (or battle's) score by an independent standard normal number and
    solves one sparse system; the spread of the solutions approximates the sandwich standard error to about
    5 %, relative to the anchor or the mean.

    Source: the multiplier (wild) bootstrap of scores; Kline & Santos (2012).
    """
    solve = laplacian_solver(pairs, fit.curvature)
    scores, ties = row_scores(model, fit, pairs, table)
    border = pairs.sum_ends(fit.gap_tie, -fit.gap_tie)
    edge = solve(border) if fit.has_tie else border
    clustered = settings.cluster is Cluster.QUESTION
    units = len(table.questions) if clustered else len(table)
    total = np.zeros(pairs.systems)
    for number in range(DRAWS):
        noise = np.random.default_rng([settings.seed, number]).standard_normal(units)
        weighted = (noise[table.question] if clustered else noise) * scores
        right = np.bincount(table.a, weighted, pairs.systems).astype(np.float64)
        right -= np.bincount(table.b, weighted, pairs.systems)
        moved = solve(right)
        if fit.has_tie and ties is not None:
            noisy = float(((noise[table.question] if clustered else noise) * ties).sum())
            moved -= edge * (noisy - border @ moved) / (fit.tie_tie - border @ edge)
        total += (moved - (moved.mean() if anchor is None else moved[anchor].mean())) ** 2
    factor = units / (units - 1) if clustered else 1.0
    return np.sqrt(total / DRAWS * factor)
