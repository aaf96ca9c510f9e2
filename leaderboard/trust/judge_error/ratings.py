"""Ratings whose intervals count the judge's own error: what another round would say.

Source: docs/method/judge-error.md, "The full interval".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from data.errors import InputError
from data.intervals import LEVEL
from leaderboard.ratings import Flag, Method, Rating, RatingTable, Settings
from leaderboard.ratings.counts import Floats, Ints
from leaderboard.ratings.models.likelihoods import sigmoid
from leaderboard.ratings.ranks import MOST_SYSTEMS, letters, tie_groups
from leaderboard.ratings.uncertainty.differences import rate_as
from leaderboard.ratings.uncertainty.paired_errors import holm, score_distance
from leaderboard.ratings.vocabulary import POINTS, Cluster
from leaderboard.trust.judge_error.components import Components, Spread
from leaderboard.trust.judge_error.design import Design
from leaderboard.trust.judge_error.readings import Readings, rows_of
from leaderboard.trust.judge_error.reporting import (
    UNKNOWN,
    JudgeErrorFigures,
    Parts,
    notes_on,
    nothing_repeated,
    parts_of,
)
from leaderboard.trust.judge_error.variances import SEVERAL, components
from leaderboard.vocabulary import ErrorKind


@dataclass(frozen=True, eq=False, kw_only=True)
class ErrorTable(JudgeErrorFigures):
    """Ratings with an interval of some kind.

    Attributes:
        table: The ratings; se, interval, ranks, groups and letters are of the kind.
        parts: By system.
    """

    table: RatingTable
    parts: Mapping[str, Parts]

    def as_json(self) -> dict[str, object]:
        """The object that `arena battles rate --error judge|all --json` prints."""
        rows = [
            {**row.as_json(), "components": self.parts[row.system].as_json()} for row in self.table.ratings
        ]
        return {**self.table.as_json(), "ratings": rows, **self.error_json()}


def rate_readings(readings: Readings, kind: ErrorKind, settings: Settings | None = None) -> ErrorTable:
    """Rate systems by the mean of their battles' readings, with the judge's error in the intervals.

    Args:
        readings: Several of each battle, or of a part of the battles.
        kind: What the intervals count: the judge, or all.
        settings: How to rate.

    Raises:
        InputError: A method or clustering that this does not suit, or no battle was read again.
        UnrankableError: The ratings do not exist.
    """
    chosen = Settings() if settings is None else settings
    if chosen.method is not Method.BRADLEY_TERRY or chosen.cluster is not Cluster.QUESTION:
        raise InputError(
            "The judge's error is told for Bradley-Terry ratings clustered by question.",
            advice="Use `--method bradley-terry --cluster question` with `--error judge|all`.",
        )
    return with_judge_error(rate_as(readings.table(), chosen), readings, kind)


def with_judge_error(table: RatingTable, readings: Readings, kind: ErrorKind) -> ErrorTable:
    """A table of ratings with intervals, ranks and letters that count the judge's error.

    Args:
        table: Ratings by the mean of the readings' own.
        readings: Several of each battle, or of a part of them.
        kind: The judge, or all.

    Raises:
        InputError: No battle was read again, or systems are too many for joint intervals.
    """
    if kind is ErrorKind.QUESTIONS:
        raise InputError("Questions alone need no readings.", advice="Rate the battles by `rate`.")
    if table.covariance is None:
        raise InputError("Systems are too many for joint intervals.", advice="Rate fewer of them.")
    rated = ~np.isnan(table.points)
    groups = [np.flatnonzero((table.component == label) & rated) for label in np.unique(table.component)]
    estimated = [
        (members, _components(table, table.covariance, readings, members))
        for members in groups
        if len(members) >= SEVERAL
    ]
    if not estimated or all(parts.reworded is None and parts.repeats is None for _, parts in estimated):
        raise nothing_repeated()
    parts = dict.fromkeys(table.systems, UNKNOWN)
    ratings = {row.system: _without_interval(row) for row in table.ratings}
    for members, sources in estimated:
        spread = sources.of_targets(kind)
        names = [table.systems[code] for code in members.tolist()]
        parts |= dict(zip(names, parts_of(sources, spread, POINTS), strict=True))
        reach, se = (POINTS * part for part in (spread.reach(LEVEL), np.sqrt(spread.variance)))
        for name, half, error in zip(names, reach.tolist(), se.tolist(), strict=True):
            if np.isfinite(half):
                ratings[name] = _with_interval(table.of(name), half, error)
    placed = [row for group, sources in estimated for row in _placed(group, sources, table, ratings, kind)]
    known = {row.system for row in placed}
    rows = (*placed, *(row for name, row in ratings.items() if name not in known))
    order = {row.system: place for place, row in enumerate(table.ratings)}
    counts = estimated[0][1].counts
    unlinked = [name for name, part in parts.items() if part is UNKNOWN or part.degrees_of_freedom is None]
    return ErrorTable(
        table=replace(table, ratings=tuple(sorted(rows, key=lambda row: order[row.system]))),
        kind=kind,
        parts=MappingProxyType(parts),
        notes=notes_on(counts, readings.wordings, unlinked),
        counts=counts,
    )


def _components(table: RatingTable, covariance: Floats, read: Readings, members: Ints) -> Components:
    """The parts of the errors of the ratings of some linked systems, in log-odds."""
    size = len(members)
    codes = {name: code for code, name in enumerate(read.systems)}
    place, points = np.full(len(codes), -1, dtype=np.int64), np.full(len(codes), np.nan)
    inside = [codes[table.systems[code]] for code in members.tolist()]
    place[inside], points[inside] = np.arange(size), table.points[members]
    anchor = None if table.settings.anchor is None else table.settings.anchor.alone()
    fixed = None if anchor is None else table.code(anchor.system)
    own = read.cells(own=True)
    rated = np.bincount(own.battle, minlength=len(read.question)) > 0
    rows = np.flatnonzero(rated & (place[read.a] >= 0) & (place[read.b] >= 0))
    first, second = place[read.a[rows]], place[read.b[rows]]
    ends = (np.tile(np.arange(len(rows)), 2), np.concatenate([first, second]))
    signs = np.repeat([1.0, -1.0], len(rows))
    share = sigmoid((points[read.a[rows]] - points[read.b[rows]]) / POINTS)
    design = Design(
        directions=csr_array(coo_array((signs, ends), shape=(len(rows), size))),
        slope=share * (1 - share),
        cluster=read.question[rows],
        stratum=first * size + second,
        anchor=int(np.flatnonzero(members == fixed)[0]) if fixed in members.tolist() else None,
    )
    units = np.full(size, float(len(np.unique(design.cluster))))
    cells = rows_of(read.cells(), rows), rows_of(own, rows)
    sampling = covariance[np.ix_(members, members)] / POINTS**2
    return components(design, *cells, sampling=sampling, questions=units)


def _without_interval(row: Rating) -> Rating:
    flags = row.flags if Flag.NO_INTERVAL in row.flags else (*row.flags, Flag.NO_INTERVAL)
    return replace(row, se=None, lower=None, upper=None, flags=flags)


def _with_interval(row: Rating, half: float, error: float) -> Rating:
    middle = row.rating
    if middle is None:
        return row
    return replace(row, se=error, lower=middle - half, upper=middle + half)


def _placed(
    members: Ints, sources: Components, table: RatingTable, ratings: Mapping[str, Rating], kind: ErrorKind
) -> list[Rating]:
    """The rows of a component with the places, groups and letters that the intervals leave open."""
    label = int(table.component[members[0]])
    rows = [ratings[row.system] for row in table.ratings if row.component == label]
    index = {table.systems[code]: place for place, code in enumerate(members.tolist())}
    inner = [place for place, row in enumerate(rows) if row.system in index]
    codes = [index[rows[place].system] for place in inner]
    sure = np.zeros((len(rows), len(rows)), dtype=bool)
    sure[np.ix_(inner, inner)] = _better(
        table.points[members[codes]] / POINTS, sources.of_differences(kind), codes
    )
    groups = tie_groups(np.arange(len(rows)), sure).tolist()
    names = letters(sure | sure.T) if len(rows) <= MOST_SYSTEMS else [None] * len(rows)
    return [
        replace(
            row,
            rank_lower=1 + int(sure[:, place].sum()),
            rank_upper=len(rows) - int(sure[place].sum()),
            tie_group=groups[place],
            letters=names[place],
        )
        for place, row in enumerate(rows)
    ]


def _better(points: Floats, spread: Spread, codes: Sequence[int]) -> NDArray[np.bool_]:
    """(M, M) whether the row's system is surely better: Holm's procedure over the one test of every pair."""
    above, right = np.triu_indices(len(codes), k=1)
    chosen = np.ix_(codes, codes)
    gap = points[above] - points[right]
    distances = np.zeros_like(spread.variance)
    distances[chosen] = score_distance(points[:, None] - points)
    significant = holm(spread.p_values(distances)[chosen][above, right])
    sure = np.zeros((len(codes), len(codes)), dtype=bool)
    first, second = above[significant], right[significant]
    sure[first, second] = gap[significant] > 0
    sure[second, first] = gap[significant] < 0
    return sure
