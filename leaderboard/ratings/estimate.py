"""Standard errors where systems are too many for anything of size systems × systems.

Each draw multiplies every question's (or battle's) score by an independent standard normal number and
solves one sparse system; the spread of the solutions is the sandwich standard error, to about 5 %.

Source: the multiplier (wild) bootstrap of scores; Kline & Santos (2012).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leaderboard.battles import BattleTable, Codes
from leaderboard.ratings.counts import Floats, Ints, PairCounts
from leaderboard.ratings.models.likelihoods import BradleyTerry, PairModel, model_of
from leaderboard.ratings.models.newton import SPARSE_ABOVE, Fit, Ridge, fit, laplacian_solver
from leaderboard.ratings.result import Settings
from leaderboard.ratings.uncertainty import bounds
from leaderboard.ratings.uncertainty.resample import Units, draw, joint_inverse
from leaderboard.ratings.uncertainty.sandwich import (
    cluster_scores,
    clustered_covariance,
    plain_covariance,
    row_scores,
)
from leaderboard.ratings.vocabulary import MEAN, POINTS, Bounds, Cluster, IntervalKind

DRAWS = 200


def multiplier_errors(
    model: PairModel,
    fit: Fit,
    pairs: PairCounts,
    table: BattleTable,
    settings: Settings,
    anchor: int | None,
    ridge: Ridge | None,
) -> Floats:
    """(S,) standard errors in log-odds, in the gauge of the anchor or the mean."""
    solve = laplacian_solver(pairs, fit.curvature, None if ridge is None else ridge.precision)
    scores, ties = row_scores(model, fit, pairs, table)
    border = pairs.sum_ends(fit.gap_tie, -fit.gap_tie)
    edge = solve(border) if fit.has_tie else border
    clustered = settings.cluster is Cluster.QUESTION
    units = len(table.questions) if clustered else len(table)
    total = np.zeros(pairs.systems)
    for number in range(DRAWS):
        noise = np.random.default_rng([settings.seed, number]).standard_normal(units)
        weighted = (noise[table.question] if clustered else noise) * scores
        right = np.bincount(table.a, weighted, pairs.systems).astype(np.float64)
        right -= np.bincount(table.b, weighted, pairs.systems)
        moved = solve(right)
        if fit.has_tie and ties is not None:
            noisy = float(((noise[table.question] if clustered else noise) * ties).sum())
            moved -= edge * (noisy - border @ moved) / (fit.tie_tie - border @ edge)
        total += (moved - (moved.mean() if anchor is None else moved[anchor])) ** 2
    factor = units / (units - 1) if clustered else 1.0
    return np.sqrt(total / DRAWS * factor)


@dataclass(frozen=True, eq=False, kw_only=True)
class Estimate:
    """Ratings of one group, in points and in its gauge.

    Attributes:
        members: (M,) codes of the group's systems.
        points: (M,) ratings.
        se: (M,) standard errors, NaN where there are none.
        lower: (M,) lower ends, NaN where there are none.
        upper: (M,) upper ends.
        draws: (B, M) joint draws; None for sandwich intervals and very many systems.
        covariance: (M, M); None for very many systems.
        lost_draws: Resamples without an estimate.
        fit: The fit; None for online Elo.
        model: The pair model that was fitted.
    """

    members: Ints
    points: Floats
    se: Floats
    lower: Floats
    upper: Floats
    draws: Floats | None = None
    covariance: Floats | None = None
    lost_draws: int = 0
    fit: Fit | None = None
    model: PairModel | None = None


def estimate(
    table: BattleTable, pairs: PairCounts, members: Ints, settings: Settings, anchor: int | None
) -> Estimate:
    """Rate the systems of one group.

    Args:
        table: The group's battles; others do no harm.
        pairs: The counts of all battles.
        members: Codes of the group's systems, rising.
        settings: What was asked for.
        anchor: Code of the anchor, if it is one of the members.
    """
    inner, _ = pairs.among(members)
    ridge = _ridge(settings, len(members))
    model = model_of(settings.method)
    settled = fit(model, inner, ridge)
    if model.ties and not settled.has_tie:
        model = BradleyTerry()
    local = table if len(members) == len(table.systems) else restrict(table, members)
    anchor = None if anchor is None else int(np.searchsorted(members, anchor))
    shift = _shift(settings, settled.theta, anchor)
    points = POINTS * (settled.theta - shift[0]) + shift[1]
    nothing = np.full(len(members), np.nan)
    point_estimate = Estimate(
        members=members, points=points, se=nothing, lower=nothing, upper=nothing, fit=settled, model=model
    )
    units = len(local.questions) if settings.cluster is Cluster.QUESTION else None
    if units is not None and units <= 1:
        return point_estimate
    if len(members) > SPARSE_ABOVE:
        errors = multiplier_errors(model, settled, inner, local, settings, anchor, ridge)
        return _with_errors(point_estimate, errors * POINTS, units)
    if settings.interval is IntervalKind.SANDWICH:
        return _sandwich(point_estimate, local, inner, settings, anchor, ridge)
    return _bootstrap(point_estimate, local, inner, settings, anchor, ridge)


def restrict(table: BattleTable, members: Ints) -> BattleTable:
    """The battles among some systems, renumbered, with the questions and systems that they name."""
    place = np.full(len(table.systems), -1, dtype=table.a.dtype)
    place[members] = np.arange(len(members))
    everyone = np.array_equal(place, np.arange(len(place)))
    inside = np.ones(1, dtype=bool) if everyone else (place[table.a] >= 0) & (place[table.b] >= 0)
    if table.weight is not None:
        inside = inside & (table.weight > 0)
    part = table if inside.all() else table.select(inside)
    used = part.names_used[1]
    if everyone and part is table and used.all():
        return table
    question: Codes = part.question
    questions = table.questions
    if not used.all():
        number = (np.cumsum(used) - 1).astype(question.dtype)
        question = number[question]
        questions = tuple(name for name, is_used in zip(questions, used.tolist(), strict=True) if is_used)
    return BattleTable(
        systems=tuple(table.systems[code] for code in members.tolist()),
        questions=questions,
        domains=table.domains,
        a=part.a if everyone else place[part.a],
        b=part.b if everyone else place[part.b],
        winner=part.winner,
        question=question,
        domain=part.domain,
        score=part.score,
        weight=part.weight,
    )


def _ridge(settings: Settings, systems: int) -> Ridge | None:
    if settings.prior is None:
        return None
    precision = np.full(systems, (POINTS / settings.prior.sd) ** 2)
    return Ridge(precision=precision, centre=np.zeros(systems))


def _shift(settings: Settings, theta: Floats, anchor: int | None) -> tuple[float, float]:
    """The log-odds that are worth a number of points, and that number."""
    if anchor is not None and settings.anchor is not None:
        return float(theta[anchor]), settings.anchor.rating
    return float(theta.mean()), MEAN


def _sandwich(
    point_estimate: Estimate,
    table: BattleTable,
    pairs: PairCounts,
    settings: Settings,
    anchor: int | None,
    ridge: Ridge | None,
) -> Estimate:
    if point_estimate.fit is None or point_estimate.model is None:
        return point_estimate
    inverse = joint_inverse(pairs, point_estimate.fit, ridge)
    if settings.cluster is Cluster.NONE:
        covariance = plain_covariance(point_estimate.model, point_estimate.fit, pairs, inverse)
    else:
        scores = cluster_scores(
            table, row_scores(point_estimate.model, point_estimate.fit, pairs, table), pairs.systems
        )
        covariance = clustered_covariance(inverse, scores, pairs.systems)
    covariance = in_gauge(in_gauge(covariance, anchor).T, anchor) * POINTS**2
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    units = len(table.questions) if settings.cluster is Cluster.QUESTION else None
    return _with_errors(point_estimate, errors, units, covariance)


def _with_errors(
    point_estimate: Estimate, errors: Floats, units: int | None, covariance: Floats | None = None
) -> Estimate:
    reach = bounds.quantile_of(units) * errors
    return Estimate(
        members=point_estimate.members,
        points=point_estimate.points,
        se=errors,
        lower=point_estimate.points - reach,
        upper=point_estimate.points + reach,
        covariance=covariance,
        fit=point_estimate.fit,
        model=point_estimate.model,
    )


def in_gauge(values: Floats, anchor: int | None) -> Floats:
    """(…, M) log-odds moved into the gauge in which the anchor, or the mean, is 0."""
    middle = values.mean(axis=-1, keepdims=True) if anchor is None else values[..., anchor : anchor + 1]
    return np.asarray(values - middle)


def with_reach(
    point: Floats,
    covariance: Floats,
    members: Ints,
    place: int | None,
    settings: Settings,
    reach: float,
) -> Estimate:
    """The ratings of a fit in their gauge, in points, with intervals of so many standard errors.

    Args:
        point: (S + K,) log-odds, those of the systems first.
        covariance: Theirs, (S + K, S + K).
        members: Codes of the systems.
        place: The anchor's place among them.
        settings: With the anchor.
        reach: Standard errors to either side.
    """
    size = len(members)
    inner = in_gauge(in_gauge(covariance[:size, :size], place).T, place) * POINTS**2
    zero = MEAN if settings.anchor is None else settings.anchor.rating
    points = in_gauge(point[:size], place) * POINTS + zero
    se = np.sqrt(np.maximum(np.diag(inner), 0.0))
    return Estimate(
        members=members,
        points=points,
        se=se,
        lower=points - reach * se,
        upper=points + reach * se,
        covariance=inner,
    )


def _bootstrap(
    point_estimate: Estimate,
    table: BattleTable,
    pairs: PairCounts,
    settings: Settings,
    anchor: int | None,
    ridge: Ridge | None,
) -> Estimate:
    if point_estimate.fit is None or point_estimate.model is None or settings.bootstrap is None:
        return point_estimate
    thetas = draw(
        point_estimate.model,
        point_estimate.fit,
        Units.of(point_estimate.model, table, pairs, settings.cluster),
        draws=settings.bootstrap,
        weighting=settings.weighting,
        seed=settings.seed,
        ridge=ridge,
    )
    zero = float(point_estimate.points[anchor]) if anchor is not None else MEAN
    draws = in_gauge(thetas, anchor) * POINTS + zero
    complete = draws[~np.isnan(draws).any(axis=1)]
    if len(complete) <= 1:
        return point_estimate
    units = len(table.questions) if settings.cluster is Cluster.QUESTION else None
    if settings.bounds is Bounds.BCA:
        inverse = joint_inverse(pairs, point_estimate.fit, ridge)
        speed = _acceleration(
            point_estimate.model, point_estimate.fit, pairs, table, settings, inverse, anchor
        )
        lower, upper = bounds.bca(complete, point_estimate.points, speed, units)
    else:
        lower, upper = bounds.percentile(complete, units)
    covariance = np.atleast_2d(np.cov(complete, rowvar=False))
    return Estimate(
        members=point_estimate.members,
        points=point_estimate.points,
        se=np.sqrt(np.diag(covariance)),
        lower=lower,
        upper=upper,
        draws=draws,
        covariance=covariance,
        lost_draws=len(draws) - len(complete),
        fit=point_estimate.fit,
        model=point_estimate.model,
    )


def _acceleration(
    model: PairModel,
    settled: Fit,
    pairs: PairCounts,
    table: BattleTable,
    settings: Settings,
    inverse: Floats,
    anchor: int | None,
) -> Floats:
    """(M,) accelerations, from the influence of each question or of each kind of battle."""
    size = pairs.systems
    if settings.cluster is Cluster.QUESTION:
        scores = cluster_scores(table, row_scores(model, settled, pairs, table), size)
        return bounds.acceleration(in_gauge((scores @ inverse)[:, :size], anchor))
    at_gap, at_tie = model.outcome_scores(settled.theta[pairs.low] - settled.theta[pairs.high], settled.tie)
    towards = inverse[pairs.low] - inverse[pairs.high]
    cells = at_gap[:, :, None] * towards[None]
    if settled.has_tie and at_tie is not None:
        cells = cells + at_tie[:, :, None] * inverse[-1]
    influence = in_gauge(cells.reshape(-1, len(inverse))[:, :size], anchor)
    return bounds.acceleration(influence, pairs.outcomes.reshape(-1))
