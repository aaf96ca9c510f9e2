"""Time stamps: always UTC, also from databases that forget it."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    """The present moment in UTC."""
    return datetime.now(UTC)


def as_utc(moment: datetime) -> datetime:
    """A stored moment; SQLite returns it without its zone."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
