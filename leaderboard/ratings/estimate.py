"""Estimate of one group of systems: ratings in points, intervals and errors of differences."""

from dataclasses import dataclass, replace

import numpy as np

from leaderboard.battles import BattleTable, Codes
from leaderboard.ratings.counts import Floats, Ints, PairCounts
from leaderboard.ratings.models.likelihoods import BradleyTerry, PairModel, model_of
from leaderboard.ratings.models.newton import SPARSE_ABOVE, Fit, fit
from leaderboard.ratings.result import Settings
from leaderboard.ratings.uncertainty import intervals
from leaderboard.ratings.uncertainty.effective import EffectiveUnits, effective_units, units_by_system
from leaderboard.ratings.uncertainty.intervals import FEW_QUESTIONS, PairedErrors, freedom_of, t_quantile
from leaderboard.ratings.uncertainty.resample import Units, draw, joint_inverse
from leaderboard.ratings.uncertainty.sandwich import (
    cluster_scores,
    clustered_covariance,
    multiplier_errors,
    plain_covariance,
    row_scores,
)
from leaderboard.ratings.vocabulary import MEAN, POINTS, Bounds, Cluster, IntervalKind


@dataclass(frozen=True, eq=False, kw_only=True)
class Estimate:
    """Ratings of one group in points.

    Attributes:
        se: (M,) standard errors, NaN if unknown, like `lower` and `upper`.
        draws: (B, M) joint draws; None for sandwich intervals and above `SPARSE_ABOVE` systems.
        covariance: (M, M); None above `SPARSE_ABOVE` systems.
        units: (M,) effective number of questions (or battles) behind each rating.
        errors: Standard errors of differences; None above `SPARSE_ABOVE` systems, or if unknown.
    """

    members: Ints
    points: Floats
    se: Floats
    lower: Floats
    upper: Floats
    draws: Floats | None = None
    covariance: Floats | None = None
    units: Floats | None = None
    errors: PairedErrors | None = None
    lost_draws: int = 0
    fit: Fit | None = None
    model: PairModel | None = None


def estimate(
    table: BattleTable, pairs: PairCounts, members: Ints, settings: Settings, anchor: Ints | None
) -> Estimate:
    """Rate the systems of a group."""
    inner, _ = pairs.among(members)
    model = model_of(settings.method)
    settled = fit(model, inner)
    if model.ties and not settled.has_tie:
        model = BradleyTerry()
    local = table if len(members) == len(table.systems) else restrict(table, members)
    anchor = None if anchor is None else np.searchsorted(members, anchor)
    shift = _shift(settings, settled.theta, anchor)
    points = POINTS * (settled.theta - shift[0]) + shift[1]
    point_estimate = replace(_unsure(members, points), fit=settled, model=model)
    units = len(local.questions) if settings.cluster is Cluster.QUESTION else None
    if units is not None and units <= 1:
        return point_estimate
    if len(members) > SPARSE_ABOVE:
        errors = multiplier_errors(model, settled, inner, local, settings, anchor)
        effective = inner.battles if units is None else units_by_system(local)
        return _with_errors(point_estimate, errors * POINTS, effective)
    sandwich = _sandwich(
        point_estimate,
        local,
        inner,
        settings,
        anchor,
        effective_units(local, inner, settings.cluster, anchor),
    )
    if settings.interval is IntervalKind.SANDWICH:
        return sandwich
    return _bootstrap(sandwich, local, inner, settings, anchor)


def restrict(table: BattleTable, members: Ints) -> BattleTable:
    """Select and renumber the battles among the given systems."""
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


def _shift(settings: Settings, theta: Floats, anchor: Ints | None) -> tuple[float, float]:
    if anchor is not None and settings.anchor is not None:
        return float(theta[anchor].mean()), settings.anchor.zero
    return float(theta.mean()), MEAN


def _sandwich(
    point_estimate: Estimate,
    table: BattleTable,
    pairs: PairCounts,
    settings: Settings,
    anchor: Ints | None,
    effective: EffectiveUnits,
) -> Estimate:
    if point_estimate.fit is None or point_estimate.model is None:
        return point_estimate
    inverse = joint_inverse(pairs, point_estimate.fit)
    if settings.cluster is Cluster.NONE:
        covariance = plain_covariance(point_estimate.model, point_estimate.fit, pairs, inverse)
    else:
        scores = cluster_scores(
            table, row_scores(point_estimate.model, point_estimate.fit, pairs, table), pairs.systems
        )
        covariance = clustered_covariance(inverse, scores, pairs.systems)
    covariance = in_gauge(in_gauge(covariance, anchor).T, anchor) * POINTS**2
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0) * effective.own_factor)
    paired = PairedErrors.of(point_estimate.points, covariance, effective.paired, effective.paired_factor)
    return _with_errors(point_estimate, errors, effective.own, covariance=covariance, paired=paired)


def _unsure(members: Ints, points: Floats) -> Estimate:
    nothing = np.full(len(members), np.nan)
    return Estimate(members=members, points=points, se=nothing, lower=nothing, upper=nothing)


