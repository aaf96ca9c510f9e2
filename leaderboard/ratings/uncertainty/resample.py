"""Joint bootstrap draws: all resamples of a chunk are solved at once.

Each resample is a reweighting of questions (or battles), so only the pairs' counts change. Every chunk has
its own random stream and a fixed size, so neither threads nor memory change a byte.

Source: Rubin (1981) for gamma weights, which are never 0.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array, csr_array

from data.parallel import parallel_map
from data.progress import counted
from leaderboard.battles import BattleTable
from leaderboard.ratings.counts import (
    TIE,
    Cells,
    Floats,
    PairCounts,
    count_by_cluster,
    count_cells,
    one_thread,
)
from leaderboard.ratings.models.existence import is_one_group, ties_settle
from leaderboard.ratings.models.likelihoods import PairModel
from leaderboard.ratings.models.newton import Fit, Ridge, information
from leaderboard.ratings.vocabulary import Cluster

# Numbers of one (3 P, draws) or (clusters, draws) array of a chunk: 16 MB.
CHUNK_NUMBERS = 2_000_000
CHUNK_DRAWS = 128

SETTLED = 1e-9
CHORD_STEPS = 16
NEWTON_STEPS = 60
STACK_NUMBERS = 4_000_000


@dataclass(frozen=True, eq=False, kw_only=True)
class Units:
    """Units of resampling: (clusters, 3 P) counts `by_cluster`, or None to resample single battles."""

    by_cluster: csc_array | Cells | None
    pairs: PairCounts

    @classmethod
    def of(cls, model: PairModel, table: BattleTable, pairs: PairCounts, cluster: Cluster) -> "Units":
        """Build the units of resampling; all battles must be among the pairs."""
        if cluster is Cluster.NONE:
            return cls(by_cluster=None, pairs=pairs)
        cells = None if model.ties else count_cells(table, pairs)
        if cells is None:
            by_question = count_by_cluster(table, pairs, table.question, len(table.questions))
            # By column, so that each count is summed in the order of the questions.
            return cls(by_cluster=by_question.tocsc(), pairs=pairs)
        low, high, tie = pairs.outcomes
        halved = np.stack([low + tie / 2, high + tie / 2, np.zeros_like(tie)])
        return cls(by_cluster=cells, pairs=replace(pairs, outcomes=halved))

    def chunk(self, draws: int) -> int:
        """Return the number of draws per chunk, which depends only on the battles."""
        tall = 3 * len(self.pairs.low) if self.by_cluster is None else max(self.by_cluster.shape)
        return int(np.clip(CHUNK_NUMBERS // max(tall, 1), 8, min(CHUNK_DRAWS, max(draws, 8))))

    def outcomes(self, rng: np.random.Generator, draws: int) -> Floats:
        """(3, P, draws) reweighted outcome counts; each draw has the same total as the battles."""
        totals = self.pairs.outcomes.reshape(-1)
        if self.by_cluster is None:
            resampled = rng.standard_gamma(totals[:, None], (len(totals), draws))
        else:
            weights = rng.standard_exponential((self.by_cluster.shape[0], draws))
            sums = self.by_cluster
            resampled = sums.reweighted(weights) if isinstance(sums, Cells) else sums.T @ weights
        resampled *= totals.sum() / np.maximum(resampled.sum(axis=0), 1e-300)
        return resampled.reshape(3, -1, draws)


def draw(
    model: PairModel, fit: Fit, units: Units, *, draws: int, seed: int, ridge: Ridge | None = None
) -> Floats:
    """Draw joint bootstrap ratings of one group.

    Each draw starts from the full fit and takes chord steps with its inverse information; draws that do not
    converge take Newton steps.

    Returns:
        (draws, S) log-odds ratings; a row of NaN if a resample has no estimate.
    """
    drawing = _Drawing(
        model=model,
        fit=fit,
        units=units,
        inverse=joint_inverse(units.pairs, fit, ridge),
        ridge=None if ridge is None else ridge.spread(draws),
        draws=draws,
        seed=seed,
    )
    chunks = range(-(-draws // units.chunk(draws)))
    parts = parallel_map(_draw_chunk, ((number,) for number in chunks), (drawing,), total=len(chunks))
    thetas = np.empty((draws, units.pairs.systems))
    first = 0
    for part in counted(parts, "resampling, in parts", len(chunks)):
        thetas[first : first + len(part)] = part
        first += len(part)
    return thetas


@dataclass(frozen=True, eq=False, kw_only=True)
class _Drawing:
    """Arguments of `draw` shared by all chunks."""

    model: PairModel
    fit: Fit
    units: Units
    inverse: Floats
    ridge: Ridge | None
    draws: int
    seed: int


def _draw_chunk(drawing: _Drawing, number: int) -> Floats:
    """(draws of the chunk, S) ratings, computed on one thread."""
    size = drawing.units.chunk(drawing.draws)
    first = number * size
    count = min(size, drawing.draws - first)
    rng = np.random.default_rng([drawing.seed, number])
    with one_thread():
        outcomes = drawing.units.outcomes(rng, size)[..., :count]
        ridge = None if drawing.ridge is None else drawing.ridge.columns(slice(first, first + count))
        pairs = drawing.units.pairs
        return solve_draws(drawing.model, drawing.fit, pairs, outcomes, drawing.inverse, ridge)


def joint_inverse(pairs: PairCounts, fit: Fit, ridge: Ridge | None = None) -> Floats:
    """(K, K) inverse information of ratings and, last, of the tie parameter if it was estimated."""
    matrix = information(pairs, fit.curvature)
    if ridge is None:
        matrix += np.trace(matrix) / pairs.systems**2
    else:
        matrix[np.diag_indices_from(matrix)] += ridge.precision
    if fit.has_tie:
        border = pairs.sum_ends(fit.gap_tie, -fit.gap_tie)[:, None]
        matrix = np.block([[matrix, border], [border.T, np.array([[fit.tie_tie]])]])
    inverse = np.linalg.inv(matrix)
    return np.asarray((inverse + inverse.T) / 2)


def solve_draws(
    model: PairModel, fit: Fit, pairs: PairCounts, outcomes: Floats, inverse: Floats, ridge: Ridge | None
) -> Floats:
    """(draws, S) maximum likelihood ratings of (3, P, draws) outcomes; NaN without an estimate."""
    free, draws = len(inverse), outcomes.shape[2]
    start = np.append(fit.theta, fit.tie) if fit.has_tie else fit.theta
    thetas = np.repeat(start[:, None], draws, axis=1)
    likelihood = _Likelihood(
        model=model,
        pairs=pairs,
        ends=_incidence(pairs),
        data=model.condense(outcomes),
        ridge=ridge,
        has_tie=fit.has_tie,
    )
    active = np.arange(draws)
    remaining, point = likelihood, thetas
    for _ in range(CHORD_STEPS):
        with np.errstate(over="ignore", invalid="ignore"):  # chord steps may diverge; Newton steps follow
            step = inverse @ remaining.slope(point)
            point = point + step
            moved = np.abs(step).max(axis=0)
        settled = moved < SETTLED
        if settled.any():
            thetas[:, active[settled]] = point[:, settled]
            active, point = active[~settled], np.ascontiguousarray(point[:, ~settled])
            remaining = replace(
                remaining,
                data=tuple(np.ascontiguousarray(part[:, ~settled]) for part in remaining.data),
                ridge=None if remaining.ridge is None else remaining.ridge.columns(~settled),
            )
        if not len(active):
            break
    if len(active) and ridge is None:
        exists = _existing(fit, pairs, outcomes[..., active])
        thetas[:, active[~exists]] = np.nan
        active = active[exists]
    room = max(STACK_NUMBERS // free**2, 1)
    for first in range(0, len(active), room):
        columns = active[first : first + room]
        part = replace(
            likelihood,
            data=tuple(part[:, columns] for part in likelihood.data),
            ridge=None if ridge is None else ridge.columns(columns),
        )
        thetas[:, columns] = _newton_draws(part, fit, len(columns))
    return thetas[: pairs.systems].T


def _existing(fit: Fit, pairs: PairCounts, outcomes: Floats) -> NDArray[np.bool_]:
    """(draws,) whether an estimate exists; it does if no observed outcome has weight 0."""
    exists = ~((outcomes == 0) & (pairs.outcomes > 0)[..., None]).any(axis=(0, 1))
    for column in np.flatnonzero(~exists).tolist():
        part = replace(pairs, outcomes=outcomes[..., column])
        has_tie = bool(part.outcomes[TIE].any())
        exists[column] = is_one_group(part) and (not fit.has_tie or (has_tie and ties_settle(part)))
    return np.asarray(exists)


def _incidence(pairs: PairCounts) -> csr_array:
    """(S, P): +1 if a system is a pair's low end, −1 if it is the high end."""
    number = np.arange(len(pairs.low))
    entries = np.repeat([1.0, -1.0], len(number))
    places = (np.concatenate([pairs.low, pairs.high]), np.tile(number, 2))
    return csr_array(coo_array((entries, places), shape=(pairs.systems, len(number))))


