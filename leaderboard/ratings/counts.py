"""Sufficient statistics: results of each pair of systems, overall and per question."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from leaderboard.battles import BattleTable, Winner

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Up to this many cells a full systems × systems table is counted in one pass.
DENSE_CELLS = 12_000_000

# Rows per batch of integer sums, which are exact in any order.
ROWS_AT_ONCE = 1 << 20

# Above this many battles, sums over questions are products of dense matrices, whose last digits differ.
LARGE = 1 << 17
# Smallest share of filled cells of a dense matrix.
MIN_FILL = 1 / 3
# Cells converted to floating point at once (4 MB).
CELLS_AT_ONCE = 500_000

# Rows of `PairCounts.outcomes`.
LOW, HIGH, TIE = 0, 1, 2


@dataclass(frozen=True, eq=False, kw_only=True)
class PairCounts:
    """Results of each pair of systems with a battle.

    Attributes:
        low: (P,) lower system code of each pair.
        outcomes: (3, P) weighted counts of: low won, high won, tie. A soft label s ≥ ½ counts as a win
            of weight 2s − 1 and a tie of weight 2 − 2s (mirrored below ½).
    """

    systems: int
    low: Ints
    high: Ints
    outcomes: Floats

    @property
    def totals(self) -> Floats:
        """(P,) battles of each pair."""
        return np.asarray(self.outcomes.sum(axis=0))

    @property
    def battles(self) -> Floats:
        """(S,) battles of each system."""
        return self.sum_ends(self.totals, self.totals)

    def sum_ends(self, at_low: Floats, at_high: Floats) -> Floats:
        """(S,) sums of the values at both ends of each pair."""
        summed = np.bincount(self.low, at_low, self.systems) + np.bincount(self.high, at_high, self.systems)
        return summed.astype(np.float64, copy=False)

    def among(self, members: Ints) -> "tuple[PairCounts, NDArray[np.bool_]]":
        """Return the pairs within a set of systems, renumbered in its order, and their mask."""
        place = np.full(self.systems, -1, dtype=np.int64)
        place[members] = np.arange(len(members))
        inside = (place[self.low] >= 0) & (place[self.high] >= 0)
        inner = PairCounts(
            systems=len(members),
            low=place[self.low[inside]],
            high=place[self.high[inside]],
            outcomes=self.outcomes[:, inside],
        )
        return inner, inside


def count_pairs(table: BattleTable) -> PairCounts:
    """Count the results of each pair; cached in the table."""
    if "pairs" not in table.counted:
        table.counted["pairs"] = _count_pairs(table)
    pairs: PairCounts = table.counted["pairs"]
    return pairs


def _count_pairs(table: BattleTable) -> PairCounts:
    systems = len(table.systems)
    if 3 * systems * systems <= max(DENSE_CELLS, len(table)):
        ordered = count_ordered(table)
        low, high = np.nonzero(np.triu(_met(ordered, systems), k=1))
        flat, back = low * systems + high, high * systems + low
    else:
        keys, inverse = np.unique(_ordered_keys(table), return_inverse=True)
        ordered = _count_ordered(table, len(keys), inverse)
        ends = np.sort(np.stack(np.divmod(keys, systems)), axis=0)
        pairs = np.unique(ends[0] * systems + ends[1])
        low, high = np.divmod(pairs, systems)
        flat, back = (_find(keys, low * systems + high), _find(keys, high * systems + low))
        ordered = np.concatenate([ordered, np.zeros((3, 1))], axis=1)  # an empty column for −1
    outcomes = ordered[:, flat] + ordered[[HIGH, LOW, TIE]][:, back]
    met = outcomes.sum(axis=0) > 0
    return PairCounts(
        systems=systems,
        low=low[met].astype(np.int64),
        high=high[met].astype(np.int64),
        outcomes=np.ascontiguousarray(outcomes[:, met]),
    )


def count_ordered(table: BattleTable) -> Floats:
    """(3, S²) weighted counts by ordered pair of: first won, second won, tie."""
    size = len(table.systems) ** 2
    if table.score is not None or table.weight is not None:
        return _count_ordered(table, size, _ordered_keys(table))
    # Integer sums are exact in any order.
    counts = np.zeros(len(Winner) * size, dtype=np.int64)
    for first in range(0, len(table), ROWS_AT_ONCE):
        codes = _ordered_keys(table, slice(first, first + ROWS_AT_ONCE)) * len(Winner)
        codes += table.winner[first : first + ROWS_AT_ONCE]
        counts += np.bincount(codes, minlength=len(counts))
    return np.ascontiguousarray(counts.reshape(size, len(Winner)).T, dtype=np.float64)


def locate_rows(table: BattleTable, pairs: PairCounts) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """(N,) index of each row's pair in `pairs`, −1 if absent, and whether `a` is its high end."""
    systems = pairs.systems
    keys = pairs.low * systems + pairs.high
    places = np.empty(len(table), dtype=np.int32)
    full = None
    if systems * systems <= max(DENSE_CELLS, len(table)):
        full = np.full(systems * systems, -1, dtype=np.int32)
        full[keys] = np.arange(len(keys))
    for first in range(0, len(table), ROWS_AT_ONCE):
        rows = slice(first, first + ROWS_AT_ONCE)
        a, b = table.a[rows], table.b[rows]
        row_keys = np.minimum(a, b).astype(np.int64)
        row_keys *= systems
        row_keys += np.maximum(a, b)
        places[rows] = _find(keys, row_keys) if full is None else full[row_keys]
    return places, table.a > table.b


