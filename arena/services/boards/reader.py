"""Boards for readers: marked, followed over time, written as files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.formats import rank_range
from arena.services.accounts.auth import PUBLIC, Caller
from arena.services.accounts.visibility import Kind, Resource, Visibility, visibility_of
from data.errors import RetractedError
from data.models import Board, BoardHead
from data.models.words import DISQUALIFIED
from data.store import Store
from leaderboard.vocabulary import OVERALL, BoardForm, partial_mark

if TYPE_CHECKING:
    # To list boards takes none of what compares and writes them.
    from leaderboard.standings.grid import Grid
    from leaderboard.standings.places import Changes

WITHDRAWN = "withdrawn"
WHY = {
    None: "it answered fewer questions than another",
    "lose": "what it did not answer counts as lost",
    "skip": "what it did not answer is not compared",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """A board in the history, with its changes against the board of the same set before it, if any stands."""

    board: Board
    previous: str | None = None
    changes: Changes | None = None

    @property
    def sentences(self) -> list[str]:
        """Name new, missing and moved systems; none without a board before."""
        if self.changes is None:
            return []
        moved = [
            f"{change.system} from {rank_range(change.before)} to {rank_range(change.after)}"
            for change in self.changes.systems
            if change.moved
        ]
        lists = (("New", self.changes.entered), ("No longer there", self.changes.left))
        return [
            *(f"{label}: {', '.join(names)}." for label, names in lists if names),
            f"Rank changed beyond chance: {'; '.join(moved) or 'none'}.",
        ]

    @property
    def marks(self) -> Mapping[str, tuple[str, str]]:
        """Marks beside ranks with their meanings, by system: new, up or down."""
        if self.changes is None:
            return {}
        marks = dict.fromkeys(
            self.changes.entered, ("new", f"It is not on the board before, {self.previous}")
        )
        for change in self.changes.systems:
            if change.places:
                surely = "beyond chance" if change.moved else "which may be chance"
                meaning = f"Rank {rank_range(change.before)} on the board before, {self.previous}; {surely}"
                marks[change.system] = (f"{'▲' if change.places > 0 else '▼'}{abs(change.places)}", meaning)
        return marks


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardFile:
    """A board in one form: its name to save it by, and its content."""

    name: str
    media_type: str
    content: bytes


def withdrawn_marks(store: Store, round_name: str) -> Mapping[str, str]:
    """Return a round's systems that were withdrawn or disqualified since, with word and reason."""
    return {
        system: reason if reason.startswith(DISQUALIFIED) else ": ".join(filter(None, (WITHDRAWN, reason)))
        for system, reason in store.submissions.withdrawn_from(round_name).items()
    }


def marks_of(store: Store, round_name: str | None, standings: Mapping[str, Any]) -> Mapping[str, str]:
    """Systems of a board to their marks: a word, then ": " and why; others are left out.

    A system is partial where it did not answer every question; on boards of rounds without a rule for missing
    answers, where it answered fewer than another.
    """
    lines = standings.get("lines", {}).get(OVERALL, ())
    rule = standings.get("missing")
    most = max((line.get("answers") or 0 for line in lines), default=0)
    partial = {
        line["system"]: f"{mark}: {WHY[rule]}"
        for line in lines
        if line["system"] != standings.get("reference")
        and (mark := line.get("partial") if rule else partial_mark(line.get("answers") or most, most))
    }
    return partial if round_name is None else {**partial, **withdrawn_marks(store, round_name)}


