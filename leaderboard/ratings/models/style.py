"""Style-controlled Bradley-Terry: how systems would rate if their answers were alike in what biases a judge.

Each covariate has one coefficient for all systems; `leaderboard.ratings.models.covariates` makes its column.

Source: Li, Angelopoulos & Chiang, "Does style matter?", LMSYS blog, 28 August 2024.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from data.errors import InputError, UnrankableError
from leaderboard.battles import BattleTable, Winner
from leaderboard.ratings.assemble import assemble
from leaderboard.ratings.counts import Floats, Ints, count_pairs
from leaderboard.ratings.estimate import restrict, with_reach
from leaderboard.ratings.models.covariates import (
    ControlledRatings,
    CovariateColumn,
    Identified,
    StyleEffect,
    identify,
    relative_columns,
)
from leaderboard.ratings.models.likelihoods import sigmoid
from leaderboard.ratings.models.newton import CERTIFIED, SPARSE_ABOVE, TINY_STEP
from leaderboard.ratings.models.separation import separating
from leaderboard.ratings.rate import anchor_codes, groups_of, usable
from leaderboard.ratings.result import RatingTable, Settings
from leaderboard.ratings.threads import one_thread
from leaderboard.ratings.uncertainty.carrying import carrying_units
from leaderboard.ratings.uncertainty.differences import rate_as
from leaderboard.ratings.uncertainty.paired_errors import freedom_of, t_quantile
from leaderboard.ratings.vocabulary import POINTS, Cluster, IntervalKind, Method

STEPS = 100
HALVINGS = 40
# Rows that sums are taken over at once, which also keeps them in the processor's cache.
ROWS_AT_ONCE = 1 << 17
# Numbers of the units × terms scores that are held at once: 16 MB.
SCORES_AT_ONCE = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleBeside:
    """The plain and the style-controlled ratings, and the effects that make the difference."""

    plain: RatingTable
    controlled: RatingTable
    effects: tuple[StyleEffect, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class _Problem:
    """(N,) columns of one group's battles and the (N,) standardised covariates, K of them."""

    table: BattleTable
    style: Sequence[Floats]

    @property
    def systems(self) -> int:
        return len(self.table.systems)

    @property
    def size(self) -> int:
        """S + K."""
        return self.systems + len(self.style)

    @property
    def total(self) -> float:
        """The weight of all battles."""
        return float(len(self.table) if self.table.weight is None else self.table.weight.sum())

    def blocks(self) -> Iterator[_Block]:
        """The battles, so many at a time that what is made of them takes little memory."""
        for first in range(0, len(self.table), ROWS_AT_ONCE):
            rows = slice(first, first + ROWS_AT_ONCE)
            part = self.table.select(rows)
            # Each sum over rows would make them into such numbers by itself.
            part = replace(part, a=part.a.astype(np.int64), b=part.b.astype(np.int64))
            yield _Block(
                table=part,
                style=np.stack([column[rows] for column in self.style], axis=1),
                weight=np.ones(len(part)) if part.weight is None else part.weight,
                share=part.share,
            )


@dataclass(frozen=True, eq=False, kw_only=True)
class _Block:
    """Some battles: (n,) columns and the (n, K) covariates."""

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
        """(n,) log-odds that the first-named answer wins."""
        theta = point[: self.systems]
        return np.asarray(theta[self.table.a] - theta[self.table.b] + self.style @ point[self.systems :])

    def rest(self, point: Floats) -> Floats:
        """(n,) weighted shares of the win less those expected."""
        return np.asarray(self.weight * (self.share - sigmoid(self.gap(point))))


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
        InputError: Covariates that differ in no battle, or too many systems.
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
        UnrankableError: No ratings exist, or none under control.
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
    _require_systems(len(members))
    inside = (groups.label[table.a] == 0) & (groups.label[table.b] == 0)
    local = table
    if not inside.all():
        local, style = restrict(table.select(inside), members), [column[inside] for column in style]
    problem = _Problem(table=local, style=style)
    used = replace(settings, method=Method.STYLE, interval=IntervalKind.SANDWICH, bootstrap=None, prior=None)
    with one_thread():
        start = _terms(problem, np.zeros(problem.size))
        identified = _identified(start.matrix, columns)
        if identified.left_out:
            problem = replace(problem, style=[style[kept] for kept in identified.kept])
            start = _terms(problem, np.zeros(problem.size))
        _require_overlap(problem, [columns[kept].name for kept in identified.kept])
        point, covariance = _fit(problem, start, used)
    place = None if anchor is None else np.searchsorted(members, anchor)
    carrying = carrying_units(local, count_pairs(local), settings.cluster, place)
    estimate = with_reach(point, covariance, members, place, used, carrying)
    units = len(local.questions) if settings.cluster is Cluster.QUESTION else len(local)
    reach = float(t_quantile(freedom_of(units)))
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


def _in_one_order(table: BattleTable, style: Sequence[Floats]) -> tuple[BattleTable, list[Floats]]:
    """The battles with the lower code on side a, sorted: sides and order of rows change no digit."""
    turned = table.a > table.b
    oriented = replace(
        table,
        a=np.minimum(table.a, table.b),
        b=np.maximum(table.a, table.b),
        winner=np.where(table.winner == Winner.TIE, table.winner, table.winner ^ turned).astype(np.int8),
        score=None if table.score is None else np.where(turned, 1 - table.score, table.score),
    )
    style = [np.where(turned, -column, column) for column in style]
    weight = () if table.weight is None else (table.weight,)
    order = np.lexsort((*reversed(style), *weight, oriented.share, oriented.b, oriented.a, table.question))
    return oriented.select(order), [column[order] for column in style]


