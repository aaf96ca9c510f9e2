"""Ratings within each domain, shrunk towards the overall ratings if a domain has few battles.

Ratings of a domain are normal around the overall ones: θ_id ~ N(θ_i, τ²). One τ is estimated from all
domains (EM on the normal approximation), weighted by questions, with a half-normal prior. Battles of a system
on one question are weighted down by their correlation. Posterior draws perturb the battles by the bootstrap
and the prior's centre by a joint draw of the overall ratings plus N(0, τ²). With too many systems for draws,
the sandwich covariance of the battles and the covariance of the prior add up.

Sources: Efron & Morris (1975) for the shrinkage; Gelman (2006), "Prior distributions for variance parameters
in hierarchical models", Bayesian Analysis 1(3), for the prior; Kish (1965), section 8.2, for the effect of
clusters; Newton & Raftery (1994) for weighted-likelihood draws.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from data.errors import UnrankableError
from leaderboard.battles import BattleTable
from leaderboard.ratings.assemble import assemble
from leaderboard.ratings.counts import Floats, Ints, PairCounts, count_pairs, one_thread
from leaderboard.ratings.estimate import in_gauge, resampled, restrict, with_reach
from leaderboard.ratings.models.likelihoods import BradleyTerry, sigmoid
from leaderboard.ratings.models.newton import Fit, Ridge, fit, information
from leaderboard.ratings.ranks import letter_set
from leaderboard.ratings.rate import anchor_codes, interval_for, usable
from leaderboard.ratings.result import Rating, RatingTable, Settings
from leaderboard.ratings.uncertainty.differences import rate_as
from leaderboard.ratings.uncertainty.effective import effective_units
from leaderboard.ratings.uncertainty.resample import Units, draw
from leaderboard.ratings.uncertainty.sandwich import (
    cluster_scores,
    clustered_covariance,
    plain_covariance,
    row_scores,
)
from leaderboard.ratings.vocabulary import MEAN, POINTS, Cluster, IntervalKind, Method

EM_STEPS = 100
MIN_SPREAD = 1.0 / POINTS
PRIOR_SPREAD = 100.0 / POINTS
"""Standard deviation of τ's half-normal prior, and the start of its estimate."""
MIN_CORRELATION = 0.2
"""Minimum correlation of a system's battles on one question; few questions cannot show a smaller one."""
NONE_SEPARATED = "The battles of this domain do not separate any two systems."


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainTable:
    """One domain's ratings.

    Attributes:
        table: Ratings of the systems in the overall main group, each with the share of its own evidence; a
            system without a battle in the domain is flagged `borrowed`. Order, ranks and letters come from
            a rating of the domain's own battles only; a note says if these separate no systems.
        spread: τ, the standard deviation of domain ratings around the overall ones in points.
    """

    domain: str
    table: RatingTable
    spread: float


