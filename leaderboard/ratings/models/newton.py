"""Maximum likelihood fit of one group of systems, with a convergence certificate."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.sparse.linalg import cg, splu

from data.errors import UnrankableError
from leaderboard.ratings.counts import HIGH, LOW, TIE, Floats, PairCounts
from leaderboard.ratings.models.existence import ties_settle
from leaderboard.ratings.models.likelihoods import BradleyTerry, PairModel, Terms

# Above this many systems no systems × systems array is built.
SPARSE_ABOVE = 2_000

STEPS = 200
HALVINGS = 40
TINY_STEP = 1e-13
STALLED_STEP = 1e-8
# Largest difference of observed and expected wins of a converged fit, as a share of a system's battles.
CERTIFIED = 1e-7

Solver = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False, kw_only=True)
class Ridge:
    """Normal prior on each log-odds rating.

    Attributes:
        precision: (S,) inverse variances.
        centre: (S,) means, or (S, B) one mean per draw.
    """

    precision: Floats
    centre: Floats

    def spread(self, draws: int) -> "Ridge":
        """Return the same prior with one column of means for each draw."""
        if self.centre.ndim > 1:
            return self
        return Ridge(precision=self.precision, centre=np.repeat(self.centre[:, None], draws, axis=1))

    def columns(self, chosen: slice | NDArray[np.int64] | NDArray[np.bool_]) -> "Ridge":
        """Select draws."""
        return Ridge(precision=self.precision, centre=np.ascontiguousarray(self.centre[:, chosen]))


@dataclass(frozen=True, eq=False, kw_only=True)
class Fit:
    """Converged fit.

    Attributes:
        theta: (S,) log-odds ratings, mean 0 unless a prior fixes them.
        tie: Tie parameter on its model's scale; 0 without one or without ties.
        curvature: (P,) minus the second derivative of each pair's log-likelihood by its gap.
        gap_tie: (P,) minus the mixed derivative; zeros without a tie parameter.
        gradient_norm: Largest difference of observed and expected wins, as a share of battles.
    """

    theta: Floats
    tie: float
    has_tie: bool
    curvature: Floats
    gap_tie: Floats
    tie_tie: float
    gradient_norm: float


def fit(model: PairModel, pairs: PairCounts, ridge: Ridge | None = None, start: Floats | None = None) -> Fit:
    """Maximise the likelihood, or with a prior the posterior, by damped Newton steps."""
    scale = len(pairs.low) / pairs.totals.sum() if len(pairs.low) else 1.0
    tied = float(pairs.outcomes[TIE].sum() / pairs.totals.sum()) if len(pairs.low) else 0.0
    has_tie = model.ties and tied > 0
    if has_tie and not pairs.outcomes[[LOW, HIGH]].any():
        message = "Every battle was tied, so the tie parameter has no finite estimate."
        raise UnrankableError(message, advice="Use the method bradley-terry.")
    if has_tie and ridge is None and not ties_settle(pairs):
        message = "All wins and ties agree with one order, so the tie parameter has no finite estimate."
        raise UnrankableError(message, advice="Use the method bradley-terry.")
    if model.ties and not has_tie:
        return fit(BradleyTerry(), pairs, ridge, start)
    data = model.condense(pairs.outcomes * scale)
    prior = None if ridge is None else Ridge(precision=ridge.precision * scale, centre=ridge.centre)
    theta = np.zeros(pairs.systems) if start is None else start.copy()
    tie = model.start(tied) if has_tie else 0.0
    theta, tie = _climb(model, pairs, data, prior, theta, tie, has_tie=has_tie)
    terms = model.terms(theta[pairs.low] - theta[pairs.high], tie, data)
    gradient = _gradient(pairs, terms, prior, theta)
    norm = float(np.max(np.abs(gradient) / np.maximum(scale * pairs.battles, 1e-300), initial=0.0))
    if not norm <= CERTIFIED:
        message = f"The fit did not converge: wins are off by {norm:.1e} of a system's battles."
        raise UnrankableError(message, advice="This is a bug: please report it with these battles.")
    zeros = np.zeros(len(pairs.low))
    return Fit(
        theta=theta,
        tie=tie,
        has_tie=has_tie,
        curvature=terms.gap_gap / scale,
        gap_tie=zeros if terms.gap_tie is None or not has_tie else terms.gap_tie / scale,
        tie_tie=0.0 if terms.tie_tie is None or not has_tie else float(terms.tie_tie.sum() / scale),
        gradient_norm=norm,
    )


def _climb(
    model: PairModel,
    pairs: PairCounts,
    data: tuple[Floats, ...],
    prior: Ridge | None,
    theta: Floats,
    tie: float,
    *,
    has_tie: bool,
) -> tuple[Floats, float]:
    terms, value = _objective(model, pairs, data, prior, theta, tie)
    before = np.inf
    for _ in range(STEPS):
        gradient = _gradient(pairs, terms, prior, theta)
        solve = laplacian_solver(pairs, terms.gap_gap, None if prior is None else prior.precision)
        step, tie_step = _newton_step(pairs, terms, gradient, solve, has_tie=has_tie)
        size = 1.0
        for _ in range(HALVINGS):
            trial, trial_tie = theta + size * step, tie + size * tie_step
            trial_terms, trial_value = _objective(model, pairs, data, prior, trial, trial_tie)
            if trial_value >= value - 1e-12 * abs(value):
                break
            size /= 2
        theta, tie, terms, value = trial, trial_tie, trial_terms, trial_value
        moved = max(float(np.max(np.abs(step), initial=0.0)), abs(tie_step))
        stalled = moved < STALLED_STEP and moved > before / 2  # only rounding error remains
        if size == 1.0 and (moved < TINY_STEP or stalled):
            break
        before = moved
    return theta, tie


def _objective(
    model: PairModel,
    pairs: PairCounts,
    data: tuple[Floats, ...],
    prior: Ridge | None,
    theta: Floats,
    tie: float,
) -> tuple[Terms, float]:
    terms = model.terms(theta[pairs.low] - theta[pairs.high], tie, data)
    value = float(terms.value.sum())
    if prior is not None:
        value -= float((prior.precision * (theta - prior.centre) ** 2).sum()) / 2
    return terms, value


def _gradient(pairs: PairCounts, terms: Terms, prior: Ridge | None, theta: Floats) -> Floats:
    gradient = pairs.sum_ends(terms.gap, -terms.gap)
    return gradient if prior is None else gradient - prior.precision * (theta - prior.centre)


def _newton_step(
    pairs: PairCounts, terms: Terms, gradient: Floats, solve: Solver, *, has_tie: bool
) -> tuple[Floats, float]:
    if not has_tie or terms.tie is None or terms.gap_tie is None or terms.tie_tie is None:
        return solve(gradient), 0.0
    border = pairs.sum_ends(terms.gap_tie, -terms.gap_tie)
    inner, edge = solve(gradient), solve(border)
    tie_step = float((terms.tie.sum() - border @ inner) / (terms.tie_tie.sum() - border @ edge))
    return inner - tie_step * edge, tie_step


def laplacian_solver(pairs: PairCounts, curvature: Floats, precision: Floats | None = None) -> Solver:
    """Return a solver for the information matrix of a group, with mean zero unless a prior fixes the scale.

    Dense Cholesky up to `SPARSE_ABOVE` systems; beyond that conjugate gradients on the sparse matrix, and a
    sparse factorisation if these do not converge (long chains).
    """
    if pairs.systems <= SPARSE_ABOVE:
        matrix = information(pairs, curvature)
        if precision is None:
            matrix += np.trace(matrix) / pairs.systems**2
        else:
            np.einsum("ii->i", matrix)[:] += precision
        # LAPACK directly: the checks of `cho_factor` and `cho_solve` take as long as the solution.
        factor, failed = dpotrf(matrix, lower=True, overwrite_a=True, clean=False)
        if failed:
            message = "The weights of these battles differ by more than floating point can represent."
            raise UnrankableError(message, advice="Put the weights on a common scale.")
        return lambda right: np.asarray(dpotrs(factor, right, lower=True)[0])
    return _sparse_solver(pairs, curvature, precision)


def information(pairs: PairCounts, curvature: Floats) -> Floats:
    """(S, S) weighted graph Laplacian: the information matrix of the ratings."""
    matrix = np.zeros((pairs.systems, pairs.systems))
    matrix[pairs.low, pairs.high] = -curvature
    matrix[pairs.high, pairs.low] = -curvature
    np.einsum("ii->i", matrix)[:] = pairs.sum_ends(curvature, curvature)
    return matrix


def _sparse_solver(pairs: PairCounts, curvature: Floats, precision: Floats | None) -> Solver:
    size = pairs.systems
    diagonal = pairs.sum_ends(curvature, curvature) + (0.0 if precision is None else precision)
    ends = (np.concatenate([pairs.low, pairs.high]), np.concatenate([pairs.high, pairs.low]))
    entries = (np.concatenate([-curvature, -curvature]), ends)
    matrix = csr_array(coo_array(entries, shape=(size, size)) + diags_array(diagonal))
    jacobi = diags_array(1 / diagonal)

    def solve(right: Floats) -> Floats:
        if right.ndim > 1:
            return np.stack([solve(column) for column in right.T], axis=1)
        solution, failed = cg(matrix, right, rtol=1e-13, maxiter=1_000, M=jacobi)
        if failed:
            solution = _factor_solve(matrix, right, grounded=precision is None)
        return solution - solution.mean() if precision is None else solution

    return solve


def _factor_solve(matrix: csr_array, right: Floats, *, grounded: bool) -> Floats:
    """Solve by factorisation; `grounded` fixes the last system at 0 if no prior fixes the scale."""
    size = matrix.shape[0] - 1 if grounded else matrix.shape[0]
    factor = splu(matrix[:size, :size].tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0)
    solution = np.zeros(matrix.shape[0])
    solution[:size] = factor.solve(right[:size])
    return solution
