"""What ratings become without some questions or battles, and a small set of them that exchanges two systems.

Removing units changes the pairs' counts alone, so that a refit is a fit of counts, warm from the full one.
Which units matter most is told by their influence on the difference of the two ratings, $c^T H^{-1} g_u$ with
the score $g_u$ of the unit and the information $H$. A set that is found so is only proposed; what it does is
settled by refits.

Sources: Hampel (1974) for influence; Broderick, Giordano & Meager (2020), "An automatic finite-sample
robustness metric"; Huang, Shen, Wei & Broderick (2025), arXiv 2508.11847, for preferences. Influence taken
again at the refit, the Newton step that counts the lost information, and exchanges of members are ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, eye_array

from data.errors import UnrankableError
from leaderboard.battles import BattleTable
from leaderboard.ratings.counts import (
    DENSE_CELLS,
    LOW,
    TIE,
    Cells,
    Floats,
    Ints,
    PairCounts,
    count_cells,
    locate_rows,
)
from leaderboard.ratings.models.existence import find_groups, is_one_group
from leaderboard.ratings.models.likelihoods import BradleyTerry, sigmoid
from leaderboard.ratings.models.newton import fit, laplacian_solver

# Ratings closer than this, in log-odds, are equal: it is above the rounding of a fit.
EQUAL = 1e-9
# A pair that has less than this left of its battles has none; weights make rounding dust.
NO_BATTLE = 1e-9
# So few units are tried one after another; more by halving.
FEW_UNITS = 64
ROUNDS = 12
NEAR = 8
VERIFIED = 6
# Beyond so many systems candidates are not weighed by stacks of systems × systems matrices.
STACKED_SYSTEMS = 200


@dataclass(frozen=True, eq=False, kw_only=True)
class Units:
    """What may be left out of the battles of one group: K kinds of units that are alike.

    Attributes:
        pairs: The counts of all the group's battles.
        won: (K, P) wins of each pair's low end in one unit, a tie being a half.
        total: (D, P) battles of each pair, for each way in which the battles of a unit are spread over the
            pairs: few where questions are judged alike, and then these are most of what there is to count.
        spread: (K,) the row of `total` of each kind.
        copies: (K,) how many units of a kind there are.
        cells: How each pair's battle in each unit ended, where that is known; it says the same as `won`.
    """

    pairs: PairCounts
    won: csr_array
    total: csr_array
    spread: Ints
    copies: Ints
    cells: Cells | None = None

    @property
    def count(self) -> int:
        """How many units there are."""
        return int(self.copies.sum())

    def left_out(self, removed: Ints, near: Refit | None = None) -> Floats:
        """(2, P) wins of low ends, and battles, in so many units of each kind; told from what is near."""
        change = removed if near is None else removed - near.removed
        if near is not None and np.count_nonzero(change) > np.count_nonzero(removed):
            return self.left_out(removed)
        # Few kinds are left out as a rule, of millions of battles.
        kinds = np.flatnonzero(change)
        spreads = np.bincount(self.spread[kinds], change[kinds], self.total.shape[0])
        used = np.flatnonzero(spreads)
        sums = np.stack([self._won(kinds, change[kinds]), _summed_rows(self.total, used, spreads[used])])
        return sums if near is None else near.left_out + sums

    def _won(self, kinds: Ints, times: Ints) -> Floats:
        """(P,) wins of low ends in some kinds, each so many times."""
        if self.cells is None:
            return _summed_rows(self.won, kinds, times)
        out, back = (self.cells.counts(kinds[sign * times > 0]) for sign in (1, -1))
        return np.asarray((out - back)[LOW] + (out - back)[TIE] / 2)

    def sums(self, at_wins: Floats, at_battles: Floats) -> Floats:
        """(K,) sums over one unit's wins of what falls to each pair, less those over its battles."""
        return np.asarray(self.won @ at_wins - (self.total @ at_battles)[self.spread])

    def changes(self, changes: csr_array) -> tuple[Floats, Floats]:
        """(T, P) wins of low ends, and battles, in each of T changes of a few kinds."""
        kinds = np.unique(changes.indices)
        times = changes[:, kinds].toarray()
        return times @ self.won[kinds].toarray(), times @ self.total[self.spread[kinds]].toarray()

    def without(self, left_out: Floats) -> PairCounts:
        """The pairs' counts without some wins of low ends and battles, ties standing as half wins."""
        low, high, tie = self.pairs.outcomes
        won, total = low + tie / 2 - left_out[0], low + high + tie - left_out[1]
        outcomes = np.stack([won, total - won, np.zeros_like(won)])
        outcomes[outcomes < NO_BATTLE] = 0.0
        return PairCounts(
            systems=self.pairs.systems, low=self.pairs.low, high=self.pairs.high, outcomes=outcomes
        )


