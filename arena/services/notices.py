"""What organisers say of a published board afterwards: errata, which readers see beside it."""

from __future__ import annotations

from arena.services.identity import OPERATOR, Caller, require
from data.errors import ConflictError, InputError
from data.records import Action, AuditNote, Board, TokenScope
from data.store import Store

LONGEST = 2000


class NoticeService:
    """Puts notices on boards. The numbers of a board and their hash never change."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def put(self, name: str, text: str, *, caller: Caller = OPERATOR) -> Board:
        """Put a notice on a board that stands, in place of the one before.

        Raises:
            ForbiddenError: Only organisers may.
            InputError: The notice is empty or too long.
            NotFoundError: No board has this name.
            ConflictError: The board was retracted.
        """
        notice = text.strip()
        if not notice:
            raise InputError("The notice is empty.", advice="Say what readers must know, or use --clear.")
        if len(notice) > LONGEST:
            raise InputError(
                f"The notice has {len(notice):,} characters.",
                advice=f"Use at most {LONGEST:,}, and an address for the rest.",
            )
        return self._change(name, notice, caller)

    def clear(self, name: str, *, caller: Caller = OPERATOR) -> Board:
        """Take the notice off a board that stands; the audit log keeps it.

        Raises:
            ForbiddenError: Only organisers may.
            NotFoundError: No board has this name.
            ConflictError: The board was retracted.
        """
        return self._change(name, "", caller)

    def _change(self, name: str, notice: str, caller: Caller) -> Board:
        require(caller, TokenScope.ORGANISE)
        board = self._store.boards.get(name)
        if board.retracted:
            raise ConflictError(
                f"The board {name} was retracted, and its notice says why.",
                advice="Put the notice on a board that stands.",
            )
        with self._store.audit.noting() as notes:
            noted = self._store.boards.put_notice(name, notice)
            detail = {"notice": notice, "before": board.notice}
            notes.take(
                AuditNote(
                    actor=caller.name, action=Action.BOARD_NOTED, subject=f"board {name}", detail=detail
                )
            )
        return noted
