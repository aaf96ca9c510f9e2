"""Style-controlled Bradley-Terry: ratings as if answers were alike in length, form and position.

Source: Li, Angelopoulos & Chiang, "Does style matter?", LMSYS blog, 28 August 2024.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, diags_array, hstack, vstack

from data.errors import InputError, UnrankableError
from leaderboard.battles import BattleTable
from leaderboard.ratings.assemble import assemble
from leaderboard.ratings.counts import Floats, count_pairs, one_thread
from leaderboard.ratings.estimate import restrict, with_reach
from leaderboard.ratings.models.covariates import ControlledRatings, CovariateColumn, StyleEffect, identify
from leaderboard.ratings.models.likelihoods import sigmoid
from leaderboard.ratings.models.newton import CERTIFIED, SPARSE_ABOVE, TINY_STEP
from leaderboard.ratings.rate import anchor_codes, groups_of, usable
from leaderboard.ratings.result import Settings
from leaderboard.ratings.uncertainty.effective import effective_units
from leaderboard.ratings.uncertainty.intervals import freedom_of, t_quantile
from leaderboard.ratings.vocabulary import POINTS, Cluster, IntervalKind, Method

STEPS, DOUBTFUL = 100, 10
"""Maximum number of Newton steps, and of those before the linear program that looks for separation."""
HALVINGS = 40


@dataclass(frozen=True, eq=False, kw_only=True)
class _Problem:
    """Battles of a group with the (N, S + K) terms of the fit."""

    table: BattleTable
    style: Sequence[Floats]
    terms: csr_array
    weight: Floats

    @classmethod
    def of(cls, table: BattleTable, style: Sequence[Floats]) -> "_Problem":
        weight = np.ones(len(table)) if table.weight is None else table.weight
        return cls(table=table, style=style, terms=terms_of(table, style), weight=weight)

    def rest(self, point: Floats) -> Floats:
        """(N,) weighted residuals: win shares less their expectation."""
        return np.asarray(self.weight * (self.table.share - sigmoid(self.terms @ point)))


@dataclass(frozen=True, eq=False, kw_only=True)
class _Fit:
    """Log-likelihood at a (S + K,) point, its slope, and minus its second derivatives."""

    point: Floats
    value: float
    slope: Floats
    matrix: Floats

    @classmethod
    def at(cls, problem: _Problem, point: Floats) -> "_Fit":
        gap = problem.terms @ point
        chance = sigmoid(gap)
        curve = problem.weight * chance * (1 - chance)
        likelihood = problem.table.share * gap - np.logaddexp(0.0, gap)
        matrix = (problem.terms.T @ (diags_array(curve) @ problem.terms)).toarray()
        # Ratings are defined up to a constant: this fixes their mean at 0.
        systems = len(problem.table.systems)
        matrix[:systems, :systems] += 2 * curve.sum() / systems**2
        return cls(
            point=point,
            value=float((problem.weight * likelihood).sum()),
            slope=np.asarray(problem.terms.T @ problem.rest(point)),
            matrix=np.asarray(matrix),
        )


def rate_under_control(
    battles: BattleTable, columns: Sequence[CovariateColumn], settings: Settings
) -> ControlledRatings:
    """Rate the main group controlling for covariates, with sandwich intervals.

    Columns determined by the systems and earlier columns are left out.
    """
    style = [column.values for column in columns]
    table = usable(battles)
    if battles.weight is not None and len(table) < len(battles):
        style = [column[battles.weight > 0] for column in style]
    table, style = _in_one_order(table, style)
    pairs = count_pairs(table)
    anchor = anchor_codes(table, settings.anchor)
    groups = groups_of(table, pairs, settings)
    members = np.flatnonzero(groups.label == 0)
    if len(members) <= 1:
        message = "Fewer than two systems have ratings, so style cannot be controlled."
        raise UnrankableError(message, advice="Judge more battles.")
    if len(members) > SPARSE_ABOVE:
        message = f"Style control supports up to {SPARSE_ABOVE} systems."
        raise InputError(message, advice="Rate fewer systems at a time.")
    inside = (groups.label[table.a] == 0) & (groups.label[table.b] == 0)
    local = table
    if not inside.all():
        local, style = restrict(table.select(inside), members), [column[inside] for column in style]
    used = replace(settings, method=Method.STYLE, interval=IntervalKind.SANDWICH, bootstrap=None)
    size = len(members)
    with one_thread():
        problem = _Problem.of(local, style)
        start = _Fit.at(problem, np.zeros(problem.terms.shape[1]))
        identified, vif, left_out = identify(columns, start.matrix)
        if left_out:
            problem = _Problem.of(local, [style[place] for place in identified])
            start = _Fit.at(problem, np.zeros(problem.terms.shape[1]))
        point, covariance = _fitted(problem, start, used, [columns[place].name for place in identified])
    fixed = None if anchor is None else np.searchsorted(members, anchor)
    effective = effective_units(local, count_pairs(local), settings.cluster, fixed)
    estimate = with_reach(point, covariance, members, fixed, used, effective)
    units = len(local.questions) if settings.cluster is Cluster.QUESTION else len(local)
    reach = float(t_quantile(freedom_of(units)))
    # Rounding may make a variance of 0 negative.
    se = np.sqrt(np.maximum(np.diag(covariance)[size:], 0.0)) * POINTS
    rows = zip(identified, point[size:] * POINTS, se, vif, strict=True)
    return ControlledRatings(
        ratings=assemble(table, pairs, groups, [estimate], used),
        effects=tuple(
            StyleEffect(
                name=columns[place].name,
                value=float(value),
                se=float(spread),
                lower=float(value - reach * spread),
                upper=float(value + reach * spread),
                scale=columns[place].scale,
                vif=float(inflation),
            )
            for place, value, spread, inflation in rows
        ),
        left_out=left_out,
    )


def _in_one_order(table: BattleTable, style: Sequence[Floats]) -> tuple[BattleTable, list[Floats]]:
    """Sort the battles with the lower code on side a: the last digits of sums depend on the order."""
    swapped = table.a > table.b
    oriented = table.oriented()
    style = [np.where(swapped, -column, column) for column in style]
    weight = () if table.weight is None else (table.weight,)
    order = np.lexsort((*reversed(style), *weight, oriented.share, oriented.b, oriented.a, table.question))
    return oriented.select(order), [column[order] for column in style]


def _require_overlap(problem: _Problem, names: Sequence[str]) -> None:
    covariates = [names[place].replace("_", " ") for place in separating(problem.table, problem.style)]
    if covariates:
        listed = " and ".join(covariates)
        raise UnrankableError(
            f"Ratings controlled for {listed} have no finite values: {listed} and the strengths of the "
            "systems predict every battle without exception (perfect separation).",
            advice=f"Leave out {listed}, or judge more battles.",
        )


def _near_maximum(problem: _Problem, at: _Fit) -> bool:
    """Return whether a point proves a finite maximum (Bach 2010, EJS 4, proposition 2)."""
    longest = 2 + float(np.max(sum(column**2 for column in problem.style)))
    decrement = at.slope @ np.linalg.solve(at.matrix, at.slope)
    return bool(4 * longest * decrement <= np.linalg.eigvalsh(at.matrix)[0])


def _fitted(problem: _Problem, at: _Fit, settings: Settings, names: Sequence[str]) -> tuple[Floats, Floats]:
    """(S + K,) log-odds of systems and covariates, and their (S + K, S + K) sandwich covariance."""
    for number in range(STEPS):
        if number == DOUBTFUL:
            _require_overlap(problem, names)
        step = np.linalg.solve(at.matrix, at.slope)
        size = 1.0
        for _ in range(HALVINGS):
            trial = _Fit.at(problem, at.point + size * step)
            if trial.value >= at.value - 1e-12 * abs(at.value):
                break
            size /= 2
        at = trial
        if size == 1.0 and np.abs(step).max() < np.sqrt(TINY_STEP):
            break
    if not _near_maximum(problem, at):
        _require_overlap(problem, names)
    if not np.abs(at.slope).max() <= CERTIFIED * problem.weight.sum():
        message = "The style-controlled fit did not converge."
        raise UnrankableError(message, advice="Leave out covariates that separate the systems.")
    inverse = np.linalg.solve(at.matrix, np.eye(len(at.point)))
    return at.point, inverse @ _meat(problem, at.point, settings) @ inverse


def _meat(problem: _Problem, point: Floats, settings: Settings) -> Floats:
    """Sum over questions (or battles) of the outer product of their scores."""
    table, clustered = problem.table, settings.cluster is Cluster.QUESTION
    units = len(table.questions) if clustered else len(table)
    if units <= 1:
        message = "Style-controlled ratings have no interval if all battles are on one question."
        raise UnrankableError(message, advice="Judge more questions, or use --cluster none.")
    rows = np.arange(len(table))
    unit = table.question if clustered else rows
    sums = coo_array((problem.rest(point), (unit, rows)), shape=(units, len(table))).tocsr()
    scores = sums @ problem.terms
    return np.asarray((scores.T @ scores).toarray() * (units / (units - 1) if clustered else 1.0))


STEP = 512
"""Number of battles in the first linear program, and added per step."""
TOLERANCE = 1e-7
"""Tolerance for rounding errors, in units of a column."""
PRECISE = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}


def terms_of(table: BattleTable, columns: Sequence[Floats]) -> csr_array:
    """(N, S + K) terms of a fit: 1 and −1 for the two systems of each battle, then the covariates."""
    count, systems = len(table), len(table.systems)
    values = np.concatenate([np.ones(count), -np.ones(count), *columns])
    places = [table.a, table.b, *(np.full(count, systems + place) for place in range(len(columns)))]
    rows = np.tile(np.arange(count), len(places))
    return coo_array((values, (rows, np.concatenate(places))), (count, systems + len(columns))).tocsr()


def separating(table: BattleTable, columns: Sequence[Floats]) -> tuple[int, ...]:
    """Return a minimal set of covariates that leave a fit without a finite maximum; empty if one exists.

    The battles must be of one group whose ratings without covariates exist; columns must be independent.

    A logistic fit has no finite maximum if some direction of its terms ranks no battle wrongly: every winner
    at or above its loser, tied answers level. This linear program is solved on a sample of the battles, to
    which wrongly ranked battles are added until none is left.

    Sources: Albert & Anderson (1984), Biometrika 71(1); Konis (2007), "Linear programming algorithms for
    detecting separated data in binary logistic regression models", University of Oxford.
    """
    tied = (table.share > 0) & (table.share < 1)
    towards = diags_array(np.where(table.share <= 0, -1.0, 1.0)) @ terms_of(table, columns)
    chosen = np.zeros(len(table), dtype=bool)
    chosen[np.linspace(0, len(table) - 1, min(len(table), STEP)).astype(np.int64)] = True
    battles = _Battles(terms=towards.tocsr(), tied=tied, systems=len(table.systems), chosen=chosen)
    needed = list(range(len(columns)))
    if not battles.separated_by(needed):
        return ()
    for place in range(len(columns)):
        fewer = [other for other in needed if other != place]
        if fewer and battles.separated_by(fewer):
            needed = fewer
    return tuple(needed)


@dataclass(eq=False, kw_only=True)
class _Battles:
    """Battles by their terms towards the winner; `chosen` marks the constraints of the linear program."""

    terms: csr_array
    tied: NDArray[np.bool_]
    systems: int
    chosen: NDArray[np.bool_]

    def separated_by(self, places: Sequence[int]) -> bool:
        return any(self._separated_along(places, first, sign) for first in places for sign in (1.0, -1.0))

    def _separated_along(self, places: Sequence[int], first: int, sign: float) -> bool:
        """Return whether a direction with this largest coefficient ranks no battle wrongly."""
        from scipy.optimize import linprog  # noqa: PLC0415 - slow to import, rarely needed

        bounds: list[tuple[float | None, float | None]] = [(0.0, 0.0)] * (self.terms.shape[1] + 1)
        bounds[1 : self.systems] = [(None, None)] * (self.systems - 1)
        for place in places:
            bounds[self.systems + place] = (sign, sign) if place == first else (-1.0, 1.0)
        bounds[-1] = (0.0, None)
        cost = np.zeros(len(bounds))
        cost[-1] = 1.0
        while True:
            # A tie is two constraints.
            known = vstack([self.terms[self.chosen], -self.terms[self.chosen & self.tied]])
            slack = csr_array(np.ones((known.shape[0], 1)))
            solution = linprog(  # type: ignore[call-overload]  # the stubs lack sparse matrices
                cost,
                A_ub=-hstack([known, slack]).tocsr(),
                b_ub=np.zeros(known.shape[0]),
                bounds=bounds,
                method="highs",
                options=PRECISE,
            )
            # Without a solution, because of numerical trouble, the convergence check of the fit decides.
            if solution.x is None or solution.x[-1] > TOLERANCE:
                return False
            gap = self.terms @ solution.x[:-1]
            wrongly = np.where(self.tied, np.abs(gap), -gap)
            wrongly[self.chosen] = 0.0
            if wrongly.max() <= TOLERANCE:
                return True
            worst = np.argpartition(wrongly, -min(STEP, len(wrongly)))[-STEP:]
            self.chosen[worst[wrongly[worst] > TOLERANCE]] = True