def _with_errors(
    point_estimate: Estimate,
    errors: Floats,
    units: Floats,
    *,
    covariance: Floats | None = None,
    paired: PairedErrors | None = None,
) -> Estimate:
    reach = t_quantile(freedom_of(units)) * errors
    return replace(
        point_estimate,
        se=errors,
        lower=point_estimate.points - reach,
        upper=point_estimate.points + reach,
        covariance=covariance,
        units=units,
        errors=paired,
    )


def resampled(members: Ints, points: Floats, draws: Floats, effective: EffectiveUnits) -> Estimate:
    """Return ratings with intervals from joint draws: percentiles, or t for few questions."""
    covariance = np.atleast_2d(np.cov(draws, rowvar=False))
    by_t = _with_errors(
        _unsure(members, points),
        np.sqrt(np.diag(covariance)),
        effective.own,
        covariance=covariance,
        paired=PairedErrors.of(points, covariance, effective.paired),
    )
    return _resampled(by_t, draws, draws, intervals.percentile(draws, effective.own))


def _resampled(estimate: Estimate, draws: Floats, complete: Floats, ends: tuple[Floats, Floats]) -> Estimate:
    if estimate.units is None:
        return estimate
    few = estimate.units < FEW_QUESTIONS
    covariance = np.atleast_2d(np.cov(complete, rowvar=False))
    return replace(
        estimate,
        se=np.where(few, estimate.se, np.sqrt(np.diag(covariance))),
        lower=np.where(few, estimate.lower, ends[0]),
        upper=np.where(few, estimate.upper, ends[1]),
        draws=draws,
        covariance=estimate.covariance if few.any() and estimate.covariance is not None else covariance,
        lost_draws=len(draws) - len(complete),
    )


def in_gauge(values: Floats, anchor: Ints | None) -> Floats:
    """(…, M) log-odds shifted so that the anchor, or the mean, is 0."""
    middle = (values if anchor is None else values[..., anchor]).mean(axis=-1, keepdims=True)
    return np.asarray(values - middle)


def with_reach(
    point: Floats,
    covariance: Floats,
    members: Ints,
    place: Ints | None,
    settings: Settings,
    effective: EffectiveUnits,
) -> Estimate:
    """Return the ratings of a fit in points, with t intervals.

    `point` and `covariance` have the (S) systems first, then K covariates; `place` is the anchor's index.
    """
    size = len(members)
    inner = in_gauge(in_gauge(covariance[:size, :size], place).T, place) * POINTS**2
    zero = MEAN if settings.anchor is None else settings.anchor.zero
    points = in_gauge(point[:size], place) * POINTS + zero
    return _with_errors(
        _unsure(members, points),
        np.sqrt(np.maximum(np.diag(inner), 0.0) * effective.own_factor),
        effective.own,
        covariance=inner,
        paired=PairedErrors.of(points, inner, effective.paired, effective.paired_factor),
    )


def _bootstrap(
    sandwich: Estimate, table: BattleTable, pairs: PairCounts, settings: Settings, anchor: Ints | None
) -> Estimate:
    if sandwich.fit is None or sandwich.model is None or settings.bootstrap is None or sandwich.units is None:
        return sandwich
    thetas = draw(
        sandwich.model,
        sandwich.fit,
        Units.of(sandwich.model, table, pairs, settings.cluster),
        draws=settings.bootstrap,
        seed=settings.seed,
    )
    zero = float(sandwich.points[anchor].mean()) if anchor is not None else MEAN
    draws = in_gauge(thetas, anchor) * POINTS + zero
    complete = draws[~np.isnan(draws).any(axis=1)]
    if len(complete) <= 1:
        return sandwich
    units = sandwich.units if settings.cluster is Cluster.QUESTION else None
    if settings.bounds is Bounds.BCA:
        inverse = joint_inverse(pairs, sandwich.fit)
        speed = _acceleration(sandwich.model, sandwich.fit, pairs, table, settings, inverse, anchor)
        ends = intervals.bca(complete, sandwich.points, speed, units)
    else:
        ends = intervals.percentile(complete, units)
    return _resampled(sandwich, draws, complete, ends)


def _acceleration(
    model: PairModel,
    settled: Fit,
    pairs: PairCounts,
    table: BattleTable,
    settings: Settings,
    inverse: Floats,
    anchor: Ints | None,
) -> Floats:
    """(M,) BCa accelerations, from the influence of each question or kind of battle."""
    size = pairs.systems
    if settings.cluster is Cluster.QUESTION:
        scores = cluster_scores(table, row_scores(model, settled, pairs, table), size)
        return intervals.acceleration(in_gauge((scores @ inverse)[:, :size], anchor))
    at_gap, at_tie = model.outcome_scores(settled.theta[pairs.low] - settled.theta[pairs.high], settled.tie)
    towards = inverse[pairs.low] - inverse[pairs.high]
    cells = at_gap[:, :, None] * towards[None]
    if settled.has_tie and at_tie is not None:
        cells = cells + at_tie[:, :, None] * inverse[-1]
    influence = in_gauge(cells.reshape(-1, len(inverse))[:, :size], anchor)
    return intervals.acceleration(influence, pairs.outcomes.reshape(-1))
