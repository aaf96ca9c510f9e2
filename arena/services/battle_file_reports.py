"""What files of battles say with a judge's error, read off repeated readings, or with people's votes.

No store is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from arena.services.battle_files import AS_IT_IS, RatingRequest, Reading, notes_on, others_than, parse_anchors
from data.errors import InputError
from leaderboard.formats.reading import BattleFile
from leaderboard.people import CorrectedRateTable, CorrectedTable, correct, correct_rates, read_votes
from leaderboard.ratings import Cluster, IntervalKind, Method, Settings
from leaderboard.ratings.rate import interval_for
from leaderboard.trust.judge_error.rates import ErrorRates, rates_of_readings
from leaderboard.trust.judge_error.ratings import ErrorTable, rate_readings
from leaderboard.trust.judge_error.readings import Readings
from leaderboard.vocabulary import ErrorKind, VoteRule


def rate_file_with_error(
    path: Path, kind: ErrorKind, request: RatingRequest, *, reading: Reading = AS_IT_IS
) -> tuple[ErrorTable, tuple[str, ...]]:
    """Rate the systems of a file of several readings a battle, with the judge's error in the intervals.

    Raises:
        FileFormatError: The file cannot be read; the message names row and column.
        RecordError: A value breaks a rule; likewise.
        InputError: No battle was read again, or the readings cannot be told apart.
        NotFoundError: No battle names the system that is to be left out.
        UnrankableError: The ratings do not exist.
    """
    battle_file = reading.of(path)
    interval = request.interval or interval_for(len(battle_file.table.systems), request.method)
    settings = Settings(
        method=request.method,
        interval=interval,
        bootstrap=request.bootstrap if interval is IntervalKind.BOOTSTRAP else None,
        cluster=request.cluster,
        anchor=parse_anchors(request.anchors),
        seed=request.seed,
    )
    rated = rate_readings(_readings(path, battle_file, request.without), kind, settings)
    return rated, notes_on(battle_file)


def winrates_of_file_with_error(
    path: Path,
    kind: ErrorKind,
    *,
    reference: str | None,
    by_domain: bool,
    reading: Reading = AS_IT_IS,
) -> tuple[ErrorRates, tuple[str, ...]]:
    """Win rates of a file of several readings a battle; errors as of `rate_file_with_error`."""
    battle_file = reading.of(path)
    readings = _readings(path, battle_file, None)
    rates = rates_of_readings(readings, kind, reference=reference, by_domain=by_domain)
    return rates, notes_on(battle_file)


def _readings(path: Path, battle_file: BattleFile, without: str | None) -> Readings:
    if not battle_file.questions_named:
        raise InputError(
            f"{path.name} names no questions, so nobody can say which battles were read again.",
            advice="Give every row a question_id.",
        )
    if battle_file.wording is None and battle_file.repeat is None:
        raise InputError(
            f"{path.name} has no column `wording` or `repeat`: nobody knows which rows read one battle.",
            advice="Add one of them, or leave out --error.",
        )
    columns = [
        None if column is None else np.array(column, dtype=object)
        for column in (battle_file.wording, battle_file.repeat)
    ]
    table = battle_file.table
    if without is not None:
        kept = others_than(table, without)
        table = table.select(kept)
        columns = [None if column is None else column[kept] for column in columns]
    return Readings.from_table(table, *(None if column is None else column.tolist() for column in columns))


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleRequest:
    """The votes that correct a file of verdicts.

    Attributes:
        votes: The votes file.
        rule: What several votes on a battle come to.
        width: Width of an interval whose price in labels is asked for; None for the usual one.
    """

    votes: Path
    rule: VoteRule = VoteRule.MEAN
    width: float | None = None


def correct_file(
    path: Path, people: PeopleRequest, request: RatingRequest, *, reading: Reading = AS_IT_IS
) -> tuple[CorrectedTable, tuple[str, ...]]:
    """Rate the systems of a file of verdicts as people would, and say what a reader must know of it.

    Raises:
        FileFormatError: A file cannot be read; the message names line and column.
        RecordError: A value breaks a rule, or a vote is on no planned battle; likewise.
        InputError: A method or clustering that corrections do not suit.
        UnrankableError: The votes compare no two systems.
    """
    if request.method is not Method.BRADLEY_TERRY:
        raise InputError(
            f"Votes cannot correct ratings by {request.method.value}: its target is not a mean vote share.",
            advice="Use --method bradley-terry.",
        )
    if request.cluster is not Cluster.QUESTION:
        raise InputError(
            "Votes correct by questions alone: battles on one question are not independent.",
            advice="Use --cluster question.",
        )
    plan = _plan(path, reading)
    table = correct(
        plan.table,
        read_votes(people.votes),
        rule=people.rule,
        interval=request.interval or IntervalKind.BOOTSTRAP,
        bootstrap=request.bootstrap,
        anchor=parse_anchors(request.anchors),
        seed=request.seed,
        **({} if people.width is None else {"width": people.width}),
    )
    return table, notes_on(plan)


def corrected_rates_of_file(
    path: Path,
    people: PeopleRequest,
    *,
    reference: str | None,
    by_domain: bool,
    interval: IntervalKind = IntervalKind.SANDWICH,
    bootstrap: int = 1000,
    seed: int = 0,
    reading: Reading = AS_IT_IS,
) -> tuple[CorrectedRateTable, tuple[str, ...]]:
    """Win rates of a file of verdicts as people would give them; errors as of `correct_file`."""
    plan = _plan(path, reading)
    table = correct_rates(
        plan.table,
        read_votes(people.votes),
        rule=people.rule,
        reference=reference,
        by_domain=by_domain,
        interval=interval,
        bootstrap=bootstrap,
        seed=seed,
        **({} if people.width is None else {"width": people.width}),
    )
    return table, notes_on(plan)


def _plan(path: Path, reading: Reading) -> BattleFile:
    plan = reading.of(path)
    if not plan.questions_named:
        raise InputError(
            f"{path.name} names no questions, by which votes are joined to verdicts.",
            advice="Give every row a question_id.",
        )
    return plan
