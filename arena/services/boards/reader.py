"""Published boards: marks, history, files."""

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
    # Lists of boards do not need these slow imports.
    from leaderboard.standings.grid import Grid
    from leaderboard.standings.places import Changes

WITHDRAWN = "withdrawn"
WHY = {
    None: "it answered fewer questions than another",
    "lose": "missing answers count as lost",
    "skip": "missing answers are not compared",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """Board in the history, with its changes against the previous board of the set, if any."""

    board: Board
    previous: str | None = None
    changes: Changes | None = None

    @property
    def sentences(self) -> list[str]:
        """Sentences on new, missing and moved systems; none without a previous board."""
        if self.changes is None:
            return []
        moved = [
            f"{change.system} from {rank_range(change.before)} to {rank_range(change.after)}"
            for change in self.changes.systems
            if change.moved
        ]
        lists = (("New", self.changes.entered), ("Left", self.changes.left))
        return [
            *(f"{label}: {', '.join(names)}." for label, names in lists if names),
            f"Rank changed beyond chance: {'; '.join(moved) or 'none'}.",
        ]

    @property
    def marks(self) -> Mapping[str, tuple[str, str]]:
        """Marks next to ranks with their meanings, by system: new, up or down."""
        if self.changes is None:
            return {}
        marks = dict.fromkeys(
            self.changes.entered, ("new", f"It is not on the previous board, {self.previous}")
        )
        for change in self.changes.systems:
            if change.places:
                surely = "beyond chance" if change.moved else "which may be due to chance"
                meaning = f"Rank {rank_range(change.before)} on the previous board, {self.previous}; {surely}"
                marks[change.system] = (f"{'▲' if change.places > 0 else '▼'}{abs(change.places)}", meaning)
        return marks


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardFile:
    """Board as a file."""

    name: str
    media_type: str
    content: bytes


def withdrawn_marks(store: Store, round_name: str) -> Mapping[str, str]:
    """Return a round's withdrawn or disqualified systems, with word and reason."""
    return {
        system: reason if reason.startswith(DISQUALIFIED) else ": ".join(filter(None, (WITHDRAWN, reason)))
        for system, reason in store.submissions.withdrawn_from(round_name).items()
    }


def marks_of(store: Store, round_name: str | None, standings: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the marks of a board's systems: a word, then ": " and the reason.

    A system is partial if it did not answer every question; on old boards without a rule for missing answers,
    if it answered fewer than another.
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
    """Published boards, and the notices of retracted ones."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def published(self) -> tuple[Board, ...]:
        """Return all published boards, newest round first."""
        return self._store.boards.all()

    def heads(self) -> tuple[BoardHead, ...]:
        """Return all published boards as heads with title and judge, in the order of `published`."""
        return self._store.boards.heads()

    def former(self) -> tuple[BoardHead, ...]:
        """Return replaced snapshots by their permanent names."""
        return self._store.boards.heads(replaced=True)

    def retracted(self) -> tuple[BoardHead, ...]:
        """Return retracted boards and their snapshots, whose notice is public."""
        return self._store.boards.heads(retracted=True, replaced=None)

    def get(self, name: str, *, caller: Caller = PUBLIC) -> Board:
        """Return a board with its marks; only organisers see the standings of retracted ones."""
        board = self._store.boards.get(name)
        resource = Resource(kind=Kind.BOARD, published=True, retracted=board.retracted)
        if visibility_of(caller, resource) is not Visibility.FULL:
            return board.model_copy(update={"standings": {}})
        marks = marks_of(self._store, board.round_name, board.standings)
        return board.model_copy(update={"marks": marks})

    def history(self) -> tuple[HistoryEntry, ...]:
        """Return all boards, newest first; imported results have no set."""
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
        """Return a board, or a snapshot of it, as a file."""
        from leaderboard.export.tables import standings_file
        from leaderboard.standings.columns import marked

        board = self._readable(name, caller)
        content = standings_file(marked(board.standings, board.marks), form)
        stem = f"{board.name}-{board.content_hash[:8]}".replace("@", "-")
        return BoardFile(name=f"{stem}{form.ending}", media_type=form.media_type, content=content)

    def grid(self, name: str, *, caller: Caller = PUBLIC) -> Grid:
        """Return the grid of a board or snapshot."""
        from leaderboard.standings.grid import grid_of

        return grid_of(self._readable(name, caller).standings)

    def grid_file(self, name: str, form: BoardForm, *, caller: Caller = PUBLIC) -> BoardFile:
        """Return the grid as a file with a row per figure."""
        from leaderboard.export.tables import Stamp, table_file

        board, grid = self._readable(name, caller), self.grid(name, caller=caller)
        stamp = Stamp(board=board.name, content_hash=board.content_hash)
        content = table_file(list(grid.rows()), form, stamp)
        return BoardFile(name=f"{stamp.stem}-grid{form.ending}", media_type=form.media_type, content=content)

    def write_file(
        self, name: str, destination: Path, form: BoardForm | None = None, *, caller: Caller = PUBLIC
    ) -> None:
        """Write a board as a file; the default form follows from the suffix."""
        from leaderboard.export.tables import export_standings
        from leaderboard.standings.columns import marked

        board = self._readable(name, caller)
        export_standings(marked(board.standings, board.marks), destination, form)

    def battles(self, board: Board, *, caller: Caller = PUBLIC) -> Iterator[bytes]:
        """Yield a board's judged battles as JSON lines; none for imported boards."""
        from arena.services.rounds.export import battle_row
        from arena.services.rounds.visibility import RoundAccess

        if board.round_name is None:
            return
        RoundAccess(self._store, caller, self._store.rounds.get(board.round_name))
        for battle in self._store.verdicts.battles(board.round_name):
            if battle.preference is not None:
                yield f"{json.dumps(battle_row(battle), ensure_ascii=False)}\n".encode()

    def _readable(self, name: str, caller: Caller) -> Board:
        board = self.get(name, caller=caller)
        if not board.standings:
            raise RetractedError(name, board.notice)
        return board

    def notices(self, round_name: str) -> tuple[str, ...]:
        """Return sentences on a round's withdrawn or disqualified systems."""
        marks = withdrawn_marks(self._store, round_name)
        return tuple(f"{name} was {mark.rstrip('.')}." for name, mark in marks.items())
