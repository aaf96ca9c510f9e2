"""Style-controlled Bradley-Terry: how systems would rate if their answers were alike in what sways a judge.

Each covariate has one coefficient for all systems; `leaderboard.ratings.models.covariates` makes its column.

Source: Li, Angelopoulos & Chiang, "Does style matter?", LMSYS blog, 28 August 2024.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from data.errors import InputError, UnrankableError
from leaderboard.battles import BattleTable
from leaderboard.ratings.assemble import assemble
from leaderboard.ratings.counts import Floats, count_pairs
from leaderboard.ratings.estimate import restrict, with_reach
from leaderboard.ratings.models.covariates import (
    ControlledRatings,
    CovariateColumn,
    Identified,
    StyleEffect,
    identify,
    relative_columns,
)
from leaderboard.ratings.models.existence import find_groups
from leaderboard.ratings.models.likelihoods import sigmoid
from leaderboard.ratings.models.newton import CERTIFIED, SPARSE_ABOVE, TINY_STEP
from leaderboard.ratings.rate import anchor_code, usable
from leaderboard.ratings.result import RatingTable, Settings
from leaderboard.ratings.threads import one_thread
from leaderboard.ratings.uncertainty.bounds import quantile_of
from leaderboard.ratings.uncertainty.differences import rate_as
from leaderboard.ratings.vocabulary import POINTS, Cluster, IntervalKind, Method

STEPS = 100
HALVINGS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleBeside:
    """The plain and the style-controlled ratings, and the effects that make the difference."""

    plain: RatingTable
    controlled: RatingTable
    effects: tuple[StyleEffect, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class _Problem:
    """(N,) columns of one group's battles and the (N, K) standardised covariates."""

    table: BattleTable
    style: Floats
    weight: Floats
    share: Floats

    @property
    def systems(self) -> int:
        return len(self.table.systems)

    def ends(self, values: Floats) -> Floats:
        """(S,) sums towards the first-named system and away from the second."""
        first = np.bincount(self.table.a, values, self.systems).astype(np.float64)
        return np.asarray(first - np.bincount(self.table.b, values, self.systems))

    def gap(self, point: Floats) -> Floats:
        """(N,) log-odds that the first-named answer wins."""
        theta = point[: self.systems]
        return np.asarray(theta[self.table.a] - theta[self.table.b] + self.style @ point[self.systems :])


def rate_with_style(
    battles: BattleTable,
    covariates: Mapping[str, tuple[ArrayLike, ArrayLike]],
    settings: Settings | None = None,
) -> StyleBeside:
    """Rate with and without control for style.

    The controlled table has sandwich intervals, clustered as asked for. It rates the main group alone.

    Args:
        battles: The battles.
        covariates: For each covariate its (N,) values, counts of 0 or more, in the answers of `a` and of `b`.
        settings: Of the plain table; its anchor, cluster and seed serve both.

    Raises:
        RecordError: A covariate of another length, or a value that is no count.
        InputError: Covariates that are the same in all battles, or too many systems.
        UnrankableError: No ratings exist.
    """
    chosen = replace(Settings() if settings is None else settings, prior=None, method=Method.BRADLEY_TERRY)
    plain = rate_as(battles, chosen)
    columns, left_out = relative_columns(covariates, len(battles))
    if not columns:
        raise InputError(left_out[0].reason, advice="Leave it out.")
    controlled = rate_under_control(battles, columns, chosen)
    return StyleBeside(plain=plain, controlled=controlled.ratings, effects=controlled.effects)


def rate_under_control(
    battles: BattleTable, columns: Sequence[CovariateColumn], settings: Settings
) -> ControlledRatings:
    """Rate the main group under control for the columns of covariates, with sandwich intervals.

    A column that says nothing beside the systems and the columns before it is left out, with the reason.

    Raises:
        InputError: No column is left, or too many systems.
        NotFoundError: The anchor took part in no battle.
        UnrankableError: No ratings exist.
    """
    style = np.stack([column.values for column in columns], axis=1)
    table = usable(battles)
    weighted = np.ones(len(battles), dtype=bool) if battles.weight is None else battles.weight > 0
    style = style[weighted] if len(table) < len(battles) else style
    pairs = count_pairs(table)
    anchor = anchor_code(table, settings.anchor)
    groups = find_groups(pairs, anchor)
    members = np.flatnonzero(groups.label == 0)
    _require_systems(len(members))
    inside = (groups.label[table.a] == 0) & (groups.label[table.b] == 0)
    local = restrict(table.select(inside), members)
    problem = _Problem(
        table=local,
        style=style[inside],
        weight=np.ones(len(local)) if local.weight is None else local.weight,
        share=local.share,
    )
    used = replace(settings, method=Method.STYLE, interval=IntervalKind.SANDWICH, bootstrap=None, prior=None)
    with one_thread():
        identified = _identified(problem, columns)
        if identified.left_out:
            problem = replace(problem, style=np.ascontiguousarray(problem.style[:, list(identified.kept)]))
        point, covariance = _fit(problem, used)
    place = None if anchor is None else int(np.searchsorted(members, anchor))
    reach = quantile_of(len(local.questions) if settings.cluster is Cluster.QUESTION else None)
    estimate = with_reach(point, covariance, members, place, used, reach)
    size = len(members)
    return ControlledRatings(
        ratings=assemble(table, pairs, groups, [estimate], used),
        effects=_effects(
            [columns[kept] for kept in identified.kept],
            point[size:],
            np.diag(covariance)[size:],
            reach,
            identified.vif,
        ),
        left_out=identified.left_out,
        collinearity=identified.collinearity,
    )


