"""Judge-aware Bradley-Terry: ratings from several judges, each with a discrimination of its own.

P(a beats b | judge k) = σ(γ_k (θ_a − θ_b)), a tie being half a win each way. A judge that guesses has γ = 0;
one that contradicts the others has γ < 0, which is allowed: that is a finding, not an error. Shifts of θ, and
factors moved between θ and γ, change no probability. So the mean of θ is 0 (or an anchor fixes it), and the
mean of γ over all verdicts is 1, which also settles the sign: on the whole the verdicts are right. The
geometric mean, which is often held at 1, does not exist where a judge guesses or contradicts.

Given the systems, a verdict of judge k is worth γ_k (θ_a − θ_b) in log-odds, so votes weighed by γ settle a
battle best, whatever the two systems are; a judge with γ ≤ 0 gets no vote.

Sources: Bradley & Terry (1952); Chen, Bennett, Collins-Thompson & Horvitz (2013), "Pairwise ranking
aggregation in a crowdsourced setting", whose judges err alike on every pair, where here they err less the
further two systems are apart; Birnbaum (1968) for discriminations; Nitzan & Paroush (1982) for the weights;
Liang & Zeger (1986) for the intervals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, lapack
from scipy.sparse import csr_array

from data.errors import UnrankableError
from leaderboard.battles import BattleTable
from leaderboard.ratings.counts import Floats, Ints, PairCounts, locate_rows
from leaderboard.ratings.models.likelihoods import BradleyTerry, sigmoid
from leaderboard.ratings.models.newton import CERTIFIED, Ridge, fit
from leaderboard.ratings.result import Settings
from leaderboard.ratings.vocabulary import Cluster

STEPS = 200
HALVINGS = 40
SMALL_STEP = 1e-10
LEAST_JUDGES = 2
# Reciprocal condition number below which judges and systems cannot be told apart.
SINGULAR = 1e-13


@dataclass(frozen=True, eq=False, kw_only=True)
class Cells:
    """How each pair fared with each judge: (C,) columns, and (K,) shares of all verdicts."""

    systems: int
    judge: Ints
    low: Ints
    high: Ints
    total: Floats
    won: Floats
    part: Floats

    def at(self, point: Floats) -> tuple[Floats, Floats, Floats]:
        """(C,) discriminations, gaps, and probabilities that the lower one wins."""
        theta = point[: self.systems]
        gap = theta[self.low] - theta[self.high]
        sharp = point[self.systems :][self.judge]
        return sharp, gap, sigmoid(sharp * gap)

    def value(self, point: Floats) -> float:
        """Log-likelihood."""
        sharp, gap, _ = self.at(point)
        return float((self.won * sharp * gap - self.total * np.logaddexp(0, sharp * gap)).sum())

    def slope(self, point: Floats) -> Floats:
        """(S + K,) gradient."""
        sharp, gap, chance = self.at(point)
        rest = self.won - self.total * chance
        return np.concatenate([self._ends(sharp * rest), np.bincount(self.judge, rest * gap, len(self.part))])

    def information(self, point: Floats, *, observed: bool) -> Floats:
        """(S + K, S + K) minus the second derivatives, or what they are on average."""
        sharp, gap, chance = self.at(point)
        curve = self.total * chance * (1 - chance)
        size, judges = self.systems, len(self.part)
        matrix = np.zeros((size + judges, size + judges))
        between = sharp**2 * curve
        np.add.at(matrix, (self.low, self.high), -between)
        np.add.at(matrix, (self.high, self.low), -between)
        np.fill_diagonal(matrix[:size, :size], self._sums(between))
        mixed = sharp * gap * curve - (self.won - self.total * chance if observed else 0.0)
        np.add.at(matrix, (self.low, size + self.judge), mixed)
        np.add.at(matrix, (self.high, size + self.judge), -mixed)
        matrix[size:, :size] = matrix[:size, size:].T
        inner = np.arange(size, size + judges)
        matrix[inner, inner] = np.bincount(self.judge, gap**2 * curve, judges)
        return matrix

    def _ends(self, values: Floats) -> Floats:
        return np.asarray(
            np.bincount(self.low, values, self.systems) - np.bincount(self.high, values, self.systems)
        )

    def _sums(self, values: Floats) -> Floats:
        return np.asarray(
            np.bincount(self.low, values, self.systems) + np.bincount(self.high, values, self.systems)
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Rows:
    """(N,) verdicts among the rated systems."""

    judge: Ints
    a: Ints
    b: Ints
    share: Floats
    weight: Floats
    unit: Ints
    questions: int
    table: BattleTable

    @classmethod
    def of(cls, table: BattleTable, judge: Ints, members: Ints) -> Rows:
        """The verdicts among some systems, which are renumbered in their order."""
        place = np.full(len(table.systems), -1, dtype=np.int64)
        place[members] = np.arange(len(members))
        inside = (place[table.a] >= 0) & (place[table.b] >= 0)
        part = table.select(inside)
        present, unit = np.unique(part.question, return_inverse=True)
        a, b = place[part.a], place[part.b]
        return cls(
            judge=judge[inside],
            a=a,
            b=b,
            share=part.share,
            weight=np.ones(len(part)) if part.weight is None else part.weight,
            unit=unit,
            questions=len(present),
            table=replace(part, a=a.astype(np.int32), b=b.astype(np.int32)),
        )


def count_cells(rows: Rows, pairs: PairCounts, judges: int) -> Cells:
    """Sum up the verdicts by judge and pair, in all adding up to 1."""
    place, swapped = locate_rows(rows.table, pairs)
    width = len(pairs.low)
    key = rows.judge * width + place
    share = np.where(swapped, 1 - rows.share, rows.share)
    total = np.bincount(key, rows.weight, judges * width)
    won = np.bincount(key, rows.weight * share, judges * width)
    used = np.flatnonzero(total > 0)
    judge, pair = np.divmod(used, width)
    scale = float(total.sum())
    return Cells(
        systems=pairs.systems,
        judge=judge,
        low=pairs.low[pair],
        high=pairs.high[pair],
        total=total[used] / scale,
        won=won[used] / scale,
        part=total.reshape(judges, width).sum(axis=1) / scale,
    )


def climb(cells: Cells, pairs: PairCounts) -> Floats:
    """(S + K,) estimate: the better of the climbs from equal judges, and from judges rated one by one."""
    alone = _rated_alone(cells, pairs)
    _, _, axes = np.linalg.svd(np.sqrt(cells.part)[:, None] * alone, full_matrices=False)
    equal = np.ones(len(cells.part))
    starts = [np.concatenate([cells.part @ alone, equal]), np.concatenate([axes[0], alone @ axes[0]])]
    tops = [_settle(cells, _in_gauge(cells, start)) for start in starts]
    point = max(tops, key=cells.value)
    slope = np.abs(cells.slope(point)).max()
    if not slope <= CERTIFIED:
        message = "The judge-aware fit did not settle: a judge may agree with one order in every battle."
        raise UnrankableError(message, advice="Leave that judge out, or judge more battles.")
    return point


def _rated_alone(cells: Cells, pairs: PairCounts) -> Floats:
    """(K, S) log-odds of each judge alone, held together by a weak prior."""
    ridge = Ridge(precision=np.ones(cells.systems) / len(cells.total), centre=np.zeros(cells.systems))
    alone = np.zeros((len(cells.part), cells.systems))
    for judge in np.flatnonzero(cells.part > 0).tolist():
        mine = cells.judge == judge
        won, total = cells.won[mine], cells.total[mine]
        outcomes = np.stack([won, total - won, np.zeros(len(won))])
        counts = PairCounts(
            systems=pairs.systems, low=cells.low[mine], high=cells.high[mine], outcomes=outcomes
        )
        alone[judge] = fit(BradleyTerry(), counts, ridge).theta
    return alone


def _in_gauge(cells: Cells, point: Floats) -> Floats:
    """The same probabilities with mean θ 0 and mean γ 1; equal judges where the mean γ is 0."""
    theta, sharp = point[: cells.systems], point[cells.systems :]
    mean = float(cells.part @ sharp)
    if abs(mean) < SMALL_STEP:
        sharp, mean = np.ones(len(sharp)), 1.0
    return np.concatenate([(theta - theta.mean()) * mean, sharp / mean])


def _settle(cells: Cells, point: Floats) -> Floats:
    """Newton steps within the gauge, by average curvature where the observed one leads nowhere."""
    value = cells.value(point)
    for _ in range(STEPS):
        slope = cells.slope(point)
        step = _bordered(cells, point, observed=True)[0] @ slope
        if not (np.isfinite(step).all() and step @ slope > 0):
            step = _bordered(cells, point, observed=False)[0] @ slope
        size = 1.0
        for _ in range(HALVINGS):
            trial = cells.value(point + size * step)
            if trial >= value - 1e-14 * abs(value):
                break
            size /= 2
        point, value = point + size * step, trial
        if size == 1.0 and np.abs(step).max() < SMALL_STEP:
            break
    return point


def _bordered(cells: Cells, point: Floats, *, observed: bool) -> tuple[Floats, float]:
    """The inverse information within the gauge, and the reciprocal condition of what was inverted.

    It is the upper left block of the inverse of [[H, Cᵀ], [C, 0]], C being the gauge's two conditions.
    """
    size = len(point)
    matrix = np.zeros((size + 2, size + 2))
    matrix[:size, :size] = cells.information(point, observed=observed)
    weight = float(np.trace(matrix)) / size
    matrix[size, : cells.systems] = weight / cells.systems
    matrix[size + 1, cells.systems : size] = weight * cells.part
    matrix[:, size:] = matrix[size:, :].T
    silent = np.flatnonzero(cells.part == 0) + cells.systems
    matrix[silent, silent] = weight
    try:
        inverse = np.linalg.inv(matrix)
    except LinAlgError:
        return np.full((size, size), np.nan), 0.0
    factors, _, _ = lapack.dgetrf(matrix)
    condition, _ = lapack.dgecon(factors, float(np.abs(matrix).sum(axis=0).max()))
    return np.asarray(inverse[:size, :size], dtype=np.float64), float(condition)


def joint_covariance(rows: Rows, cells: Cells, point: Floats, settings: Settings) -> Floats:
    """(S + K, S + K) sandwich covariance within the gauge, questions (or verdicts) being independent."""
    inverse, condition = _bordered(cells, point, observed=True)
    if condition < SINGULAR:
        message = "The battles do not connect the judges: their discriminations have no common scale."
        raise UnrankableError(message, advice="Let judges meet on the same pairs of systems.")
    clustered = settings.cluster is Cluster.QUESTION
    units = rows.questions if clustered else len(rows.judge)
    if units <= 1:
        message = "One question does not say how sure ratings and judges are."
        raise UnrankableError(message, advice="Judge more questions, or cluster by none.")
    unit = rows.unit if clustered else np.arange(units)
    theta, sharp = point[: cells.systems], point[cells.systems :][rows.judge]
    gap = theta[rows.a] - theta[rows.b]
    rest = rows.weight * (rows.share - sigmoid(sharp * gap)) / rows.weight.sum()
    values = np.concatenate([sharp * rest, -sharp * rest, gap * rest])
    columns = np.concatenate([rows.a, rows.b, cells.systems + rows.judge])
    scores = csr_array((values, (np.tile(unit, 3), columns)), shape=(units, len(point)))
    meat = np.asarray((scores.T @ scores).todense())
    return np.asarray(inverse @ (meat * (units / (units - 1) if clustered else 1.0)) @ inverse)
