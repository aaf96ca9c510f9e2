"""Every board that was ever published, and rank changes from one to the next."""

from __future__ import annotations

from dataclasses import dataclass, replace

from data.models import Board
from data.store import Store
from leaderboard.standings.diff import Changes, changes


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A board in the history, with its changes against the board of the same set before it, if any stands."""

    board: Board
    previous: str | None = None
    changes: Changes | None = None


class HistoryService:
    """Use cases of readers who follow boards over time."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def entries(self) -> tuple[Entry, ...]:
        """Every board, the newest first; published results of others have no set."""
        boards = self._store.boards.every()
        names = [board.round_name for board in boards]
        sets = ["" if name is None else self._store.rounds.get(name).set_name for name in names]
        entries = []
        for at, board in enumerate(boards):
            earlier = (
                other
                for other, set_name in zip(boards[at + 1 :], sets[at + 1 :], strict=True)
                if set_name == sets[at] != "" and other.round_name != board.round_name and not other.retracted
            )
            entry = Entry(board=board)
            if (before := next(earlier, None)) is not None:
                found = changes(before.standings, board.standings)
                entry = replace(entry, previous=before.name, changes=found)
            entries.append(entry)
        return tuple(entries)