def _require_overlap(problem: _Problem, names: Sequence[str]) -> None:
    """Refuse covariates under which no finite fit exists."""
    found = [names[place].replace("_", " ") for place in separating(problem.table, problem.style)]
    if not found:
        return
    listed = " and ".join([", ".join(found[:-1]), found[-1]] if len(found) > 1 else found)
    raise UnrankableError(
        f"Ratings under control for {listed} have no finite values: {listed} and the strengths of the "
        "systems predict every battle without exception (perfect separation), so the larger the coefficient, "
        "the better the fit.",
        advice=f"Leave out {listed}, or judge more battles.",
    )


def _identified(products: Floats, columns: Sequence[CovariateColumn]) -> Identified:
    """Which columns have a coefficient where nothing is known of the systems yet."""
    size = len(products) - len(columns)
    return identify(columns, products[:size, :size], products[:size, size:], products[size:, size:])


def _fit(problem: _Problem, start: _Terms, settings: Settings) -> tuple[Floats, Floats]:
    """(S + K,) log-odds of systems and covariates, and their (S + K, S + K) sandwich covariance."""
    at = start
    for _ in range(STEPS):
        step = _solve(at.matrix, at.slope)
        size = 1.0
        for _ in range(HALVINGS):
            trial = _terms(problem, at.point + size * step)
            if trial.value >= at.value - 1e-12 * abs(at.value):
                break
            size /= 2
        at = trial
        if size == 1.0 and np.abs(step).max() < np.sqrt(TINY_STEP):
            break
    if not np.abs(at.slope).max() <= CERTIFIED * problem.total:
        message = "The style-controlled fit did not settle."
        raise UnrankableError(message, advice="Leave out covariates that tell systems apart.")
    inverse = _solve(at.matrix, np.eye(problem.size))
    return at.point, inverse @ _meat(problem, at.point, settings) @ inverse


@dataclass(frozen=True, eq=False, kw_only=True)
class _Terms:
    """The log likelihood at a (S + K,) point, its slope, and minus its second derivatives."""

    point: Floats
    value: float
    slope: Floats
    matrix: Floats


def _terms(problem: _Problem, point: Floats) -> _Terms:
    """One pass over the battles, which takes longer than what a step that is halved wastes of it."""
    size, value = problem.systems, 0.0
    slope, matrix = np.zeros(problem.size), np.zeros((problem.size, problem.size))
    met = np.zeros(size * size)
    for block in problem.blocks():
        gap = block.gap(point)
        small = np.exp(-np.abs(gap))
        chance = np.where(gap >= 0, 1.0, small) / (1.0 + small)
        value += float((block.weight * (block.share * gap - np.maximum(gap, 0.0) - np.log1p(small))).sum())
        rest = block.weight * (block.share - chance)
        curve = block.weight * chance * (1 - chance)
        slope += np.concatenate([block.ends(rest), rest @ block.style])
        met += np.bincount(block.table.a * size + block.table.b, curve, size * size)
        border = np.stack([block.ends(curve * column) for column in block.style.T], axis=1)
        matrix[:size, size:] += border
        matrix[size:, size:] += block.style.T @ (curve[:, None] * block.style)
    both = met.reshape(size, size) + met.reshape(size, size).T
    matrix[:size, :size] = np.diag(both.sum(axis=0)) - both
    matrix[:size, :size] += both.sum() / size**2
    matrix[size:, :size] = matrix[:size, size:].T
    return _Terms(point=point, value=value, slope=slope, matrix=matrix)


def _solve(matrix: Floats, right: Floats) -> Floats:
    try:
        return np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
    except np.linalg.LinAlgError as error:
        message = "The covariates cannot be separated from the systems or from each other."
        raise UnrankableError(message, advice="Leave one of them out.") from error


def _meat(problem: _Problem, point: Floats, settings: Settings) -> Floats:
    """Sum over questions (or battles) of the outer product of their scores."""
    table, clustered = problem.table, settings.cluster is Cluster.QUESTION
    units = len(table.questions) if clustered else len(table)
    if units <= 1:
        message = "One question does not say how sure a style-controlled rating is."
        raise UnrankableError(message, advice="Judge more questions, or cluster by none.")
    rest = np.concatenate([block.rest(point) for block in problem.blocks()])
    meat = np.zeros((len(point), len(point)))
    width = min(max(SCORES_AT_ONCE // len(point), 1), units)
    for first in range(0, units, width):
        scores = np.zeros(width * len(point))
        if clustered:
            for start in range(0, len(table), ROWS_AT_ONCE):
                rows = np.arange(start, min(start + ROWS_AT_ONCE, len(table)))
                unit = table.question[rows].astype(np.int64) - first
                inside = (unit >= 0) & (unit < width)
                _add_scores(scores, problem, rest, rows[inside], unit[inside])
        else:
            rows = np.arange(first, min(first + width, units))
            _add_scores(scores, problem, rest, rows, rows - first)
        full = scores.reshape(width, len(point))
        meat += full.T @ full
    return meat * (units / (units - 1) if clustered else 1.0)


def _add_scores(scores: Floats, problem: _Problem, rest: Floats, rows: Ints, unit: Ints) -> None:
    """Add the scores of some rows to those of their units, (U × (S + K),)."""
    table, base, values = problem.table, unit * problem.size, rest[rows]
    scores += np.bincount(base + table.a[rows], values, len(scores))
    scores += np.bincount(base + table.b[rows], -values, len(scores))
    for number, column in enumerate(problem.style):
        scores += np.bincount(base + problem.systems + number, values * column[rows], len(scores))


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
