"""Boards corrected by votes: another snapshot of a round that is published already."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from arena.services.accounts.auth import Caller
from arena.services.people.round_votes import VoteSource, section_of_round
from data.records import Action, Board, Round
from data.store import Store
from leaderboard.standings.corrected import PEOPLE


def correct_board(
    store: Store,
    found: Round,
    people: VoteSource,
    *,
    agreement: Mapping[str, Any] | None,
    confirm: Callable[[], None] | None,
    caller: Caller,
) -> tuple[Board, bool]:
    """Let a published round's board stand with figures that votes correct; the former snapshot stays.

    Args:
        store: Where the board is kept.
        found: The round.
        people: The votes.
        agreement: The judge's agreement with people that readers are told of; None for what the board has.
        confirm: Called within the transaction; what it raises undoes it.
        caller: Who asks, for the audit log.

    Returns:
        The board, and whether its standings are other than they were.
    """
    section = section_of_round(store, found, people)
    with store.audit.audited() as notes:
        if confirm is not None:
            confirm()
        former = store.boards.get(found.name)
        standings = {**former.standings, PEOPLE: section}
        if agreement is not None:
            standings["health"] = {**standings["health"], "agreement": agreement}
        board, changed = store.boards.replace(found.name, standings)
        if changed:
            note = caller.note(
                Action.BOARD_CORRECTED,
                f"board {found.name}",
                votes=section["votes"],
                content=board.content_hash[:12],
                before=former.content_hash[:12],
            )
            notes.take(note)
    return board, changed
