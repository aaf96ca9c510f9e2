"""Assemble estimates of groups into a rating table with bounds and ranks."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leaderboard.battles import BattleTable
from leaderboard.ratings.counts import Floats, Ints, PairCounts
from leaderboard.ratings.estimate import Estimate
from leaderboard.ratings.models.existence import Groups
from leaderboard.ratings.models.newton import SPARSE_ABOVE
from leaderboard.ratings.ranks import Known, Places, place_systems
from leaderboard.ratings.result import Rating, RatingTable, Settings
from leaderboard.ratings.uncertainty import intervals
from leaderboard.ratings.uncertainty.intervals import FEW_QUESTIONS, NO_SPREAD, PairedErrors
from leaderboard.ratings.vocabulary import POINTS, Cluster, Flag


@dataclass(frozen=True, eq=False, kw_only=True)
class Columns:
    """(S,) columns of the table, filled in place by this module only."""

    points: Floats
    se: Floats
    lower: Floats
    upper: Floats
    component: Ints
    flags: list[list[Flag]]


def assemble(
    table: BattleTable,
    pairs: PairCounts,
    groups: Groups | None,
    estimates: list[Estimate],
    settings: Settings,
    *,
    borrowing: bool = False,
) -> RatingTable:
    """Return the rating table of the groups' estimates.

    Without `groups` all ratings exist (online Elo). With `borrowing`, ratings of a domain borrow from the
    overall ones, so systems with few battles keep their intervals and systems without battles are flagged.
    """
    size = len(table.systems)
    columns = Columns(
        points=np.full(size, np.nan),
        se=np.full(size, np.nan),
        lower=np.full(size, np.nan),
        upper=np.full(size, np.nan),
        component=np.zeros(size, dtype=np.int64),
        flags=[[] for _ in range(size)],
    )
    for estimate in estimates:
        _fill(columns, estimate)
    if borrowing:
        for code in np.flatnonzero(pairs.battles == 0).tolist():
            columns.flags[code].append(Flag.BORROWED)
    elif settings.cluster is Cluster.QUESTION:
        _withhold(columns, _on_one_question(table, pairs.battles))
    _fix_anchor(columns, table, settings)
    if groups is not None:
        _place_outside(columns, table, pairs, groups, settings)
    errors = _joint_errors(estimates, size)
    places = place_systems(
        columns.points,
        columns.se,
        (columns.lower, columns.upper),
        columns.component,
        errors,
        _joint_units(estimates, size),
        None
        if groups is None
        else Known(
            ladder=groups.ladder,
            over=groups.over,
            under=groups.under,
            clean=_clean_wins(table, groups, settings),
        ),
    )
    return RatingTable(
        ratings=_rows(table, pairs, columns, places, None if groups is None else groups.ladder),
        settings=settings,
        systems=table.systems,
        points=columns.points,
        draws=_joint_draws(estimates, size),
        covariance=_joint(estimates, size),
        errors=errors,
        component=columns.component.astype(np.int32),
        questions=len(table.questions),
        gradient_norm=max((e.fit.gradient_norm for e in estimates if e.fit is not None), default=None),
        tie_parameter=_tie_parameter(estimates),
        draws_without_estimate=sum(estimate.lost_draws for estimate in estimates),
    )


def _fill(columns: Columns, estimate: Estimate) -> None:
    columns.points[estimate.members] = estimate.points
    spread = np.nan_to_num(estimate.se) >= NO_SPREAD
    for code in estimate.members[~spread].tolist():
        columns.flags[code].append(Flag.NO_INTERVAL)
    members = estimate.members[spread]
    columns.se[members] = estimate.se[spread]
    columns.lower[members] = estimate.lower[spread]
    columns.upper[members] = estimate.upper[spread]
    if estimate.units is not None:
        for code in estimate.members[spread & (estimate.units < FEW_QUESTIONS)].tolist():
            columns.flags[code].append(Flag.FEW_QUESTIONS)


def _withhold(columns: Columns, few: NDArray[np.bool_]) -> None:
    for code in np.flatnonzero(few & ~np.isnan(columns.se)).tolist():
        columns.flags[code] = [flag for flag in columns.flags[code] if flag is not Flag.FEW_QUESTIONS]
        columns.flags[code].append(Flag.NO_INTERVAL)
        columns.se[code] = columns.lower[code] = columns.upper[code] = np.nan


def _on_one_question(table: BattleTable, battles: Floats) -> NDArray[np.bool_]:
    """(S,) mask of systems with all battles on one question."""
    most = np.bincount(table.question, table.weight).max()
    few: NDArray[np.bool_] = np.asarray(battles <= most)
    if not few.any():
        return few
    rows = few[table.a] | few[table.b]
    a, b, question = table.a[rows], table.b[rows], table.question[rows]
    some = np.zeros(len(table.systems), dtype=np.int32)
    some[b] = question
    some[a] = question
    several = ~few
    several[a[question != some[a]]] = True
    several[b[question != some[b]]] = True
    return np.asarray(~several)


def _fix_anchor(columns: Columns, table: BattleTable, settings: Settings) -> None:
    if settings.anchor is None or settings.anchor.additional:
        return
    code = table.systems.index(settings.anchor.system)
    for column in (columns.points, columns.lower, columns.upper):
        column[code] = settings.anchor.rating
    columns.se[code] = 0.0
    columns.flags[code] = [Flag.ANCHOR]


def _place_outside(
    columns: Columns, table: BattleTable, pairs: PairCounts, groups: Groups, settings: Settings
) -> None:
    """Set flags, components and one-sided bounds of systems outside the main group."""
    unrated = np.isnan(columns.points)
    linked = (groups.above | groups.below) & unrated
    main = groups.label == 0
    columns.component[:] = np.where(main | linked, 0, groups.label)
    clean_winner, clean_loser = clean_records(pairs)
    for code in np.flatnonzero(~main).tolist():
        flags = columns.flags[code]
        if unrated[code]:
            won = Flag.NEVER_LOSES if clean_winner[code] else Flag.UNBOUNDED
            flags.append(Flag.NEVER_WINS if clean_loser[code] else won)
        if not linked[code]:
            flags.append(Flag.SEPARATE)
    for code in np.flatnonzero(main & unrated).tolist():
        won = Flag.NEVER_LOSES if clean_winner[code] else Flag.UNBOUNDED
        columns.flags[code].append(Flag.NEVER_WINS if clean_loser[code] else won)
    rated = np.where(main, columns.points, np.nan)
    if np.isnan(rated).all():
        return
    middle = float(np.nanmean(rated))
    effective = _effective(table, linked, settings)
    for side, column, wins in ((groups.above, columns.lower, True), (groups.below, columns.upper, False)):
        outside = np.flatnonzero(side & linked)
        if len(outside):
            log_odds = intervals.one_sided(pairs, outside, (rated - middle) / POINTS, effective, wins=wins)
            column[outside] = middle + POINTS * log_odds


def clean_records(pairs: PairCounts) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(S,) masks of systems that won all their battles, and that lost all."""
    low, high, tie = pairs.outcomes
    won, lost = pairs.sum_ends(low, high), pairs.sum_ends(high, low)
    tied = pairs.sum_ends(tie, tie)
    return (lost + tied == 0) & (won > 0), (won + tied == 0) & (lost > 0)