def _require_systems(count: int) -> None:
    if count <= 1:
        message = "No two systems have ratings, so none can be controlled for style."
        raise UnrankableError(message, advice="Judge more battles.")
    if count > SPARSE_ABOVE:
        message = f"Style is controlled for up to {SPARSE_ABOVE} systems."
        raise InputError(message, advice="Rate fewer systems at a time.")


def _identified(problem: _Problem, columns: Sequence[CovariateColumn]) -> Identified:
    """Which columns have a coefficient where nothing is known of the systems yet."""
    size = problem.systems
    _, products = _derivatives(problem, np.zeros(size + len(columns)))
    return identify(columns, products[:size, :size], products[:size, size:], products[size:, size:])


def _fit(problem: _Problem, settings: Settings) -> tuple[Floats, Floats]:
    """(S + K,) log-odds of systems and covariates, and their (S + K, S + K) sandwich covariance."""
    point = np.zeros(problem.systems + problem.style.shape[1])
    value = _value(problem, point)
    for _ in range(STEPS):
        slope, matrix = _derivatives(problem, point)
        step = _solve(matrix, slope)
        size = 1.0
        for _ in range(HALVINGS):
            trial = _value(problem, point + size * step)
            if trial >= value - 1e-12 * abs(value):
                break
            size /= 2
        point, value = point + size * step, trial
        if size == 1.0 and np.abs(step).max() < np.sqrt(TINY_STEP):
            break
    slope, matrix = _derivatives(problem, point)
    if not np.abs(slope).max() <= CERTIFIED * problem.weight.sum():
        message = "The style-controlled fit did not settle."
        raise UnrankableError(message, advice="Leave out covariates that tell systems apart.")
    inverse = _solve(matrix, np.eye(len(point)))
    return point, inverse @ _meat(problem, point, settings) @ inverse


def _value(problem: _Problem, point: Floats) -> float:
    gap = problem.gap(point)
    return float((problem.weight * (problem.share * gap - np.logaddexp(0, gap))).sum())


def _derivatives(problem: _Problem, point: Floats) -> tuple[Floats, Floats]:
    chance = sigmoid(problem.gap(point))
    rest = problem.weight * (problem.share - chance)
    curve = problem.weight * chance * (1 - chance)
    size = problem.systems
    slope = np.concatenate([problem.ends(rest), rest @ problem.style])
    matrix = np.zeros((len(point), len(point)))
    met = np.bincount(problem.table.a * np.int64(size) + problem.table.b, curve, size * size)
    both = met.reshape(size, size) + met.reshape(size, size).T
    matrix[:size, :size] = np.diag(both.sum(axis=0)) - both
    matrix[:size, :size] += both.sum() / size**2
    border = np.stack([problem.ends(curve * column) for column in problem.style.T], axis=1)
    matrix[:size, size:], matrix[size:, :size] = border, border.T
    matrix[size:, size:] = problem.style.T @ (curve[:, None] * problem.style)
    return slope, matrix


def _solve(matrix: Floats, right: Floats) -> Floats:
    try:
        return np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
    except np.linalg.LinAlgError as error:
        message = "The covariates cannot be separated from the systems or from each other."
        raise UnrankableError(message, advice="Leave one of them out.") from error


def _meat(problem: _Problem, point: Floats, settings: Settings) -> Floats:
    """Sum over questions (or battles) of the outer product of their scores."""
    size, table = problem.systems, problem.table
    rest = problem.weight * (problem.share - sigmoid(problem.gap(point)))
    units = len(table.questions) if settings.cluster is Cluster.QUESTION else len(table)
    unit = table.question.astype(np.int64) if settings.cluster is Cluster.QUESTION else np.arange(units)
    if units <= 1:
        message = "One question does not say how sure a style-controlled rating is."
        raise UnrankableError(message, advice="Judge more questions, or cluster by none.")
    meat = np.zeros((len(point), len(point)))
    block = max(2_000_000 // len(point), 1)
    order = np.argsort(unit, kind="stable")
    edges = np.searchsorted(unit[order], np.arange(0, units + block, block))
    for number, (first, last) in enumerate(pairwise(edges.tolist())):
        rows = order[first:last]
        base = (unit[rows] - number * block) * len(point)
        scores = np.zeros(block * len(point))
        for columns, values in ((table.a, rest), (table.b, -rest)):
            scores += np.bincount(base + columns[rows], values[rows], len(scores))
        for number_of, column in enumerate(problem.style.T):
            scores += np.bincount(base + size + number_of, (rest * column)[rows], len(scores))
        full = scores.reshape(block, len(point))
        meat += full.T @ full
    return meat * (units / (units - 1) if settings.cluster is Cluster.QUESTION else 1.0)


def _effects(
    columns: Sequence[CovariateColumn],
    point: Floats,
    variance: Floats,
    reach: float,
    inflation: Sequence[float],
) -> tuple[StyleEffect, ...]:
    # A variance of 0 comes out a little below where a column nearly follows from the others.
    se = np.sqrt(np.maximum(variance, 0.0))
    rows = zip(columns, point * POINTS, se * POINTS, inflation, strict=True)
    return tuple(
        StyleEffect(
            covariate=column.name,
            points=float(value),
            se=float(spread),
            lower=float(value - reach * spread),
            upper=float(value + reach * spread),
            scale=column.scale,
            vif=vif,
        )
        for column, value, spread, vif in rows
    )
