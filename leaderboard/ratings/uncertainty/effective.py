"""Effective sample size (independent questions) of each rating and each difference of ratings.

Degrees of freedom belong to a quantity, not to a table: a difference of two systems with three common
questions gains nothing from two hundred questions of other systems. The contribution of each question to the
variance is computed from the design of the battles, for equal systems and perfectly correlated battles of a
question; unequal contributions count as (sum)² / sum of squares. Neither results nor the scale of the weights
matter.

Sources: Satterthwaite (1946); Carter, Schnepel & Steigerwald (2017) for the effective number of clusters.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, eye_array

from leaderboard.battles import BattleTable
from leaderboard.ratings.counts import Floats, Ints, PairCounts, count_by_cluster, count_cells, locate_rows
from leaderboard.ratings.vocabulary import Cluster

MAX_WORK = 300_000_000
"""Maximum number of cells × quantities for exact contributions to each difference."""
BLOCK_NUMBERS = 4_000_000
DENSE_SCORES = 20_000_000
"""Maximum number of questions × systems in a dense array (160 MB)."""
MIN_QUESTIONS = 2.0
NEAR_NOTHING = 1e-12
SMALLEST = 1e-300


@dataclass(frozen=True, eq=False, kw_only=True)
class EffectiveUnits:
    """Effective numbers of independent units.

    Attributes:
        own: (S,) for each rating, relative to the anchor or the mean.
        paired: (S, S) for each difference.
        own_factor: (S,) correction of variances: Q/(Q−1) with the questions of a rating, not the table's.
        paired_factor: (S, S) the same for differences.
    """

    own: Floats
    paired: Floats
    own_factor: Floats
    paired_factor: Floats


def effective_units(
    table: BattleTable, pairs: PairCounts, cluster: Cluster, anchor: Ints | None
) -> EffectiveUnits:
    """Return the effective units of ratings and differences of linked systems."""
    size = pairs.systems
    ends = np.triu_indices(size, k=1)
    spread, max_cells = _spread(pairs), MAX_WORK / (len(ends[0]) + size)
    if cluster is not Cluster.NONE and len(table) > max_cells and _min_cells(table, pairs) > max_cells:
        return _by_system(table, pairs, cluster, spread)
    patterns, copies = _patterns(table, pairs, cluster)
    if patterns.nnz > max_cells:
        return _by_system(table, pairs, cluster, spread)
    gauge = np.full(size, 1 / size)
    if anchor is not None:
        gauge = np.isin(np.arange(size), anchor) / len(anchor)
    own, own_count = np.empty(size), np.empty(size)
    for codes in _blocks(np.arange(size), patterns.shape[0] + len(pairs.low)):
        directions = spread[:, codes] - (spread @ gauge)[:, None]
        loading = directions[pairs.low] - directions[pairs.high]
        own[codes], own_count[codes] = _effective(patterns, copies, loading, cluster)
    paired, paired_count = np.zeros((size, size)), np.zeros((size, size))
    for chosen in _blocks(np.arange(len(ends[0])), patterns.shape[0] + len(pairs.low)):
        first, second = ends[0][chosen], ends[1][chosen]
        directions = spread[:, first] - spread[:, second]
        loading = directions[pairs.low] - directions[pairs.high]
        units, count = _effective(patterns, copies, loading, cluster)
        paired[first, second] = paired[second, first] = units
        paired_count[first, second] = paired_count[second, first] = count
    factors = (_factor(count, len(table.questions), cluster) for count in (own_count, paired_count))
    return EffectiveUnits(own=own, paired=paired, own_factor=next(factors), paired_factor=next(factors))


def _factor(count: Floats, questions: int, cluster: Cluster) -> Floats:
    if cluster is Cluster.NONE or questions <= 1:
        return np.ones_like(count)
    count = np.clip(count, MIN_QUESTIONS, questions)
    return np.asarray(count / (count - 1) * (questions - 1) / questions)


def units_by_system(table: BattleTable) -> Floats:
    """(S,) effective questions of each system's battles, for tables with very many systems."""
    return _units_of(_squares(table))


def _units_of(squares: Floats | csr_array) -> Floats:
    total = np.asarray(squares.sum(axis=0)).reshape(-1)
    square = np.asarray((squares**2).sum(axis=0)).reshape(-1)
    return np.asarray(np.divide(total**2, square, out=np.zeros(len(total)), where=square > 0))


def _squares(table: BattleTable) -> Floats | csr_array:
    """(questions, S) squared weights of each system's battles on each question, dense or sparse by size."""
    shape = (len(table.questions), len(table.systems))
    rows, ends = np.tile(table.question, 2), np.concatenate([table.a, table.b])
    weight = np.tile(_relative_weights(table), 2)
    if shape[0] * shape[1] > DENSE_SCORES:
        parts = csr_array((weight, (rows, ends)), shape=shape)
        parts.sum_duplicates()
        return parts**2
    cells = rows.astype(np.int64) * shape[1] + ends
    return np.asarray(np.bincount(cells, weight, shape[0] * shape[1]).reshape(shape) ** 2)