class BoardReader:
    """Show boards that stand, and the notices of those that were retracted."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def published(self) -> tuple[Board, ...]:
        """Every board that stands, newest round first."""
        return self._store.boards.all()

    def heads(self) -> tuple[BoardHead, ...]:
        """Every board that stands, in the order of `published`; of standings it reads title and judge."""
        return self._store.boards.heads()

    def former(self) -> tuple[BoardHead, ...]:
        """Snapshots that others took the place of, by the names that lead to them for good."""
        return self._store.boards.heads(replaced=True)

    def retracted(self) -> tuple[BoardHead, ...]:
        """Every board that was taken down with its snapshots, whose notice is public."""
        return self._store.boards.heads(retracted=True, replaced=None)

    def get(self, name: str, *, caller: Caller = PUBLIC) -> Board:
        """One board with its marks; of one that was retracted only its notice, except for organisers."""
        board = self._store.boards.get(name)
        resource = Resource(kind=Kind.BOARD, published=True, retracted=board.retracted)
        if visibility_of(caller, resource) is not Visibility.FULL:
            return board.model_copy(update={"standings": {}})
        marks = marks_of(self._store, board.round_name, board.standings)
        return board.model_copy(update={"marks": marks})

    def history(self) -> tuple[HistoryEntry, ...]:
        """Every board, the newest first; published results of others have no set."""
        from leaderboard.standings.places import changes

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
            entry = HistoryEntry(board=board)
            if (before := next(earlier, None)) is not None:
                since = changes(before.standings, board.standings)
                entry = replace(entry, previous=before.name, changes=since)
            entries.append(entry)
        return tuple(entries)

    def file(self, name: str, form: BoardForm, *, caller: Caller = PUBLIC) -> BoardFile:
        """Make one file of a board, or of one snapshot of it."""
        from leaderboard.export.tables import standings_file
        from leaderboard.standings.columns import marked

        board = self._standing(name, caller)
        content = standings_file(marked(board.standings, board.marks), form)
        stem = f"{board.name}-{board.content_hash[:8]}".replace("@", "-")
        return BoardFile(name=f"{stem}{form.ending}", media_type=form.media_type, content=content)

    def grid(self, name: str, *, caller: Caller = PUBLIC) -> Grid:
        """Return the grid of a board, or of one snapshot of it."""
        from leaderboard.standings.grid import grid_of

        return grid_of(self._standing(name, caller).standings)

    def grid_file(self, name: str, form: BoardForm, *, caller: Caller = PUBLIC) -> BoardFile:
        """Make a file of the grid with a row a figure."""
        from leaderboard.export.tables import Stamp, table_file

        board, grid = self._standing(name, caller), self.grid(name, caller=caller)
        stamp = Stamp(board=board.name, content_hash=board.content_hash)
        content = table_file(list(grid.rows()), form, stamp)
        return BoardFile(name=f"{stamp.stem}-grid{form.ending}", media_type=form.media_type, content=content)

    def write_file(
        self, name: str, destination: Path, form: BoardForm | None = None, *, caller: Caller = PUBLIC
    ) -> None:
        """Write a board as a file; without a form in that of the file's ending."""
        from leaderboard.export.tables import export_standings
        from leaderboard.standings.columns import marked

        board = self._standing(name, caller)
        export_standings(marked(board.standings, board.marks), destination, form)

    def battles(self, board: Board, *, caller: Caller = PUBLIC) -> Iterator[bytes]:
        """Yield a board's judged battles as JSON lines; none where it was imported."""
        from arena.services.rounds.export import battle_row
        from arena.services.rounds.visibility import RoundAccess

        if board.round_name is None:
            return
        RoundAccess(self._store, caller, self._store.rounds.get(board.round_name))
        for battle in self._store.verdicts.battles(board.round_name):
            if battle.preference is not None:
                yield f"{json.dumps(battle_row(battle), ensure_ascii=False)}\n".encode()

    def _standing(self, name: str, caller: Caller) -> Board:
        board = self.get(name, caller=caller)
        if not board.standings:
            raise RetractedError(name, board.notice)
        return board

    def notices(self, round_name: str) -> tuple[str, ...]:
        """Sentences about the systems of a round that were withdrawn or disqualified."""
        marks = withdrawn_marks(self._store, round_name)
        return tuple(f"{name} was {mark.rstrip('.')}." for name, mark in marks.items())
