"""Time stamps: always UTC, also from databases that forget it."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Connection, Float, func, literal_column


def now() -> datetime:
    """The present moment in UTC."""
    return datetime.now(UTC)


def as_utc(moment: datetime) -> datetime:
    """A stored moment; SQLite returns it without its zone."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def database_now(connection: Connection) -> ColumnElement[float]:
    """Seconds since 1970 by the database's clock, which is one for all workers whatever theirs say."""
    if connection.dialect.name == "postgresql":
        return func.extract("epoch", func.clock_timestamp()).cast(Float)
    return literal_column("((julianday('now') - 2440587.5) * 86400.0)", Float)
