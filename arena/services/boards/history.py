"""Every board that was ever published, what is said of it since, and what changed from one to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from data.records import Board
from data.store import Store
from leaderboard.standings.diff import Changes, changes
from leaderboard.vocabulary import OVERALL


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A board in the history.

    Of a retracted board only the notice is public: `systems` and `judged` are None, `judge` is empty.
    `set_name` is empty for published results of others. `previous` is the board of the same set before it
    that stands, None where it is the first; `changes` are against that one. `replaced` says that another
    snapshot of the round took its place.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Appearance:
    """A system on one board of its set: rating in points and win + tie rate 0–1, with bounds."""

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
            entries_.append(
                _entry(board, sets[board.name], next((o for o in earlier if not o.retracted), None))
            )
        return tuple(entries_)

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
        systems=None if board.retracted else len(standings["lines"][OVERALL]),
        judged=None if board.retracted else int(standings["outcomes"].get("judged", 0)),
        judge="" if board.retracted else str(standings["facts"].get("judge", "")),
        previous=None if previous is None else previous.name,
        changes=None if previous is None else changes(previous.standings, standings),
        replaced=board.replaced_at is not None,
    )


def _appearance(board: Board, system: str) -> Appearance | None:
    lines = board.standings["lines"][OVERALL]
    line = next((row for row in lines if row["system"] == system), None)
    if line is None:
        return None
    rating = line["rating"] or {}
    best, worst = rating.get("rank_lower"), rating.get("rank_upper")
    return Appearance(
        board=board.name,
        published=board.published_at,
        rating=rating.get("rating"),
        lower=rating.get("lower"),
        upper=rating.get("upper"),
        ranks=None if best is None or worst is None else (best, worst),
        systems=len(lines),
        judge=str(board.standings["facts"].get("judge", "")),
    )
