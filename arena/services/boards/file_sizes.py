"""How large the files of a published board are, and which columns they have."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from arena.services.accounts.auth import PUBLIC, Caller
from arena.services.boards.files import BoardFiles
from arena.services.boards.service import BoardService
from data.errors import RetractedError
from leaderboard.export.board_fields import Column, columns_of
from leaderboard.export.tables import (
    Stamp,
    Standings,
    TableForm,
    column_kind,
    flat_rows,
    standings_text,
    table_file,
)
from leaderboard.standings.columns import marked

STANDINGS = {
    TableForm.CSV: "Standings, CSV",
    TableForm.JSON: "Standings, JSON",
    TableForm.PARQUET: "Standings, Parquet",
}
SAMPLED = 200


def standings_of(standings: Standings, form: TableForm, stamp: Stamp) -> bytes:
    """Standings as readers download them: tables whose rows bear a stamp, or the published JSON itself."""
    if form is TableForm.JSON:
        return standings_text(standings).encode()
    return table_file(flat_rows(standings), form, stamp)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSize:
    """A file of a board: rows, columns (None for files without), and bytes; `exact` unless estimated."""

    label: str
    rows: int
    columns: int | None
    size: int
    exact: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """A board's files, and the columns of its standings."""

    files: tuple[FileSize, ...]
    columns: tuple[Column, ...]


class FileDescriptions:
    """Use cases of readers who want to know what they would download."""

    def __init__(self, boards: BoardService, files: BoardFiles) -> None:
        self._boards = boards
        self._files = files

    def of(self, name: str, *, stamp: str, caller: Caller = PUBLIC) -> Described:
        """The files of a board, whose rows bear the name `stamp`.

        The size of the battles is estimated from the first of them, where there are many.

        Raises:
            NotFoundError: No board has this name.
            RetractedError: It was retracted.
        """
        board = self._boards.get(name, caller=caller)
        if not board.standings:
            raise RetractedError(name, board.notice)
        standings = marked(board.standings, board.marks)
        rows, stamped = flat_rows(standings), Stamp(board=stamp, content_hash=board.content_hash)
        names = [*(rows[0] if rows else ()), *stamped.fields()]
        columns = columns_of(names, lambda name: str if name in stamped.fields() else column_kind(name))
        files = [
            FileSize(
                label=label,
                rows=len(rows),
                columns=None if form is TableForm.JSON else len(columns),
                size=len(standings_of(standings, form, stamped)),
            )
            for form, label in STANDINGS.items()
        ]
        if board.round_name is not None:
            first = [len(line) for line in islice(self._files.battles(board, caller=caller), SAMPLED)]
            judged = int(board.standings["outcomes"].get("judged", 0))
            exact = len(first) < SAMPLED
            size = sum(first) if exact else round(sum(first) / len(first) * judged)
            files.append(FileSize(label="Battles, JSONL", rows=judged, columns=None, size=size, exact=exact))
        return Described(files=tuple(files), columns=columns)