def _summed_rows(matrix: csr_array, rows: Ints, times: NDArray[Any]) -> Floats:
    """(P,) sums of some rows of a matrix, each so many times."""
    edges = matrix.indptr
    spans = [slice(*ends) for ends in zip(edges[rows].tolist(), edges[rows + 1].tolist(), strict=True)]
    place, values = (
        np.concatenate([part[:0], *(part[span] for span in spans)]) for part in (matrix.indices, matrix.data)
    )
    values = values * np.repeat(times, edges[rows + 1] - edges[rows])
    return np.bincount(place, values, matrix.shape[1]).astype(np.float64, copy=False)


def question_units(table: BattleTable, pairs: PairCounts) -> Units:
    """Each question as a unit of its own."""
    kinds = len(table.questions)
    copies = np.ones(kinds, dtype=np.int64)
    cells = count_cells(table, pairs)
    if cells is not None:
        met = cells.doubled >= 0
        first, spread = _first_of_each(np.packbits(row).tobytes() for row in met)
        total = csr_array(met[first].astype(np.float64))
        won = cells.shares(above=0.0)
        return Units(pairs=pairs, won=won, total=total, spread=spread, copies=copies, cells=cells)
    place, swapped = locate_rows(table, pairs)
    shape = (kinds, len(pairs.low))
    weight = np.ones(len(table)) if table.weight is None else table.weight
    total, spread = _distinct(_summed(weight, table.question, place, shape))
    share = _shares(table, swapped)
    won = _summed(share if table.weight is None else table.weight * share, table.question, place, shape)
    won.eliminate_zeros()
    return Units(pairs=pairs, won=won, total=total, spread=spread, copies=copies)


def _distinct(matrix: csr_array) -> tuple[csr_array, Ints]:
    """The rows of a matrix that differ, and the place among them of each row."""
    edges = matrix.indptr.tolist()
    spans = (slice(*ends) for ends in pairwise(edges))
    first, place = _first_of_each(
        matrix.indices[span].tobytes() + matrix.data[span].tobytes() for span in spans
    )
    return matrix[first], place


def _first_of_each(keys: Iterable[bytes]) -> tuple[Ints, Ints]:
    """Where each key stands first, and the place of every key among these."""
    found: dict[bytes, int] = {}
    place = np.array([found.setdefault(key, len(found)) for key in keys], dtype=np.int64)
    _, first = np.unique(place, return_index=True)
    return first, place


def battle_kinds(table: BattleTable, pairs: PairCounts) -> tuple[Units, NDArray[np.unsignedinteger[Any]]]:
    """Battles by what they say: the same pair with the same result. Also the kind of each row."""
    place, swapped = locate_rows(table, pairs)
    shares, code = _share_codes(table, swapped)
    key = place.astype(np.int64)
    key *= len(shares)
    key += code
    size = len(pairs.low) * len(shares)
    if size > max(DENSE_CELLS, len(table)):
        keys, kind, copies = np.unique(key, return_inverse=True, return_counts=True)
    else:
        counts = np.bincount(key, minlength=size)
        keys = np.flatnonzero(counts)
        copies = counts[keys]
        kind = (np.cumsum(counts > 0) - 1).astype(np.min_scalar_type(len(keys)))[key]
    rows = np.arange(len(keys))
    column, outcome = np.divmod(keys, len(shares))
    shape = (len(keys), len(pairs.low))
    won = coo_array((shares[outcome], (rows, column)), shape=shape).tocsr()
    total = eye_array(len(pairs.low), format="csr")
    units = Units(pairs=pairs, won=won, total=total, spread=column, copies=copies)
    return units, kind.astype(np.min_scalar_type(len(keys)), copy=False)


