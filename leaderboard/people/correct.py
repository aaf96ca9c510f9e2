"""Ratings as people would give them: the one entry point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.errors import InputError, NotFoundError, UnrankableError
from leaderboard.battles import BattleTable
from leaderboard.people import estimate
from leaderboard.people.advice import advice, evidence_of
from leaderboard.people.clusters import reach
from leaderboard.people.estimate import Fitted
from leaderboard.people.labelled import Floats, Ints, Labelled, label
from leaderboard.people.result import CorrectedRating, CorrectedTable, Estimated
from leaderboard.people.votes import Votes
from leaderboard.ratings import Anchor, IntervalKind, RatingTable, Settings, rate
from leaderboard.ratings.ranks import place_systems
from leaderboard.ratings.threads import one_thread
from leaderboard.ratings.uncertainty.paired_errors import PairedErrors
from leaderboard.ratings.vocabulary import MEAN, POINTS, Flag
from leaderboard.vocabulary import VoteRule

WIDTH = 50.0
"""Points: about the distance at which two systems win 57 : 43."""


def correct(
    plan: BattleTable,
    votes: Votes,
    *,
    rule: VoteRule = VoteRule.MEAN,
    interval: IntervalKind = IntervalKind.SANDWICH,
    bootstrap: int = 1000,
    anchor: Anchor | None = None,
    seed: int = 0,
    width: float = WIDTH,
) -> CorrectedTable:
    """Rate systems as people would, from a judge's verdicts on every battle and votes on some.

    The target is Bradley-Terry on the mean vote share of a battle, on questions like these. The order of
    rows and of sides changes nothing.

    Args:
        plan: The judge's verdict on every planned battle.
        votes: Votes of people on some of them.
        rule: What several votes on one battle come to.
        interval: Sandwich covariance or bootstrap, by questions either way.
        bootstrap: Resamples.
        anchor: The system whose rating is fixed; without one, ratings average 1000.
        seed: Of the resamples.
        width: Of an interval, in points; `advice` says how many labels it needs.

    Raises:
        InputError: There are no votes, fewer than two resamples, or the width is not above 0.
        RecordError: A vote cannot be joined to the plan; the message names its line.
        NotFoundError: The anchor took part in no battle, or in none that people voted on.
        UnrankableError: Votes leave no two systems comparable, or are on a single question.

    Source: docs/method/people.md.
    """
    if not width > 0:
        raise InputError(f"An interval cannot be {width:g} points wide.", advice="Give a width above 0.")
    anchor = None if anchor is None else anchor.alone()
    labelled = label(plan, votes, rule=rule)
    judge = rate(_judged(labelled), interval=interval, bootstrap=bootstrap, anchor=anchor, seed=seed)
    alone = rate(_voted(labelled), interval=IntervalKind.SANDWICH, anchor=anchor)
    settings = Settings(
        interval=interval,
        bootstrap=bootstrap if interval is IntervalKind.BOOTSTRAP else None,
        anchor=anchor,
        seed=seed,
    )
    with one_thread():
        return _corrected(labelled, judge, alone, settings, rule=rule, width=width)


def _judged(labelled: Labelled) -> BattleTable:
    return _table(labelled, np.arange(len(labelled)), labelled.judge[:, 0], None)


def _voted(labelled: Labelled) -> BattleTable:
    return _table(labelled, labelled.rows, labelled.people[:, 0], labelled.weight)


def _table(labelled: Labelled, rows: Ints, share: Floats, weight: Floats | None) -> BattleTable:
    return BattleTable(
        systems=labelled.systems,
        questions=labelled.questions,
        domains=labelled.domains,
        a=labelled.low[rows].astype(np.int32),
        b=labelled.high[rows].astype(np.int32),
        winner=np.where(share > 0.5, 0, np.where(share < 0.5, 1, 2)).astype(np.int8),  # noqa: PLR2004 - an even share
        question=labelled.question[rows].astype(np.int32),
        domain=labelled.domain[rows].astype(np.int32),
        score=share,
        weight=weight,
    )


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class _Columns:
    """(M,) ratings of some systems in points, with intervals and (M, M) covariance."""

    points: Floats
    lower: Floats
    upper: Floats
    covariance: Floats
    lost: int = 0

    @property
    def se(self) -> Floats:
        """(M,) standard errors."""
        return np.asarray(np.sqrt(np.maximum(np.diag(self.covariance), 0.0)))


def _corrected(
    labelled: Labelled,
    judge: RatingTable,
    alone: RatingTable,
    settings: Settings,
    *,
    rule: VoteRule,
    width: float,
) -> CorrectedTable:
    members, points = _members(labelled, alone)
    anchor = _anchored(labelled, members, settings.anchor)
    frame = estimate.frame_of(labelled, members)
    questions = len(np.unique(frame.question[frame.rows]))
    if questions <= 1:
        message = "All votes are on one question, so nothing can be said about questions like it."
        raise UnrankableError(message, advice="Put battles of more questions to people.")
    fitted = estimate.fit(frame, (points - points.mean()) / POINTS)
    spread = [_spread(each, anchor) for each in fitted]
    found = [_sandwich(each, one, anchor) for each, one in zip(fitted, spread, strict=True)]
    if settings.interval is IntervalKind.BOOTSTRAP and settings.bootstrap is not None:
        draws = estimate.resample(frame, fitted, settings.bootstrap, settings.seed)
        found = [
            _bootstrap(one, each, part, anchor) for one, each, part in zip(found, fitted, draws, strict=True)
        ]
    corrected, by_votes = (float(np.trace(each.covariance)) for each in found)
    evidence = evidence_of(labelled, rule, corrected=corrected, alone=by_votes)
    rows = _rows(labelled, members, found, judge, alone, fitted[0])
    return CorrectedTable(
        ratings=rows,
        evidence=evidence,
        judge_weight=fitted[0].weight.whole,
        advice=advice(evidence, [row.corrected.width for row in rows], width, "points"),
        settings=settings,
        draws_without_estimate=found[0].lost,
    )


def _members(labelled: Labelled, alone: RatingTable) -> tuple[Ints, Floats]:
    """Codes of the systems that votes compare with one another, and their ratings by votes alone."""
    rated = [
        (labelled.systems.index(row.system), row.rating)
        for row in alone.ratings
        if row.rating is not None and row.component == 0
    ]
    if len(rated) <= 1:
        message = "The votes do not compare any two systems: each has won, or lost, all its battles."
        raise UnrankableError(message, advice="Put more battles of every system to people.")
    rated.sort()
    return np.array([code for code, _ in rated]), np.array([rating for _, rating in rated])


def _anchored(labelled: Labelled, members: Ints, anchor: Anchor | None) -> tuple[int, float] | None:
    if anchor is None:
        return None
    code = labelled.systems.index(anchor.system)
    if code not in members:
        message = f"Votes do not rate the anchor {anchor.system}."
        raise NotFoundError(message, advice="Put its battles to people, or name another anchor.")
    return int(np.searchsorted(members, code)), anchor.rating


def _spread(fitted: Fitted, anchor: tuple[int, float] | None) -> Floats:
    influence = fitted.influence * POINTS
    if anchor is not None:
        influence = influence - influence[:, anchor[0], None]
    covariance: Floats = influence.T @ influence
    return covariance


def _gauge(values: Floats, anchor: tuple[int, float] | None) -> Floats:
    """(…, M) log-odds in points, about 1000 or with the anchor where it belongs."""
    if anchor is None:
        return np.asarray(POINTS * (values - values.mean(axis=-1, keepdims=True)) + MEAN)
    return np.asarray(POINTS * (values - values[..., anchor[0], None]) + anchor[1])


def _sandwich(fitted: Fitted, covariance: Floats, anchor: tuple[int, float] | None) -> _Columns:
    points = _gauge(fitted.theta, anchor)
    half = reach(fitted.degrees) * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return _Columns(points=points, lower=points - half, upper=points + half, covariance=covariance)


def _bootstrap(
    columns: _Columns, fitted: Fitted, thetas: Floats, anchor: tuple[int, float] | None
) -> _Columns:
    """T intervals from the spread of the draws; the sandwich's where no draw is left.

    Percentiles of the draws held too little in simulations with 50 labelled battles (91 %).
    """
    draws = _gauge(thetas, anchor)
    kept = draws[~np.isnan(draws).any(axis=1)]
    if len(kept) <= 1:
        return columns
    covariance = np.atleast_2d(np.cov(kept, rowvar=False))
    half = reach(fitted.degrees) * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return _Columns(
        points=columns.points,
        lower=columns.points - half,
        upper=columns.points + half,
        covariance=covariance,
        lost=len(draws) - len(kept),
    )


def _rows(
    labelled: Labelled,
    members: Ints,
    found: list[_Columns],
    judge: RatingTable,
    alone: RatingTable,
    fitted: Fitted,
) -> tuple[CorrectedRating, ...]:
    size = len(labelled.systems)
    flags = {row.system: row.flags for row in alone.ratings}
    withheld = np.array([Flag.NO_INTERVAL in flags.get(name, ()) for name in labelled.systems])
    corrected, votes = (_widened(each, members, withheld) for each in found)
    units = np.ones(size)
    units[members] = fitted.degrees + 1
    paired = PairedErrors.of(corrected.points, corrected.covariance, np.minimum(units[:, None], units))
    errors = np.where(np.isnan(corrected.lower), np.nan, corrected.se)
    ends = (corrected.lower, corrected.upper)
    places = place_systems(corrected.points, errors, ends, np.zeros(size, dtype=np.int64), paired)
    labels = np.bincount(labelled.low[labelled.rows], minlength=size)
    labels += np.bincount(labelled.high[labelled.rows], minlength=size)
    rows = []
    for code in places.order.tolist():
        by_judge = judge.of(labelled.systems[code])
        rows.append(
            CorrectedRating(
                system=labelled.systems[code],
                corrected=_estimated(corrected, code),
                se=_number(errors[code]),
                rank=int(places.rank[code]),
                rank_lower=int(places.lower[code]),
                rank_upper=int(places.upper[code]),
                judge=Estimated(value=by_judge.rating, lower=by_judge.lower, upper=by_judge.upper),
                people=_estimated(votes, code),
                labelled_battles=int(labels[code]),
                flags=flags.get(labelled.systems[code], ()),
            )
        )
    return tuple(rows)


def _widened(columns: _Columns, members: Ints, withheld: NDArray[np.bool_]) -> _Columns:
    """The columns over all systems: NaN for those without a rating, and for ends that are withheld."""
    size = len(withheld)
    points, lower, upper = (np.full(size, np.nan) for _ in range(3))
    covariance = np.full((size, size), np.nan)
    points[members], lower[members], upper[members] = columns.points, columns.lower, columns.upper
    lower[withheld] = upper[withheld] = np.nan
    covariance[np.ix_(members, members)] = columns.covariance
    return _Columns(points=points, lower=lower, upper=upper, covariance=covariance, lost=columns.lost)


def _estimated(columns: _Columns, code: int) -> Estimated:
    return Estimated(
        value=_number(columns.points[code]),
        lower=_number(columns.lower[code]),
        upper=_number(columns.upper[code]),
    )


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