def count_by_cluster(
    table: BattleTable, pairs: PairCounts, cluster: NDArray[Any], clusters: int
) -> "csr_array":
    """(clusters, 3 P) weighted counts, outcome o of pair p in column o P + p, without other pairs."""
    from scipy.sparse import coo_array  # noqa: PLC0415 - scipy loads only for intervals

    place, swapped = locate_rows(table, pairs)
    rows = place >= 0
    if not rows.all():
        table, cluster, place, swapped = table.select(rows), cluster[rows], place[rows], swapped[rows]
    width = len(pairs.low)
    shape = (clusters, 3 * width)
    if table.score is None:
        column = np.where(table.winner == TIE, TIE, table.winner ^ swapped).astype(place.dtype)
        column *= width
        column += place
        del place, swapped
        weight = np.ones(len(table)) if table.weight is None else table.weight
        return coo_array((weight, (cluster, column)), shape=shape).tocsr()
    weight = np.ones(len(table)) if table.weight is None else table.weight
    side, decided, tied = split_shares(table)
    values = np.concatenate([weight * decided, weight * tied])
    columns = np.concatenate([(side ^ swapped) * width + place, TIE * width + place])
    return coo_array((values, (np.tile(cluster, 2), columns)), shape=shape).tocsr()


@dataclass(frozen=True, eq=False, kw_only=True)
class Cells:
    """Result of the only battle of each pair on each cluster, one byte per cell.

    Attributes:
        doubled: (clusters, P) twice the win share of the low end, −1 without a battle.
        full: Whether every pair has a battle on every cluster.
    """

    doubled: NDArray[np.int8]
    full: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the result of `count_by_cluster`."""
        clusters, pairs = self.doubled.shape
        return clusters, 3 * pairs

    def reweighted(self, weights: Floats) -> Floats:
        """(3 P, draws) counts of low won, high won, tie for (clusters, draws) weights; ties are half wins."""
        width, draws = self.doubled.shape[1], weights.shape[1]
        won, met = np.zeros((width, draws)), np.zeros((width, draws))
        if self.full:
            met += weights.sum(axis=0)
        rows = max(CELLS_AT_ONCE // width, 1)
        for first in range(0, len(self.doubled), rows):
            cells, part = self.doubled[first : first + rows].T, weights[first : first + rows]
            won += (cells if self.full else np.maximum(cells, 0)).astype(np.float64) @ part
            if not self.full:
                met += (cells >= 0).astype(np.float64) @ part
        won /= 2
        return np.concatenate([won, np.maximum(met - won, 0.0), np.zeros_like(won)])


def count_cells(table: BattleTable, pairs: PairCounts) -> Cells | None:
    """Return the cells of a large table clustered by question; cached in the table.

    None if battles are few, have weights or soft labels, or leave most cells empty, or if a pair has two
    battles on a question.
    """
    if "cells" not in table.counted:
        table.counted["cells"] = _count_cells(table, pairs)
    cells: Cells | None = table.counted["cells"]
    return cells


def _count_cells(table: BattleTable, pairs: PairCounts) -> Cells | None:
    shape = len(table.questions), len(pairs.low)
    if len(table) <= max(LARGE, MIN_FILL * shape[0] * shape[1]):
        return None
    if table.score is not None or table.weight is not None:
        return None
    doubled = np.full(shape, -1, dtype=np.int8)
    for first in range(0, len(table), ROWS_AT_ONCE):
        part = table.select(slice(first, first + ROWS_AT_ONCE))
        place, swapped = locate_rows(part, pairs)
        ends = _DOUBLED[part.winner]
        doubled[part.question, place] = np.where(swapped, 2 - ends, ends)
    met = int(np.count_nonzero(doubled >= 0))
    return Cells(doubled=doubled, full=met == doubled.size) if met == len(table) else None


_DOUBLED = np.array([2, 0, 1], dtype=np.int8)
"""Twice the first-named system's win share, by the code of the winner."""


def split_shares(table: BattleTable) -> tuple[Ints, Floats, Floats]:
    """Return the leading side of each soft label, its decided part and its tied part."""
    share = table.share
    decided = np.abs(2 * share - 1)
    return np.where(share >= 1 / 2, LOW, HIGH).astype(np.int64), decided, 1 - decided


def _ordered_keys(table: BattleTable, rows: slice = slice(None)) -> Ints:
    keys = table.a[rows].astype(np.int64)
    keys *= len(table.systems)
    keys += table.b[rows]
    return keys


def _count_ordered(table: BattleTable, size: int, keys: Ints) -> Floats:
    """(3, size) counts of: first-named won, second-named won, tie."""
    if table.score is None:
        codes = keys * len(Winner)
        codes += table.winner
        return np.bincount(codes, table.weight, 3 * size).astype(np.float64).reshape(size, 3).T
    side, decided, tied = split_shares(table)
    weight = np.ones(len(table)) if table.weight is None else table.weight
    counts = np.zeros((3, size))
    for outcome in (LOW, HIGH):
        rows = side == outcome
        counts[outcome] = np.bincount(keys[rows], (weight * decided)[rows], size)
    counts[TIE] = np.bincount(keys, weight * tied, size)
    return counts


def _met(ordered: Floats, systems: int) -> NDArray[np.bool_]:
    met = ordered.sum(axis=0).reshape(systems, systems) > 0
    return np.asarray(met | met.T)


def _find(keys: Ints, wanted: Ints) -> Ints:
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)


def one_thread() -> AbstractContextManager[object]:
    """Limit BLAS to one thread: more threads change the order of sums and so the last digits."""
    limit: AbstractContextManager[object] = _controller().limit(limits=1, user_api="blas")
    return limit


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()  # takes longer than some fits, hence the cache