def _share_codes(table: BattleTable, swapped: NDArray[np.bool_]) -> tuple[Floats, NDArray[Any]]:
    """The shares of the win that low ends have, rising, and the place among them of each row's."""
    if table.score is not None:
        return np.unique(np.where(swapped, 1 - table.share, table.share), return_inverse=True)
    shares = np.array([0.0, 0.5, 1.0])
    code = np.array([2, 0, 1], dtype=np.int8)[table.winner]
    return shares, np.where(swapped, 2 - code, code)


def _shares(table: BattleTable, swapped: NDArray[np.bool_]) -> Floats:
    """(N,) shares of the win that the low ends have."""
    share = table.share
    np.subtract(1, share, out=share, where=swapped)
    return share


def _summed(values: Floats, kind: NDArray[Any], place: NDArray[Any], shape: tuple[int, int]) -> csr_array:
    """(K, P) sums of rows by their kind and pair."""
    return coo_array((values, (kind, place)), shape=shape).tocsr()


@dataclass(frozen=True, eq=False, kw_only=True)
class Refit:
    """What is left of a group without some units.

    Attributes:
        removed: (K,) how many units of each kind are left out.
        left_out: (2, P) wins of low ends, and battles, in them.
        gap: Rating of the first system less that of the second, in log-odds; NaN where the battles that are
            left do not compare the two.
        theta: (S,) log-odds ratings of the systems that are rated together with the two, NaN of others.
        pairs: The counts that are left.
    """

    removed: Ints
    left_out: Floats
    gap: float
    theta: Floats
    pairs: PairCounts

    @property
    def exchanged(self) -> bool:
        """Whether the second system stands before the first."""
        return self.gap < -EQUAL

    @property
    def size(self) -> int:
        """How many units are left out."""
        return int(self.removed.sum())


def refit_pairs(pairs: PairCounts, first: int, second: int, start: Floats | None = None) -> Floats:
    """(S,) log-odds ratings of the systems that are rated together with two; NaN of all others.

    All are NaN where the battles do not compare the two.
    """
    theta = np.full(pairs.systems, np.nan)
    members = np.arange(pairs.systems)
    if not is_one_group(pairs):
        label = find_groups(pairs).label
        if label[first] != label[second]:
            return theta
        members = np.flatnonzero(label == label[first])
    inner, _ = pairs.among(members)
    try:
        theta[members] = fit(BradleyTerry(), inner, start=None if start is None else start[members]).theta
    except UnrankableError:
        # Rounding dust of weights may be all that joins two systems.
        return theta
    return theta