def _min_cells(table: BattleTable, pairs: PairCounts) -> int:
    """Return a quick lower bound on the cells of `_patterns`: half the systems with battles on a question."""
    place, _ = locate_rows(table, pairs)
    marks = np.append(np.random.default_rng(0).standard_normal(len(pairs.low)), 0.0)[place]
    # Rounded, because the last digits depend on the order of the battles.
    _, first = np.unique(np.bincount(table.question, marks).round(9), return_index=True)
    kinds = np.zeros((len(table.questions), pairs.systems), dtype=bool)
    kinds[table.question[place >= 0], table.a[place >= 0]] = True
    return int(kinds[first].sum()) // 2


def _spread(pairs: PairCounts) -> Floats:
    """(S, S) inverse information of the design for equal systems, up to a constant."""
    totals, size = pairs.totals / max(float(pairs.totals.max(initial=0.0)), SMALLEST), pairs.systems
    matrix = np.zeros((size, size))
    matrix[pairs.low, pairs.high] = matrix[pairs.high, pairs.low] = -totals
    np.fill_diagonal(matrix, -matrix.sum(axis=0))
    scale = max(float(np.trace(matrix)), NEAR_NOTHING)
    matrix += scale / size**2
    # Without this, systems without a battle in a domain make the matrix singular.
    matrix[np.diag_indices_from(matrix)] += 1e-9 * scale / size
    inverse = np.linalg.inv(matrix)
    return np.asarray((inverse + inverse.T) / 2)


def _patterns(table: BattleTable, pairs: PairCounts, cluster: Cluster) -> tuple[csr_array, Floats]:
    """(patterns, P) distinct weights of battles on a question, and the number of questions with each pattern.

    For single battles: one pattern per pair, repeated for each of its battles.
    """
    width = len(pairs.low)
    if cluster is Cluster.NONE:
        return csr_array(eye_array(width)), pairs.totals
    cells = count_cells(table, pairs)
    if cells is not None and cells.full:
        return csr_array(np.ones((1, width))), np.array([float(len(cells.doubled))])
    counts = count_by_cluster(table, pairs, table.question, len(table.questions))
    counts.sum_duplicates()
    rows = counts[:, :width] + counts[:, width : 2 * width] + counts[:, 2 * width :]
    rows = rows / max(float(rows.data.max(initial=0.0)), SMALLEST)
    mark = rows @ np.random.default_rng(0).standard_normal(width)
    _, first, copies = np.unique(mark, return_index=True, return_counts=True)
    return csr_array(rows[np.sort(first)]), copies[np.argsort(first, kind="stable")].astype(np.float64)


def _effective(
    patterns: csr_array, copies: Floats, loading: Floats, cluster: Cluster
) -> tuple[Floats, Floats]:
    """(C,) effective and actual units of quantities with these (P, C) loadings on a battle of each pair."""
    loading = np.abs(loading)
    loading[loading < 1e-6 * loading.max(axis=0, initial=NEAR_NOTHING)] = 0.0
    parts = (loading if cluster is Cluster.NONE else patterns @ loading) ** 2
    total, square = copies @ parts, copies @ parts**2
    effective = np.divide(total**2, square, out=np.zeros(len(total)), where=square > 0)
    return effective, copies @ (parts > 0)


def _blocks(codes: Ints, tall: int) -> Iterator[Ints]:
    step = max(BLOCK_NUMBERS // max(tall, 1), 1)
    for first in range(0, len(codes), step):
        yield codes[first : first + step]


def _by_system(table: BattleTable, pairs: PairCounts, cluster: Cluster, spread: Floats) -> EffectiveUnits:
    """Approximate the effective units for very many pairs by those of each system's battles."""
    size = pairs.systems
    variance = np.diag(spread)
    if cluster is Cluster.NONE:
        own = pairs.battles
        overlap = np.diag(1 / np.maximum(own, 1.0))
    else:
        squares = _squares(table)
        own = _units_of(squares)
        total = np.maximum(np.asarray(squares.sum(axis=0)).reshape(-1), NEAR_NOTHING)
        if isinstance(squares, csr_array):
            squares.data /= total[squares.indices]
            overlap = (squares.T @ squares).toarray()
        else:
            squares /= total
            overlap = squares.T @ squares
    total = variance[:, None] + variance
    square = variance[:, None] ** 2 * np.diag(overlap)[:, None] + variance**2 * np.diag(overlap)
    square = square + 2 * np.outer(variance, variance) * overlap
    paired = np.divide(total**2, square, out=np.zeros((size, size)), where=square > 0)
    return EffectiveUnits(
        own=own, paired=paired, own_factor=np.ones(size), paired_factor=np.ones((size, size))
    )


def _relative_weights(table: BattleTable) -> Floats:
    """(N,) weights scaled to a maximum of 1, whose squares do not overflow."""
    if table.weight is None:
        return np.ones(len(table))
    return np.asarray(table.weight / max(float(table.weight.max()), SMALLEST))
