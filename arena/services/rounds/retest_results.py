"""What a round's retests say: the sections of its board, and a file for whoever computes on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.services.accounts.auth import Caller
from arena.services.rounds.battle_table import WINNERS, table_of_columns
from data.errors import FileFormatError, UnrankableError
from data.records import Action, Board, Round
from data.records.retests import RetestCall
from data.store import Store
from leaderboard.battles import BattleTable
from leaderboard.ratings import IntervalKind, rate
from leaderboard.standings.full_error import ERROR
from leaderboard.trust.judge_error.board_section import error_section
from leaderboard.trust.judge_error.readings import Readings
from leaderboard.trust.retest import cause_rows, rating_shifts
from leaderboard.trust.sections import Section


def trust_sections(store: Store, round_: Round) -> dict[str, Any]:
    """The sections of a round's board about its retests; those of which there is nothing are absent."""
    sections = {
        Section.RETEST.value: retest_section(store, round_),
        ERROR: judge_error_section(store, round_),
    }
    return {name: section for name, section in sections.items() if section is not None}


def retest_section(store: Store, round_: Round) -> dict[str, Any] | None:
    """How often verdicts changed where a round's battles were asked again, and how far ratings move.

    Returns:
        `retests`, `battles` drawn, `first` and `last` moment of asking, `causes` (rows of `CauseRow`),
        `shifts` (rows of `RatingShift`) and `unrankable`, why there are none; None without a retest.
    """
    retests = store.retests.of_round(round_.name)
    if not retests:
        return None
    calls = store.retests.calls(round_.name)
    moments = sorted(call.asked_at for call in calls if call.repeat and call.asked_at)
    shifts, unrankable = _shifts(table_of_columns(store.verdicts.columns(round_.name)), calls)
    return {
        "retests": len(retests),
        "battles": len({call.battle for call in calls}),
        "first": moments[0].isoformat() if moments else None,
        "last": moments[-1].isoformat() if moments else None,
        "causes": [row.as_json() for row in cause_rows(calls)],
        "shifts": shifts,
        "unrankable": unrankable,
    }


def judge_error_section(store: Store, round_: Round) -> dict[str, Any] | None:
    """The round's ratings with the judge's own error in their intervals.

    Returns:
        The section; None where retests brought no verdict.
    """
    calls = repeats(store.retests.calls(round_.name))
    if not any(call.repeat for call in calls):
        return None
    table = table_of_columns(store.verdicts.columns(round_.name))
    readings = Readings.of_round(table, calls)
    reference = store.sets.summary(round_.set_name).reference_name
    return error_section(table, readings, reference=reference, seed=round_.seed)


def _shifts(table: BattleTable, calls: Sequence[RetestCall]) -> tuple[list[dict[str, object]], str]:
    try:
        ratings = {
            rating.system: rating.rating
            for rating in rate(table, interval=IntervalKind.SANDWICH).ratings
            if rating.rating is not None and not rating.component
        }
    except UnrankableError as error:
        return [], error.message
    if not ratings:
        return [], "No system has a rating."
    return [shift.as_json() for shift in rating_shifts(table, ratings, calls)], ""


def repeats(calls: Sequence[RetestCall]) -> tuple[RetestCall, ...]:
    """The verdicts among some calls, the rounds' own as repeat 0.

    Those in the other order are left out: they are no repeats of a request, and no other words. So are those
    of battles that have no verdict of the round any more, of which there is nothing to repeat.
    """
    decided = [call for call in calls if call.preference is not None and not call.turned]
    judged = {call.battle for call in decided if not call.repeat}
    return tuple(call for call in decided if call.battle in judged)


def write_calls(path: Path, calls: Sequence[RetestCall]) -> int:
    """Write verdicts as JSONL battles with `order`, `repeat`, `wording` and `day`, and return how many.

    Raises:
        FileFormatError: The file cannot be written.
    """
    try:
        with path.open("w", encoding="utf-8") as file:
            for cells in _rows(calls):
                file.write(json.dumps(cells, ensure_ascii=False, allow_nan=False) + "\n")
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror}."
        raise FileFormatError(message, advice="Name a file in a folder that you can write to.") from error
    return len(calls)


def _rows(calls: Sequence[RetestCall]) -> Iterator[dict[str, object]]:
    for call in calls:
        yield {
            "question_id": call.question_id,
            "domain": call.domain,
            "model_a": call.system_a,
            "model_b": call.system_b,
            "winner": None if call.preference is None else WINNERS[call.preference],
            **({} if call.score is None else {"score": call.score}),
            "repeat": call.repeat,
            "wording": call.wording,
            "order": call.order,
            "day": None if call.asked_at is None else call.asked_at.date().isoformat(),
        }


def renew_board(
    store: Store, found: Round, corrected: Mapping[str, Any], *, caller: Caller
) -> tuple[Board, bool]:
    """Let a published round's board also say what its retests and corrections said; the former stays.

    Args:
        store: Where the board is kept.
        found: The round.
        corrected: Sections of the standings with the verdicts that were corrected.
        caller: Who asks, for the audit log.

    Returns:
        The board, and whether its standings are other than they were.
    """
    former = store.boards.get(found.name)
    standings = {**former.standings, **corrected, **trust_sections(store, found)}
    if standings == former.standings:
        return former, False
    with store.audit.audited() as notes:
        board, changed = store.boards.replace(found.name, standings)
        note = caller.note(
            Action.BOARD_RENEWED,
            f"board {found.name}",
            content=board.content_hash[:12],
            before=former.content_hash[:12],
        )
        notes.take(note)
        if changed:
            store.outbox.board(board, "corrected")
    return board, changed