def _effective(table: BattleTable, outside: NDArray[np.bool_], settings: Settings) -> Floats:
    """(S,) number of independent battles per battle of a system: Kish's effective questions over battles."""
    size = len(table.systems)
    share = np.ones(size)
    if settings.cluster is Cluster.NONE or not outside.any():
        return share
    weight = np.ones(len(table)) if table.weight is None else table.weight
    rows_by_end = [np.flatnonzero(outside[end] & (weight > 0)) for end in (table.a, table.b)]
    ends = np.concatenate([end[rows] for end, rows in zip((table.a, table.b), rows_by_end, strict=True)])
    rows = np.concatenate(rows_by_end)
    keys, place = np.unique(table.question[rows] * np.int64(size) + ends, return_inverse=True)
    of_question = np.bincount(place, weight[rows])
    system = keys % size
    square = np.bincount(system, of_question**2, size)
    met = square > 0
    share[met] = np.bincount(system, of_question, size)[met] / square[met]
    return share


def _joint(estimates: list[Estimate], size: int) -> Floats | None:
    parts = [
        (estimate.members, estimate.covariance) for estimate in estimates if estimate.covariance is not None
    ]
    if size > SPARSE_ABOVE or not parts:
        return None
    joint = np.full((size, size), np.nan)
    for members, covariance in parts:
        joint[np.ix_(members, members)] = covariance
    return joint