@dataclass(frozen=True, eq=False, kw_only=True)
class _Likelihood:
    """Penalised log-likelihood of a stack of draws at (K, draws) points."""

    model: PairModel
    pairs: PairCounts
    ends: csr_array
    data: tuple[Floats, ...]
    ridge: Ridge | None
    has_tie: bool

    def value(self, point: Floats) -> Floats:
        """(draws,) values."""
        theta, gap, tie = self._read(point)
        value = self.model.terms(gap, tie, self.data).value.sum(axis=0)
        if self.ridge is not None:
            value = value - (self.ridge.precision[:, None] * (theta - self.ridge.centre) ** 2).sum(axis=0) / 2
        return np.asarray(value)

    def slope(self, point: Floats) -> Floats:
        """(K, draws) first derivatives."""
        theta, gap, tie = self._read(point)
        at_gap, at_tie = self.model.slope(gap, tie, self.data)
        slope = self.ends @ at_gap
        if self.ridge is not None:
            slope -= self.ridge.precision[:, None] * (theta - self.ridge.centre)
        if self.has_tie and at_tie is not None:
            slope = np.concatenate([slope, at_tie.sum(axis=0, keepdims=True)])
        return np.asarray(slope)

    def newton_steps(self, point: Floats) -> Floats:
        """(K, draws) steps to the maximum of each draw's parabola."""
        _, gap, tie = self._read(point)
        terms = self.model.terms(gap, tie, self.data)
        pairs, size, (free, draws) = self.pairs, self.pairs.systems, point.shape
        matrix = np.zeros((draws, free, free))
        matrix[:, pairs.low, pairs.high] = matrix[:, pairs.high, pairs.low] = -terms.gap_gap.T
        inner = np.arange(size)
        diagonal = abs(self.ends) @ terms.gap_gap
        # Avoids a singular matrix in flat directions; the line search limits the longer step.
        matrix[:, inner, inner] = diagonal.T + 1e-12 * diagonal.max(axis=0)[:, None]
        if self.ridge is None:
            matrix[:, :size, :size] += (diagonal.sum(axis=0) / size**2)[:, None, None]
        else:
            matrix[:, inner, inner] += self.ridge.precision
        if self.has_tie and terms.gap_tie is not None and terms.tie_tie is not None:
            border = self.ends @ terms.gap_tie
            matrix[:, :size, -1] = matrix[:, -1, :size] = border.T
            matrix[:, -1, -1] = terms.tie_tie.sum(axis=0)
        slope = self.slope(point)
        return np.asarray(np.linalg.solve(matrix, slope.T[:, :, None])[:, :, 0].T, dtype=np.float64)

    def _read(self, point: Floats) -> tuple[Floats, Floats, Floats | float]:
        theta = point[: self.pairs.systems]
        return theta, theta[self.pairs.low] - theta[self.pairs.high], point[-1] if self.has_tie else 0.0


def _newton_draws(likelihood: _Likelihood, fit: Fit, draws: int) -> Floats:
    """(K, draws) maximisers by damped Newton steps on the whole stack; NaN if there is none."""
    start = np.append(fit.theta, fit.tie) if fit.has_tie else fit.theta
    point = np.repeat(start[:, None], draws, axis=1)
    settled = np.zeros(draws, dtype=bool)
    value = likelihood.value(point)
    for _ in range(NEWTON_STEPS):
        step = likelihood.newton_steps(point)
        size = np.where(settled, 0.0, 1.0)
        for _ in range(NEWTON_STEPS):
            trial = likelihood.value(point + size * step)
            worse = ~(trial >= value - 1e-12 * np.abs(value))
            if not worse.any():
                break
            size[worse] /= 2
        point, value = point + size * step, trial
        settled |= (np.abs(step).max(axis=0) < SETTLED) & (size == 1)
        if settled.all():
            break
    point[:, ~settled] = np.nan
    return point
