"""Style-controlled Bradley-Terry: how systems would rate if their answers were alike in length and form.

Each covariate enters as the relative difference of the two answers, (a − b) / (a + b + 1), standardised
over the battles to mean 0 and deviation 1, with one coefficient for all systems.

Source: Li, Angelopoulos & Chiang, "Does style matter?", LMSYS blog, 28 August 2024, whose normalisation
this is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from data.errors import InputError, RecordError, UnrankableError
from leaderboard.battles import BattleTable
from leaderboard.ratings.assemble import assemble
from leaderboard.ratings.counts import Floats, count_pairs
from leaderboard.ratings.estimate import Estimate, in_gauge, restrict
from leaderboard.ratings.models.existence import find_groups
from leaderboard.ratings.models.likelihoods import sigmoid
from leaderboard.ratings.models.newton import CERTIFIED, SPARSE_ABOVE, TINY_STEP
from leaderboard.ratings.rate import usable
from leaderboard.ratings.result import RatingTable, Settings
from leaderboard.ratings.threads import one_thread
from leaderboard.ratings.uncertainty.bounds import quantile_of
from leaderboard.ratings.uncertainty.differences import rate_as
from leaderboard.ratings.vocabulary import MEAN, POINTS, Cluster, IntervalKind, Method

STEPS = 100
HALVINGS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleEffect:
    """What one covariate is worth.

    Attributes:
        covariate: Its name.
        points: Rating points that one standard deviation more is worth.
        se: Standard error.
        lower: Lower end of the 95 % interval.
        upper: Upper end.
    """

    covariate: str
    points: float
    se: float
    lower: float
    upper: float


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
        InputError: A covariate that is the same in all battles, or too many systems.
        UnrankableError: No ratings exist, or style and systems are collinear.
    """
    chosen = replace(Settings() if settings is None else settings, prior=None, method=Method.BRADLEY_TERRY)
    plain = rate_as(battles, chosen)
    style = np.stack([_normalised(name, ends, len(battles)) for name, ends in covariates.items()], axis=1)
    table = usable(battles)
    weighted = np.ones(len(battles), dtype=bool) if battles.weight is None else battles.weight > 0
    style = style[weighted] if len(table) < len(battles) else style
    pairs = count_pairs(table)
    anchor = None if chosen.anchor is None else table.systems.index(chosen.anchor.system)
    groups = find_groups(pairs, anchor)
    members = np.flatnonzero(groups.label == 0)
    if len(members) <= 1:
        message = "No two systems have ratings, so none can be controlled for style."
        raise UnrankableError(message, advice="Judge more battles.")
    if len(members) > SPARSE_ABOVE:
        message = f"Style is controlled for up to {SPARSE_ABOVE} systems."
        raise InputError(message, advice="Rate fewer systems at a time.")
    inside = (groups.label[table.a] == 0) & (groups.label[table.b] == 0)
    local = restrict(table.select(inside), members)
    problem = _Problem(
        table=local,
        style=style[inside],
        weight=np.ones(len(local)) if local.weight is None else local.weight,
        share=local.share,
    )
    used = replace(chosen, method=Method.STYLE, interval=IntervalKind.SANDWICH, bootstrap=None)
    with one_thread():
        point, covariance = _fit(problem, used)
    place = None if anchor is None else int(np.searchsorted(members, anchor))
    size = len(members)
    inner = in_gauge(in_gauge(covariance[:size, :size], place).T, place) * POINTS**2
    zero = MEAN if chosen.anchor is None else chosen.anchor.rating
    points = in_gauge(point[:size], place) * POINTS + zero
    se = np.sqrt(np.maximum(np.diag(inner), 0.0))
    reach = quantile_of(len(local.questions) if chosen.cluster is Cluster.QUESTION else None)
    estimate = Estimate(
        members=members,
        points=points,
        se=se,
        lower=points - reach * se,
        upper=points + reach * se,
        covariance=inner,
    )
    return StyleBeside(
        plain=plain,
        controlled=assemble(table, pairs, groups, [estimate], used),
        effects=_effects(tuple(covariates), point[size:], np.diag(covariance)[size:], reach),
    )


def _normalised(name: str, ends: tuple[ArrayLike, ArrayLike], rows: int) -> Floats:
    first, second = (np.asarray(end, dtype=np.float64) for end in ends)
    for column in (first, second):
        if len(column) != rows:
            message = f"Covariate {name} has {len(column)} rows but there are {rows} battles."
            raise RecordError(message, advice="Give one value for each battle and answer.")
        bad = ~(np.isfinite(column) & (column >= 0))
        if bad.any():
            row = int(np.argmax(bad))
            message = f"Row {row + 1}, column {name}: {column[row]:g} is no count."
            raise RecordError(message, advice="Give a number of 0 or more.")
    relative = (first - second) / (first + second + 1)
    spread = float(relative.std())
    if not spread > 0:
        message = f"Covariate {name} is the same in all battles, so it has no effect to control for."
        raise InputError(message, advice="Leave it out.")
    return np.asarray((relative - relative.mean()) / spread)


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
    names: tuple[str, ...], point: Floats, variance: Floats, reach: float
) -> tuple[StyleEffect, ...]:
    effects = []
    for name, value, spread in zip(names, point * POINTS, np.sqrt(variance) * POINTS, strict=True):
        low, high = float(value - reach * spread), float(value + reach * spread)
        effect = StyleEffect(covariate=name, points=float(value), se=float(spread), lower=low, upper=high)
        effects.append(effect)
    return tuple(effects)