def _joint_errors(estimates: list[Estimate], size: int) -> PairedErrors | None:
    parts = [(estimate.members, estimate.errors) for estimate in estimates if estimate.errors is not None]
    if size > SPARSE_ABOVE or not parts:
        return None
    se, units = np.full((size, size), np.nan), np.zeros((size, size))
    for members, errors in parts:
        se[np.ix_(members, members)] = errors.se
        units[np.ix_(members, members)] = errors.units
    return PairedErrors(se=se, units=units)


def _joint_units(estimates: list[Estimate], size: int) -> Floats:
    units = np.full(size, np.inf)
    for estimate in estimates:
        if estimate.units is not None:
            units[estimate.members] = estimate.units
    return units


def _joint_draws(estimates: list[Estimate], size: int) -> Floats | None:
    parts = [(estimate.members, estimate.draws) for estimate in estimates if estimate.draws is not None]
    if size > SPARSE_ABOVE or not parts:
        return None
    joint = np.full((len(parts[0][1]), size), np.nan)
    for members, draws in parts:
        joint[:, members] = draws
    return joint


def _tie_parameter(estimates: list[Estimate]) -> float | None:
    main = estimates[0] if estimates else None
    if main is None or main.fit is None or main.model is None or not main.fit.has_tie:
        return None
    return main.model.ratio(main.fit.tie)


def _clean_wins(table: BattleTable, groups: Groups, settings: Settings) -> Floats | None:
    """(S, S) number of questions (or battles) on which the row's system beat one of another group."""
    size = len(table.systems)
    if size > SPARSE_ABOVE:
        return None
    rows = np.flatnonzero(groups.label[table.a] != groups.label[table.b])
    if table.weight is not None:
        rows = rows[table.weight[rows] > 0]
    won = table.share[rows] > 0
    a, b = table.a[rows].astype(np.int64), table.b[rows].astype(np.int64)
    pair = np.where(won, a * size + b, b * size + a)
    if settings.cluster is Cluster.QUESTION:
        questions = np.int64(len(table.questions))
        pair = np.unique(pair * questions + table.question[rows]) // questions
        counts = np.bincount(pair, minlength=size**2)
    else:
        weight = None if table.weight is None else table.weight[rows]
        counts = np.bincount(pair, weight, minlength=size**2)
    return np.asarray(counts.reshape(size, size), dtype=np.float64)


def _rows(
    table: BattleTable, pairs: PairCounts, columns: Columns, places: Places, ladder: Ints | None
) -> tuple[Rating, ...]:
    battles = [round(count) for count in pairs.battles.tolist()]
    points, se, lower, upper = (
        [None if value != value else value for value in column.tolist()]  # noqa: PLR0124 - NaN differs from itself
        for column in (columns.points, columns.se, columns.lower, columns.upper)
    )
    return tuple(
        Rating(
            system=table.systems[code],
            rating=points[code],
            se=se[code],
            lower=lower[code],
            upper=upper[code],
            rank=int(places.rank[code]),
            rank_lower=int(places.lower[code]),
            rank_upper=int(places.upper[code]),
            tie_group=int(places.group[code]),
            letters=places.letters[code],
            battles=battles[code],
            component=int(columns.component[code]),
            ladder=0 if ladder is None else int(ladder[code]),
            flags=tuple(columns.flags[code]),
        )
        for code in places.order.tolist()
    )
