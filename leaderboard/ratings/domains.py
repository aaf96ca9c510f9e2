"""Ratings within each domain, shrunk towards the overall ratings where a domain's battles are few.

Within domain d each rating is drawn around the overall one, θ_id ~ N(θ_i, τ_d²). τ_d is estimated from
the domain's battles (EM on the normal approximation), so a domain that differs is left to differ and a
thin one borrows. Draws perturb the battles by the bootstrap and the prior's centre by a joint draw of
the overall ratings plus N(0, τ_d²), which makes them draws of the posterior.

Sources: Efron & Morris (1975) for the shrinkage; Newton & Raftery (1994) for weighted-likelihood draws.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from data.errors import UnrankableError
from leaderboard.battles import BattleTable
from leaderboard.ratings.assemble import assemble
from leaderboard.ratings.counts import Floats, Ints, PairCounts, count_pairs
from leaderboard.ratings.estimate import Estimate, in_gauge, restrict
from leaderboard.ratings.models.likelihoods import BradleyTerry
from leaderboard.ratings.models.newton import Ridge, fit, information
from leaderboard.ratings.rate import usable
from leaderboard.ratings.result import RatingTable, Settings
from leaderboard.ratings.threads import one_thread
from leaderboard.ratings.uncertainty import bounds
from leaderboard.ratings.uncertainty.differences import rate_as
from leaderboard.ratings.uncertainty.resample import Units, draw
from leaderboard.ratings.vocabulary import MEAN, POINTS, Cluster, IntervalKind, Method

EM_STEPS = 100
LEAST_SPREAD = 1.0 / POINTS
FIRST_SPREAD = 100.0 / POINTS


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainTable:
    """One domain's ratings.

    Attributes:
        domain: The domain.
        table: Its ratings, of the systems that the overall table's main group rates; a system without a
            battle here is flagged `borrowed`.
        spread: τ, how far ratings of this domain lie from the overall ones, in points.
    """

    domain: str
    table: RatingTable
    spread: float


def rate_domains(
    battles: BattleTable, settings: Settings | None = None, *, overall: RatingTable | None = None
) -> tuple[DomainTable, ...]:
    """Bradley-Terry ratings of each domain that has battles, shrunk towards the overall ratings.

    Args:
        battles: The battles.
        settings: How to rate; Bradley-Terry with resamples, whatever they say of that.
        overall: The ratings of all battles, where somebody made them already. They are made again where
            they were made in another way than the domains' are.

    Raises:
        UnrankableError: There are no battles, or no overall ratings to borrow from.
    """
    chosen = Settings() if settings is None else settings
    chosen = Settings(
        bootstrap=chosen.bootstrap or Settings().bootstrap,
        cluster=chosen.cluster,
        weighting=chosen.weighting,
        anchor=chosen.anchor,
        seed=chosen.seed,
        method=Method.BRADLEY_TERRY,
        interval=IntervalKind.BOOTSTRAP,
    )
    table = usable(battles)
    if overall is None or overall.settings != chosen:
        overall = rate_as(table, chosen)
    rated = np.flatnonzero(~np.isnan(overall.points) & (overall.component == 0))
    if len(rated) <= 1 or overall.draws is None:
        message = "There are no overall ratings for the domains to borrow from."
        raise UnrankableError(message, advice="Judge more battles, so that systems win and lose.")
    domain_tables = []
    with one_thread():
        for code, domain in enumerate(table.domains):
            part = table.select(table.domain == code)
            if len(part):
                domain_tables.append(_rate_domain(part, domain, overall, rated, chosen))
    return tuple(domain_tables)


def _rate_domain(
    part: BattleTable, domain: str, overall: RatingTable, rated: Ints, settings: Settings
) -> DomainTable:
    local = restrict(part, rated)
    pairs = count_pairs(local)
    centre = (overall.points[rated] - overall.points[rated].mean()) / POINTS
    spread, theta = _spread(pairs, centre)
    anchor = None if settings.anchor is None else local.systems.index(settings.anchor.system)
    draws = _draws(local, pairs, overall, rated, settings, (centre, theta), spread)
    zero = MEAN if settings.anchor is None else settings.anchor.rating
    points = in_gauge(theta, anchor) * POINTS + zero
    draws = in_gauge(draws, anchor) * POINTS + zero
    units = len(local.questions) if settings.cluster is Cluster.QUESTION else None
    lower, upper = bounds.percentile(draws, units)
    covariance = np.atleast_2d(np.cov(draws, rowvar=False))
    estimate = Estimate(
        members=np.arange(len(rated)),
        points=points,
        se=np.sqrt(np.diag(covariance)),
        lower=lower,
        upper=upper,
        draws=draws,
        covariance=covariance,
    )
    return DomainTable(
        domain=domain,
        table=assemble(local, pairs, None, [estimate], settings, borrowing=True),
        spread=spread * POINTS,
    )


def _spread(pairs: PairCounts, centre: Floats) -> tuple[float, Floats]:
    """The τ of a domain and the ratings shrunk by it, in log-odds."""
    spread, theta = FIRST_SPREAD, centre
    for _ in range(EM_STEPS):
        ridge = Ridge(precision=np.full(pairs.systems, spread**-2), centre=centre)
        settled = fit(BradleyTerry(), pairs, ridge, theta)
        theta = settled.theta
        matrix = information(pairs, settled.curvature)
        matrix[np.diag_indices_from(matrix)] += ridge.precision
        variance = np.diag(np.linalg.inv(matrix))
        before, spread = spread, float(np.sqrt(np.mean((theta - centre) ** 2 + variance)))
        spread = max(spread, LEAST_SPREAD)
        if abs(spread - before) < 1e-4 * before:
            break
    return spread, theta


def _draws(
    local: BattleTable,
    pairs: PairCounts,
    overall: RatingTable,
    rated: Ints,
    settings: Settings,
    centres: tuple[Floats, Floats],
    spread: float,
) -> Floats:
    """(B, M) posterior draws in log-odds."""
    centre, theta = centres
    if overall.draws is None:
        raise UnrankableError("The overall ratings have no draws.", advice="Rate by the bootstrap.")
    moved = in_gauge(overall.draws[:, rated] / POINTS, None)
    moved = np.where(np.isnan(moved), centre, moved)
    rng = np.random.default_rng([settings.seed, len(local), len(local.questions)])
    moved = moved + spread * rng.standard_normal(moved.shape)
    ridge = Ridge(precision=np.full(pairs.systems, spread**-2), centre=np.ascontiguousarray(moved.T))
    at = Ridge(precision=ridge.precision, centre=centre)
    settled = fit(BradleyTerry(), pairs, at, theta)
    return draw(
        BradleyTerry(),
        settled,
        Units.of(BradleyTerry(), local, pairs, settings.cluster),
        draws=len(moved),
        weighting=settings.weighting,
        seed=settings.seed,
        ridge=ridge,
    )
