"""Correct files of battles by votes of people.

No store is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from arena.services.battle_files import AS_IT_IS, RatingRequest, Reading, notes_on, parse_anchors
from data.errors import InputError
from leaderboard.formats.reading import BattleFile
from leaderboard.people import CorrectedRateTable, CorrectedTable, correct, correct_rates, read_votes
from leaderboard.ratings import Cluster, IntervalKind, Method
from leaderboard.vocabulary import VoteRule


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
