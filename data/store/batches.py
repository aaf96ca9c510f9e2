"""Providers' batches in the store, so that a crash loses none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.dialects import postgresql, sqlite

from data.store.database import Database
from data.store.moments import now
from data.tables import batches


class BatchStore:
    """Batches that were sent and whose replies are not all kept, by our name of them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def write(self, name: str, *, endpoint: str, keys: tuple[str, ...], batch_id: str) -> None:
        """Write a batch down, or what is known of it now."""
        row = {"name": name, "endpoint": endpoint, "keys": list(keys), "batch_id": batch_id}
        with self._database.begin() as connection:
            dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
            statement: Any = dialect.insert(batches).values(**row, created_at=now())
            connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_=row))

    def unread(self) -> tuple[Mapping[str, Any], ...]:
        """Every batch that was not struck out, oldest first: name, endpoint, keys, batch_id."""
        query = select(batches.c.name, batches.c.endpoint, batches.c["keys"], batches.c.batch_id)
        with self._database.begin() as connection:
            rows = connection.execute(query.order_by(batches.c.created_at, batches.c.name))
            return tuple(dict(row._mapping) for row in rows)  # noqa: SLF001 - SQLAlchemy's public name of it

    def strike(self, name: str) -> None:
        """Strike a batch out."""
        with self._database.begin() as connection:
            connection.execute(delete(batches).where(batches.c.name == name))