def rate_domains(
    battles: BattleTable, settings: Settings | None = None, *, overall: RatingTable | None = None
) -> tuple[DomainTable, ...]:
    """Return Bradley-Terry ratings of each domain with battles, shrunk towards the overall ratings.

    Args:
        battles: The battles.
        settings: How to rate. The method is always Bradley-Terry; sandwich intervals are used only for more
            than `MAX_RESAMPLED` systems.
        overall: Ratings of all battles, if known; recomputed if their settings differ from the domains'.
    """
    chosen = Settings() if settings is None else settings
    table = usable(battles)
    kind = IntervalKind.BOOTSTRAP
    if chosen.interval is not kind:
        kind = interval_for(len(table.systems), Method.BRADLEY_TERRY)
    chosen = Settings(
        bootstrap=(chosen.bootstrap or Settings().bootstrap) if kind is IntervalKind.BOOTSTRAP else None,
        cluster=chosen.cluster,
        anchor=chosen.anchor,
        seed=chosen.seed,
        method=Method.BRADLEY_TERRY,
        interval=kind,
    )
    if overall is None or overall.settings != chosen:
        overall = rate_as(table, chosen)
    rated = np.flatnonzero(~np.isnan(overall.points) & (overall.component == 0))
    if len(rated) <= 1 or overall.covariance is None:
        message = "Ratings of domains borrow from overall ratings, which do not exist."
        raise UnrankableError(message, advice="Judge more battles, so that systems win and lose.")
    centre = (overall.points[rated] - overall.points[rated].mean()) / POINTS
    with one_thread():
        parts = _parts(table, rated, centre, chosen)
        spread, thetas = _spread([part.pairs for part in parts], [part.questions for part in parts], centre)
        return tuple(
            _rate_domain(part, overall, rated, chosen, (centre, theta), spread)
            for part, theta in zip(parts, thetas, strict=True)
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class _Part:
    """Battles of one domain among the rated systems; `weighed` and `pairs` are weighted down for clustering.

    `among_all` is the (M,) share of each system's battles that are in this domain.
    """

    domain: str
    local: BattleTable
    weighed: BattleTable
    pairs: PairCounts
    among_all: Floats

    @property
    def questions(self) -> int:
        return len(self.local.questions)


def _parts(table: BattleTable, rated: Ints, centre: Floats, settings: Settings) -> list[_Part]:
    everyone = restrict(table, rated)
    correlation = _correlation(everyone, centre) if settings.cluster is Cluster.QUESTION else 0.0
    parts, battles = [], np.maximum(count_pairs(everyone).battles, 1e-300)
    for code, domain in enumerate(everyone.domains):
        chosen = everyone.domain == code
        if chosen.any():
            local = restrict(everyone.select(chosen), np.arange(len(rated)))
            weighed = _weighed(local, correlation)
            parts.append(
                _Part(
                    domain=domain,
                    local=local,
                    weighed=weighed,
                    pairs=count_pairs(weighed),
                    among_all=count_pairs(local).battles / battles,
                )
            )
    return parts


def _cells(table: BattleTable) -> tuple[Ints, Ints]:
    """(N,) number of the system × question cell of side a of each battle, and of side b."""
    base = table.question.astype(np.int64) * len(table.systems)
    return base + table.a, base + table.b


def _correlation(table: BattleTable, centre: Floats) -> float:
    weight = np.ones(len(table)) if table.weight is None else table.weight
    chance = sigmoid(centre[table.a] - centre[table.b])
    rest, scale = weight * (table.share - chance), weight * np.sqrt(chance * (1 - chance))
    number = np.unique(np.concatenate(_cells(table)), return_inverse=True)[1]
    pairs = [
        np.bincount(number, ends) ** 2 - np.bincount(number, ends**2)
        for ends in (np.concatenate([rest, -rest]), np.concatenate([scale, scale]))
    ]
    together, most = (float(sums.sum()) for sums in pairs)
    return float(np.clip(together / most, MIN_CORRELATION, 1.0)) if most > 0 else 1.0


def _weighed(table: BattleTable, correlation: float) -> BattleTable:
    size = len(table.systems)
    questions = np.bincount(np.unique(np.concatenate(_cells(table))) % size, minlength=size)
    battles = np.bincount(np.concatenate([table.a, table.b]), minlength=size)
    effect = 1 + np.maximum(battles / np.maximum(questions, 1) - 1, 0) * correlation
    share = 1 / np.sqrt(effect[table.a] * effect[table.b])
    if (share == 1).all():
        return table
    return replace(table, weight=share if table.weight is None else table.weight * share)


def _rate_domain(
    part: _Part,
    overall: RatingTable,
    rated: Ints,
    settings: Settings,
    centres: tuple[Floats, Floats],
    spread: float,
) -> DomainTable:
    local, (centre, theta) = part.local, centres
    anchor = anchor_codes(local, settings.anchor)
    members, pairs = np.arange(len(rated)), count_pairs(local)
    effective = effective_units(local, pairs, settings.cluster, anchor)
    if settings.interval is IntervalKind.SANDWICH:
        covariance = _covariance(part, overall, rated, settings, centres, spread)
        estimate = with_reach(theta, covariance, members, anchor, settings, effective)
    else:
        draws = _draws(part.weighed, part.pairs, overall, rated, settings, centres, spread)
        zero = MEAN if settings.anchor is None else settings.anchor.zero
        points = in_gauge(theta, anchor) * POINTS + zero
        estimate = resampled(members, points, in_gauge(draws, anchor) * POINTS + zero, effective)
    shrunk = assemble(local, pairs, None, [estimate], settings, borrowing=True)
    own = dict(zip(local.systems, _own_evidence(part, centre, theta, spread).tolist(), strict=True))
    unshrunk = replace(settings, interval=IntervalKind.SANDWICH, bootstrap=None, anchor=None)
    places = {row.system: row for row in rate_as(local, unshrunk).ratings}
    separates = any(row.rank_lower > 1 for row in places.values())
    ratings = (replace(row, own_evidence=own[row.system]) for row in shrunk.ratings)
    return DomainTable(
        domain=part.domain,
        table=replace(
            shrunk,
            ratings=_placed(ratings, places),
            notes=shrunk.notes if separates else (*shrunk.notes, NONE_SEPARATED),
        ),
        spread=spread * POINTS,
    )


def _placed(ratings: Iterable[Rating], places: Mapping[str, Rating]) -> tuple[Rating, ...]:
    """Return the ratings with order, ranks and letters of `places`; systems absent there get every rank."""
    rows = {row.system: row for row in ratings}
    absent = [name for name in rows if name not in places]
    texts = [place.letters for place in places.values()]
    every = sorted(set().union(*map(letter_set, filter(None, texts))))
    placed = [
        replace(
            rows[name],
            rank=place.rank,
            rank_lower=place.rank_lower,
            rank_upper=place.rank_upper + len(absent),
            tie_group=place.tie_group,
            letters=place.letters,
            ladder=place.ladder,
        )
        for name, place in places.items()
    ]
    anywhere = [
        replace(
            rows[name],
            rank=len(places) + 1,
            rank_lower=1,
            rank_upper=len(rows),
            tie_group=1,
            letters=None if None in texts else "".join(sorted(every, key=len)),
            ladder=0,
        )
        for name in absent
    ]
    return (*placed, *anywhere)


def _own_evidence(part: _Part, centre: Floats, theta: Floats, spread: float) -> Floats:
    """(M,) share of each rating that comes from the domain's battles.

    That is the share of the prior variance τ² that these battles remove, plus their share of the overall
    rating, which accounts for the rest.
    """
    ridge = Ridge(precision=np.full(part.pairs.systems, spread**-2), centre=centre)
    settled = fit(BradleyTerry(), part.pairs, ridge, theta)
    left = np.clip(np.diag(_posterior(part.pairs, settled, ridge)) / spread**2, 0.0, 1.0)
    return np.asarray(1 - left * (1 - part.among_all))


def _posterior(pairs: PairCounts, settled: Fit, ridge: Ridge) -> Floats:
    """(M, M) posterior covariance of a domain's ratings for a known τ."""
    matrix = information(pairs, settled.curvature)
    matrix[np.diag_indices_from(matrix)] += ridge.precision
    return np.asarray(np.linalg.inv(matrix))


def _spread(
    domains: Sequence[PairCounts], questions: Sequence[int], centre: Floats
) -> tuple[float, list[Floats]]:
    spread, thetas = PRIOR_SPREAD, [centre for _ in domains]
    weight = np.asarray(questions) / sum(questions)
    terms = len(domains) * len(centre)
    for _ in range(EM_STEPS):
        ridge = Ridge(precision=np.full(len(centre), spread**-2), centre=centre)
        squares = np.zeros(len(domains))
        for number, pairs in enumerate(domains):
            settled = fit(BradleyTerry(), pairs, ridge, thetas[number])
            thetas[number] = settled.theta
            variance = np.diag(_posterior(pairs, settled, ridge))
            squares[number] = np.mean((settled.theta - centre) ** 2 + variance)
        total = terms * float(weight @ squares)
        # The maximum of −terms · log τ − total / 2τ² − τ² / 2 PRIOR_SPREAD².
        root = np.sqrt(terms**2 + 4 * total / PRIOR_SPREAD**2)
        before, spread = spread, float(np.sqrt(PRIOR_SPREAD**2 * (root - terms) / 2))
        spread = max(spread, MIN_SPREAD)
        if abs(spread - before) < 1e-4 * before:
            break
    return spread, thetas


def _covariance(
    part: _Part,
    overall: RatingTable,
    rated: Ints,
    settings: Settings,
    centres: tuple[Floats, Floats],
    spread: float,
) -> Floats:
    """(M, M) covariance in log-odds of the draws of `_draws`, to first order."""
    if overall.covariance is None:
        raise UnrankableError("The overall ratings have no covariance.", advice="Rate fewer systems.")
    (centre, theta), model, size = centres, BradleyTerry(), len(rated)
    ridge = Ridge(precision=np.full(size, spread**-2), centre=centre)
    settled = fit(model, part.pairs, ridge, theta)
    inverse = _posterior(part.pairs, settled, ridge)
    if settings.cluster is Cluster.NONE or part.questions <= 1:
        battles = plain_covariance(model, settled, part.pairs, inverse)
    else:
        rows = row_scores(model, settled, part.pairs, part.weighed)
        battles = clustered_covariance(inverse, cluster_scores(part.weighed, rows, size), size)
    moved = overall.covariance[np.ix_(rated, rated)] / POINTS**2
    prior = in_gauge(in_gauge(moved, None).T, None) + spread**2 * np.eye(size)
    return np.asarray(battles + inverse @ prior @ inverse / spread**4)


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
        raise UnrankableError("The overall ratings have no resamples.", advice="Use bootstrap intervals.")
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
        seed=settings.seed,
        ridge=ridge,
    )
