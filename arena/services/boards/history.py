"""Every board that was ever published, what is said of it since, and what changed from one to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from data.records import Board, SubmissionState
from data.store import Store
from leaderboard.standings.corrected import PEOPLE, people_sentence
from leaderboard.standings.diff import Changes, changes, ranks_among_systems
from leaderboard.vocabulary import OVERALL

IN_FEED = 50
"""Boards that a feed has at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A board in the history; `systems` are those without the reference.

    Of a retracted board only the notice is public: `systems` and `judged` are None, `judge` is empty.
    `set_name` is empty for published results of others. `previous` is the board of the same set before it
    that stands, None where it is the first; `changes` are against that one, and `withdrawn` are those who
    left it because their submissions were withdrawn. `replaced` says that another snapshot of the round took
    its place, `correction` how votes of people correct it, `noted` when its notice was written.
    """

    board: str
    title: str
    set_name: str
    published: datetime
    retracted: bool
    notice: str
    content_hash: str
    systems: int | None
    judged: int | None
    judge: str
    previous: str | None
    changes: Changes | None
    replaced: bool = False
    withdrawn: tuple[str, ...] = ()
    correction: str = ""
    noted: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Appearance:
    """A system, or the reference, on one board of its set: rating in points, with bounds.

    `ranks` are the best and the worst place among the `systems`; the reference is none of them and has none.
    """

    board: str
    published: datetime
    rating: float | None
    lower: float | None
    upper: float | None
    ranks: tuple[int, int] | None
    systems: int
    judge: str


class HistoryService:
    """Use cases of readers who follow boards over time."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def entries(self) -> tuple[Entry, ...]:
        """Every board, the newest first."""
        boards = self._store.boards.every()
        sets = {board.name: self._set_of(board) for board in boards}
        entries_ = []
        for at, board in enumerate(boards):
            earlier = (
                other
                for other in boards[at + 1 :]
                if sets[other.name] == sets[board.name] != "" and other.round_name != board.round_name
            )
            entry = _entry(board, sets[board.name], next((o for o in earlier if not o.retracted), None))
            entries_.append(
                replace(
                    entry,
                    withdrawn=self._withdrawn(entry),
                    noted=board.noted_at if board.notice else None,
                )
            )
        return tuple(entries_)

    def _withdrawn(self, entry: Entry) -> tuple[str, ...]:
        """Those of whom left the board before that have no version any more that is not withdrawn."""
        if entry.changes is None or not entry.changes.left:
            return ()
        left = {
            submission.system
            for submission in self._store.submissions.find(set_name=entry.set_name)
            if submission.state is not SubmissionState.WITHDRAWN
        }
        return tuple(system for system in entry.changes.left if system not in left)

    def of_system(self, board_name: str, system: str) -> tuple[Appearance, ...]:
        """A system on every published board of the same question set, the oldest first.

        Raises:
            NotFoundError: There is no such board.
        """
        wanted = self._set_of(self._store.boards.get(board_name))
        same = [
            board
            for board in reversed(self._store.boards.every())
            if not board.retracted
            and board.replaced_at is None
            and (board.name == board_name or (wanted and self._set_of(board) == wanted))
        ]
        return tuple(appearance for board in same if (appearance := _appearance(board, system)) is not None)

    def _set_of(self, board: Board) -> str:
        return "" if board.round_name is None else self._store.rounds.get(board.round_name).set_name


def _entry(board: Board, set_name: str, previous: Board | None) -> Entry:
    standings: Mapping[str, Any] = board.standings
    return Entry(
        board=board.name,
        title=str(standings.get("title") or board.name),
        set_name=set_name,
        published=board.published_at,
        retracted=board.retracted,
        notice=board.notice,
        content_hash=board.content_hash,
        systems=None if board.retracted else len(ranks_among_systems(standings)),
        judged=None if board.retracted else int(standings["outcomes"].get("judged", 0)),
        judge="" if board.retracted else str(standings["facts"].get("judge", "")),
        previous=None if previous is None else previous.name,
        changes=None if previous is None else changes(previous.standings, standings),
        replaced=board.replaced_at is not None,
        correction=people_sentence(standings) if standings.get(PEOPLE) else "",
    )


def _appearance(board: Board, system: str) -> Appearance | None:
    lines = board.standings["lines"][OVERALL]
    line = next((row for row in lines if row["system"] == system), None)
    if line is None:
        return None
    rating = line["rating"] or {}
    ranks = ranks_among_systems(board.standings)
    return Appearance(
        board=board.name,
        published=board.published_at,
        rating=rating.get("rating"),
        lower=rating.get("lower"),
        upper=rating.get("upper"),
        ranks=ranks.get(system),
        systems=len(ranks),
        judge=str(board.standings["facts"].get("judge", "")),
    )
