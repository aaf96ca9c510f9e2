"""Other snapshots of a round that is published already: with votes, or after its judge was asked again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from arena.services.accounts.auth import Caller
from arena.services.people.round_votes import VoteSource, section_of_round
from arena.services.rounds.asked_again import trust_sections
from data.records import Action, Board, Round
from data.records.notifications import published_events
from data.store import Store
from leaderboard.standings.corrected import PEOPLE


def correct_board(
    store: Store,
    round_: Round,
    people: VoteSource,
    *,
    agreement: Mapping[str, Any] | None,
    confirm: Callable[[], None] | None,
    caller: Caller,
) -> tuple[Board, bool]:
    """Let a published round's board stand with figures that votes correct; the former snapshot stays.

    Args:
        store: Where the board is kept.
        round_: The round.
        people: The votes.
        agreement: The judge's agreement with people that readers are told of; None for what the board has.
        confirm: Called within the transaction; what it raises undoes it.
        caller: Who asks, for the audit log.

    Returns:
        The board, and whether its standings are other than they were.
    """
    section = section_of_round(store, round_, people)
    with store.audit.audited() as notes:
        if confirm is not None:
            confirm()
        former = store.boards.get(round_.name)
        standings = {**former.standings, PEOPLE: section}
        if agreement is not None:
            standings["health"] = {**standings["health"], "agreement": agreement}
        board, changed = store.boards.replace(round_.name, standings)
        if changed:
            note = caller.note(
                Action.BOARD_CORRECTED,
                f"board {round_.name}",
                votes=section["votes"],
                content=board.content_hash[:12],
                before=former.content_hash[:12],
            )
            notes.take(note)
            store.outbox.record(*published_events(board))
    return board, changed


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