@dataclass(frozen=True, eq=False, kw_only=True)
class Search:
    """The search for units that decide whether one system stands before another.

    Attributes:
        units: What may be left out.
        theta: (S,) log-odds ratings by all battles.
        first: Code of the system that stands before the other.
        second: Code of the other.
        most: The largest set that is looked for.
    """

    units: Units
    theta: Floats
    first: int
    second: int
    most: int

    def smallest(self) -> Refit | None:
        """The smallest set found whose removal exchanges the two; None where none was found."""
        best, (at, influence) = None, self.full
        for number in range(ROUNDS):
            longest = self.most if best is None else best.size - 1
            tried = self._shortest_prefix(influence if not number else self.influence(at), longest)
            if tried is None or (not tried.exchanged and best is not None):
                break
            at = tried
            best = tried if tried.exchanged else best
        if best is None:
            best = self._exchanged_members(at, fewer=0)
        while best is not None and (shorter := self._exchanged_members(best, fewer=1)) is not None:
            best = shorter
        return best

    @cached_property
    def full(self) -> tuple[Refit, Floats]:
        """The fit of all battles, and the influence of units at it."""
        at = self.refit(np.zeros_like(self.units.copies))
        return at, self.influence(at)

    def refit(self, removed: Ints, near: Refit | None = None) -> Refit:
        """Fit what is left; sums are told from those of a refit without much the same units."""
        left_out = self.units.left_out(removed, near)
        pairs = self.units.without(left_out)
        # What is near starts nearer, but for the systems that it does not rate.
        start = self.theta if near is None else np.where(np.isnan(near.theta), self.theta, near.theta)
        theta = refit_pairs(pairs, self.first, self.second, start)
        gap = float(theta[self.first] - theta[self.second])
        return Refit(removed=removed, left_out=left_out, gap=gap, theta=theta, pairs=pairs)

    def influence(self, at: Refit) -> Floats:
        """(K,) how much the difference falls where one unit of a kind is left out, to first order.

        At a refit, units that are left out already count as if they were left out last. All are 0 where the
        refit does not compare the two.
        """
        members = np.flatnonzero(~np.isnan(at.theta))
        inner, inside = at.pairs.among(members)
        reach, expected = np.zeros(len(inside)), np.zeros(len(inside))
        if len(members):
            theta = at.theta[members]
            expected[inside] = sigmoid(theta[inner.low] - theta[inner.high])
            curvature = inner.totals * expected[inside] * (1 - expected[inside])
            contrast = (members == self.first) * 1.0 - (members == self.second)
            towards = laplacian_solver(inner, curvature)(contrast)
            reach[inside] = towards[inner.low] - towards[inner.high]
        return self.units.sums(reach, expected * reach)

    def _shortest_prefix(self, influence: Floats, most: int) -> Refit | None:
        """The fewest of the most influential units without which the two are exchanged.

        Where none are, the longest beginning that compares the two; None where nothing can be left out.
        """
        order = np.argsort(-influence, kind="stable")
        order = order[influence[order] > 0]
        longest = min(int(self.units.copies[order].sum()), most)
        if longest <= FEW_UNITS:
            return self._first_prefix(order, longest)
        predicted = _reaching(
            influence[order], self.units.copies[order], self.theta[self.first] - self.theta[self.second]
        )
        fewest, tried = 0, self.refit(self._prefix(order, min(predicted, longest)))
        while not tried.exchanged and tried.size < longest:
            fewest = tried.size
            size = min(tried.size + tried.size // 8 + 1, longest)
            tried = self.refit(self._prefix(order, size), tried)
        shortest = tried
        while shortest.exchanged and fewest + 1 < shortest.size:
            tried = self.refit(self._prefix(order, (fewest + shortest.size) // 2), tried)
            shortest, fewest = (tried, fewest) if tried.exchanged else (shortest, tried.size)
        return None if np.isnan(shortest.gap) else shortest

    def _first_prefix(self, order: Ints, longest: int) -> Refit | None:
        compared = tried = None
        for size in range(1, longest + 1):
            tried = self.refit(self._prefix(order, size), tried)
            if tried.exchanged:
                return tried
            compared = compared if np.isnan(tried.gap) else tried
        return compared

    def _prefix(self, order: Ints, size: int) -> Ints:
        """(K,) the first so many units of an order."""
        removed = np.zeros_like(self.units.copies)
        copies = self.units.copies[order]
        removed[order] = np.clip(size - (np.cumsum(copies) - copies), 0, copies)
        return removed

    def _exchanged_members(self, at: Refit, *, fewer: int) -> Refit | None:
        """A set with some members exchanged for others, or for fewer by one, that still exchanges the two.

        The most promising by a Newton step are refitted.
        """
        for _ in range(ROUNDS):
            if at.size <= fewer or self.units.pairs.systems > STACKED_SYSTEMS:
                return None
            changes = self._neighbours(at, fewer)
            if not changes.shape[0]:
                return None
            promising = np.argsort(self._stepped_gaps(at, changes), kind="stable")[:VERIFIED]
            refits = [self.refit(at.removed + change, at) for change in changes[promising].toarray()]
            lowest = min(refits, key=lambda tried: np.inf if np.isnan(tried.gap) else tried.gap)
            if lowest.exchanged:
                return lowest
            if fewer or not lowest.gap < at.gap - EQUAL:
                return None
            at = lowest
        return None

    def _neighbours(self, at: Refit, fewer: int) -> csr_array:
        """(T, K) changes: up to three of the least influential members put back for the best others."""
        influence = self.influence(at)
        members = _listed(np.argsort(influence, kind="stable"), at.removed)
        others = _listed(np.argsort(-influence, kind="stable"), self.units.copies - at.removed)
        most = 3 if self.most <= FEW_UNITS else 2
        changes = {
            (back, out)
            for size in range(1, min(most, len(members)) + 1)
            for back in combinations(members, size)
            for out in combinations(others, size - fewer)
        }
        ordered = sorted(changes)
        lengths = np.array([len(back) + len(out) for back, out in ordered], dtype=np.int64)
        kinds = np.array([kind for back, out in ordered for kind in (*back, *out)], dtype=np.int64)
        signs = np.array([sign for back, out in ordered for sign in (*[-1] * len(back), *[1] * len(out))])
        places = np.repeat(np.arange(len(ordered)), lengths)
        return coo_array((signs, (places, kinds)), shape=(len(ordered), len(self.units.copies))).tocsr()

    def _stepped_gaps(self, at: Refit, changes: csr_array) -> Floats:
        """(T,) differences after each change, by a Newton step with the information that it leaves."""
        pairs, units = self.units.pairs, self.units
        theta = np.where(np.isnan(at.theta), 0.0, at.theta)
        expected = sigmoid(theta[pairs.low] - theta[pairs.high])
        won, totals = units.changes(changes)
        won, totals = at.pairs.outcomes[0] - won, at.pairs.totals - totals
        curvature = totals * expected * (1 - expected)
        matrix = np.zeros((len(totals), pairs.systems, pairs.systems))
        matrix[:, pairs.low, pairs.high] = matrix[:, pairs.high, pairs.low] = -curvature
        inner = np.arange(pairs.systems)
        matrix[:, inner, inner] = -matrix.sum(axis=2)
        # Fixes the gauge, and holds systems without a battle.
        scale = np.trace(matrix, axis1=1, axis2=2)[:, None, None]
        matrix += scale * (1 / pairs.systems**2 + NO_BATTLE * np.eye(pairs.systems))
        ends = np.zeros((len(pairs.low), pairs.systems))
        ends[np.arange(len(ends)), pairs.low], ends[np.arange(len(ends)), pairs.high] = 1.0, -1.0
        step = np.linalg.solve(matrix, ((won - totals * expected) @ ends)[:, :, None])[:, :, 0]
        return np.asarray(at.gap + step[:, self.first] - step[:, self.second])


def _reaching(influence: Floats, copies: Ints, gap: float) -> int:
    """How many units, kind after kind, come to a gap if each of them does what it does alone."""
    sums, units = np.cumsum(influence * copies), np.cumsum(copies)
    kind = int(np.searchsorted(sums, gap))
    if kind == len(sums):
        return int(units[-1]) + 1
    before, taken = (float(sums[kind - 1]), int(units[kind - 1])) if kind else (0.0, 0)
    return taken + min(int((gap - before) / influence[kind]) + 1, int(copies[kind]))


def _listed(order: Ints, counts: Ints) -> list[int]:
    """The first few units in an order of kinds, of each kind as many as there are."""
    order = order[counts[order] > 0][:NEAR]
    kinds: list[int] = np.repeat(order, np.minimum(counts[order], NEAR))[:NEAR].tolist()
    return kinds
