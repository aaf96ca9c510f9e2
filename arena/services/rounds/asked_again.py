"""What asking a round's judge again says: the sections of its board, and tables for whoever computes on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from arena.services.accounts.auth import Caller
from arena.services.rounds.battle_table import WINNERS, table_of_columns
from arena.services.rounds.controls import control_results, rounds_of_judge
from data.errors import FileFormatError, InputError, UnrankableError
from data.records import Action, Board, Preference, Round
from data.records.notifications import published_events
from data.records.retests import ORIGINAL, SHARES, AskingRecord
from data.store import Store
from leaderboard.battles import BattleTable
from leaderboard.ratings import IntervalKind, rate
from leaderboard.standings.full_error import ERROR
from leaderboard.trust.asked_again import Cause
from leaderboard.trust.changed_verdicts import Comparison, comparisons_of, control_comparisons, drift_of
from leaderboard.trust.judge_error.board_section import error_section
from leaderboard.trust.judge_error.readings import Readings, RetestRow
from leaderboard.trust.retest import cause_rows, rating_shifts
from leaderboard.trust.sections import Section


def trust_sections(store: Store, round_: Round) -> dict[str, Any]:
    """The sections of a round's board about asking again; those of which there is nothing are absent."""
    sections = {
        Section.RETEST.value: retest_section(store, round_),
        Section.DRIFT.value: drift_section(store, round_),
        ERROR: judge_error_section(store, round_),
    }
    return {name: section for name, section in sections.items() if section is not None}


def retest_section(store: Store, round_: Round) -> dict[str, Any] | None:
    """How often verdicts changed where a round's battles were asked again, and how far ratings move.

    Returns:
        `retests`, `battles` drawn, `first` and `last` moment of asking, `causes` (rows of `CauseRow`),
        `shifts` (rows of `RatingShift`) and `unrankable`, why there are none; None where nothing was asked.
    """
    retests = store.retests.of_round(round_.name)
    if not retests:
        return None
    records = store.retests.askings(round_.name)
    moments = sorted(record.asked_at for record in records if record.repeat and record.asked_at)
    shifts, unrankable = _shifts(table_of_columns(store.verdicts.columns(round_.name)), records)
    return {
        "retests": len(retests),
        "battles": len({record.battle for record in records}),
        "first": moments[0].isoformat() if moments else None,
        "last": moments[-1].isoformat() if moments else None,
        "causes": [row.as_json() for row in cause_rows(records)],
        "shifts": shifts,
        "unrankable": unrankable,
    }


def judge_error_section(store: Store, round_: Round) -> dict[str, Any] | None:
    """The round's ratings with the judge's own error in their intervals.

    Askings in the other order are left out: a round says in which order it asks.

    Returns:
        The section; None where asking again brought no verdict, where there are no ratings, or where systems
        are too many for joint intervals.
    """
    rows = [
        RetestRow(
            question_id=row.question_id,
            domain=row.domain,
            model_a=row.model_a,
            model_b=row.model_b,
            share_a=row.share_a,
            repeat=str(row.repeat),
            wording=row.wording,
        )
        for row in asked_rows(store, round_.name)
        if row.repeat
    ]
    if not rows:
        return None
    table = table_of_columns(store.verdicts.columns(round_.name))
    readings = Readings.of_round(table, rows, wording=ORIGINAL, repeat="0")
    reference = store.sets.summary(round_.set_name).reference_name
    try:
        return error_section(table, readings, reference=reference, seed=round_.seed)
    except (InputError, UnrankableError):
        return None


def _shifts(table: BattleTable, records: Sequence[AskingRecord]) -> tuple[list[dict[str, object]], str]:
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
    return [shift.as_json() for shift in rating_shifts(table, ratings, records)], ""


def drift_section(store: Store, round_: Round) -> dict[str, Any] | None:
    """Whether the judge of a round is the one that judged the set before; None without control battles.

    Returns:
        The object of `Drift`, with `planted` control battles and those `unjudged`.
    """
    records = store.controls.of_round(round_.name)
    if not records:
        return None
    results = control_results(records)
    drift = drift_of(control_comparisons(records), list(_repeats(store, round_)))
    pending = {"pending": results.pending} if results.pending else {}
    unjudged = {**results.unjudged, **pending}
    return {**drift.as_json(), "planted": results.planted, "unjudged": unjudged}


def _repeats(store: Store, round_: Round) -> Iterator[Comparison]:
    """Comparisons of the same request by this judge.

    Verdicts of one day, whenever that was; those of different days only where both are older than the round.
    """
    for other in rounds_of_judge(store, round_):
        for comparison in comparisons_of(store.retests.askings(other.name)):
            asked_at = comparison.after.asked_at
            is_before = asked_at is not None and asked_at < round_.created_at
            if comparison.cause is Cause.SAME or (comparison.cause is Cause.DAY and is_before):
                yield comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedRow:
    """A verdict on a battle that was asked again.

    Attributes:
        share_a: Share of the win that `model_a` gets, 0–1.
        repeat: Which asking in these words; 0 is the round's own verdict.
        wording: `original`, or the name of another prompt.
        order: `ab` or `ba`: which answer was shown first; `both`; empty where nothing had to be asked.
        day: ISO date in UTC; None where it is not known.
    """

    question_id: str
    domain: str
    model_a: str
    model_b: str
    winner: str
    score: float | None
    share_a: float
    repeat: int
    wording: str
    order: str
    day: str | None


def asked_rows(store: Store, round_name: str) -> tuple[AskedRow, ...]:
    """Every verdict on the battles of a round that were asked again, the round's own ones as repeat 0.

    Those in the other order are left out, since they are no repeats of a request.
    """
    return tuple(
        _row(record, record.preference)
        for record in store.retests.askings(round_name)
        if record.preference is not None and not record.turned
    )


def _row(record: AskingRecord, preference: Preference) -> AskedRow:
    return AskedRow(
        question_id=record.question_id,
        domain=record.domain,
        model_a=record.system_a,
        model_b=record.system_b,
        winner=WINNERS[preference],
        score=record.score,
        share_a=SHARES[preference] if record.score is None else record.score,
        repeat=record.repeat,
        wording=record.wording,
        order=record.order,
        day=None if record.asked_at is None else record.asked_at.date().isoformat(),
    )


def write_rows(path: Path, rows: Sequence[AskedRow]) -> int:
    """Write rows as JSONL in the battle format with `order`, `repeat`, `wording` and `day`; return how many.

    Raises:
        FileFormatError: The file cannot be written.
    """
    try:
        with path.open("w", encoding="utf-8") as file:
            for row in rows:
                cells = {key: value for key, value in asdict(row).items() if key != "share_a"}
                if row.score is None:
                    del cells["score"]
                file.write(json.dumps(cells, ensure_ascii=False, allow_nan=False) + "\n")
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror}."
        raise FileFormatError(message, advice="Name a file in a folder that you can write to.") from error
    return len(rows)


def renew_board(store: Store, found: Round, *, caller: Caller) -> tuple[Board, bool]:
    """Let a published round's board also say what asking its judge again said; the former snapshot stays.

    Args:
        store: Where the board is kept.
        found: The round.
        caller: Who asks, for the audit log.

    Returns:
        The board, and whether its standings are other than they were.
    """
    former = store.boards.get(found.name)
    standings = {**former.standings, **trust_sections(store, found)}
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
            store.outbox.record(*published_events(board))
    return board, changed
