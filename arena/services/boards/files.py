"""Published boards as files: standings in every form, and the battles of their rounds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from arena.services.accounts.auth import PUBLIC, Caller
from arena.services.boards.service import BoardService
from arena.services.rounds.export import battle_row
from arena.services.rounds.visibility import RoundAccess
from data.errors import RetractedError
from data.models import Board
from data.store import Store
from leaderboard.export.tables import export_standings, standings_file
from leaderboard.standings.columns import marked
from leaderboard.vocabulary import BoardForm


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardFile:
    """A board in one form: its name to save it by, and its content."""

    name: str
    media_type: str
    content: bytes


class BoardFiles:
    """Use cases of readers who take a board away."""

    def __init__(self, store: Store, boards: BoardService) -> None:
        self._store, self._boards = store, boards

    def content(self, name: str, form: BoardForm, *, caller: Caller = PUBLIC) -> BoardFile:
        """Make one file of a board, or of one snapshot of it.

        Raises:
            RetractedError: It was retracted and the caller is no organiser.
        """
        board = self._board(name, caller)
        content = standings_file(marked(board.standings, board.marks), form)
        stem = f"{board.name}-{board.content_hash[:8]}".replace("@", "-")
        return BoardFile(name=f"{stem}{form.ending}", media_type=form.media_type, content=content)

    def write(
        self, name: str, destination: Path, form: BoardForm | None = None, *, caller: Caller = PUBLIC
    ) -> None:
        """Write a board as a file; without a form in that of the file's ending.

        Raises:
            RetractedError: It was retracted and the caller is no organiser.
        """
        board = self._board(name, caller)
        export_standings(marked(board.standings, board.marks), destination, form)

    def battles(self, board: Board, *, caller: Caller = PUBLIC) -> Iterator[bytes]:
        """Yield a board's judged battles as JSON lines; none where it was imported."""
        if board.round_name is None:
            return
        RoundAccess(self._store, caller, self._store.rounds.get(board.round_name))
        for battle in self._store.verdicts.battles(board.round_name):
            if battle.preference is not None:
                yield f"{json.dumps(battle_row(battle), ensure_ascii=False)}\n".encode()

    def _board(self, name: str, caller: Caller) -> Board:
        board = self._boards.get(name, caller=caller)
        if not board.standings:
            raise RetractedError(name, board.notice)
        return board
