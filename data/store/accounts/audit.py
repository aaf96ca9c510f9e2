"""The audit log in the store: lines are added with the change that they tell of, and never change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import insert, select

from data.records import Action, AuditEntry, AuditNote
from data.store.base import StorePart, to_record, to_row
from data.store.connections import BUSY_TIMEOUT_MS
from data.tables.columns import now
from data.tables.teams import audit

SEEN_BY_NO_READER = (
    *(Action.SIGNED_IN, Action.SIGNED_OUT, Action.TOKEN_CREATED, Action.TOKEN_REVOKED),
    *(Action.JOB_QUEUED, Action.JOB_CANCELLED),
)
LATEST = 32
"""So many changes may be stored in another order than that of their numbers, which they get before."""


class AuditStore(StorePart):
    """Writes down who did what, and reads it back."""

    @contextmanager
    def audited(self, *, wait_ms: int = BUSY_TIMEOUT_MS) -> Iterator[Notes]:
        """One transaction of everything the block does; what it notes is written with it or not at all."""
        with self._database.together(wait_ms=wait_ms):
            notes = Notes()
            yield notes
            for note in notes.notes:
                self.write(note)

    def write(self, note: AuditNote) -> None:
        """Add a line."""
        row = to_row(audit, note, at=now(), subject=note.subject[:250], detail=dict(note.detail or {}))
        self._change(insert(audit).values(row))

    def changes(self) -> tuple[int, ...]:
        """The numbers of the latest changes that readers may notice; other than before after each of them.

        Whatever holds what was read of rights, texts and boards names this, read before them.
        """
        unseen = audit.c.action.in_([action.value for action in SEEN_BY_NO_READER])
        query = select(audit.c.id).where(~unseen).order_by(audit.c.id.desc()).limit(LATEST)
        return tuple(row.id for row in self._all(query))

    def entries(
        self,
        *,
        team: str | None = None,
        subject: str | None = None,
        actor: str | None = None,
        action: Action | None = None,
        before: int | None = None,
        limit: int,
    ) -> tuple[AuditEntry, ...]:
        """Lines, the newest first.

        Args:
            team: Those of a team only.
            subject: Those about one thing only.
            actor: Only by those whose name begins so; sessions add their token to it.
            action: One kind of change only.
            before: Those with a smaller number than this only, to read on.
            limit: How many at most.
        """
        query = select(audit).order_by(audit.c.id.desc()).limit(limit)
        if team is not None:
            query = query.where(audit.c.team == team)
        if subject is not None:
            query = query.where(audit.c.subject == subject)
        if actor is not None:
            query = query.where(audit.c.actor.startswith(actor, autoescape=True))
        if action is not None:
            query = query.where(audit.c.action == action)
        if before is not None:
            query = query.where(audit.c.id < before)
        return tuple(to_record(AuditEntry, row) for row in self._all(query))


class Notes:
    """What one change notes for the log."""

    def __init__(self) -> None:
        self.notes: list[AuditNote] = []

    def take(self, note: AuditNote) -> None:
        """Note something; it is written when the change is done."""
        self.notes.append(note)
