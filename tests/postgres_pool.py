"""Databases on a PostgreSQL server that tests use one after another.

To drop a database takes the server a checkpoint, and the newest schema more migrations than most tests take
time. So a database is emptied and lent again, under a new name, since much is kept by a database's address.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum

from sqlalchemy import Connection, Engine, NullPool, create_engine, text

from data.store import Store

SCHEMA_PARTS = """
SELECT md5(coalesce(string_agg(part, ',' ORDER BY part), '')) FROM (
    SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable AS part
        FROM information_schema.columns WHERE table_schema = 'public'
    UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL SELECT tgname FROM pg_trigger WHERE NOT tgisinternal
) AS parts
"""


class Schema(Enum):
    """Contents of a database when it is lent."""

    NONE = "none"
    NEWEST = "newest"


class PostgresPool:
    """Lends databases, and takes them back empty."""

    def __init__(self, address: str, server: Engine) -> None:
        self._address, self._server = address, server
        self._made: set[str] = set()
        self._free: dict[Schema, list[str]] = {Schema.NONE: [], Schema.NEWEST: []}
        self._template = ""
        self._newest = ""

    @classmethod
    @contextmanager
    def on(cls, address: str) -> Iterator[PostgresPool]:
        """A pool on a server; its databases are dropped at the end."""
        server = create_engine(f"{address}/postgres", isolation_level="AUTOCOMMIT", poolclass=NullPool)
        pool = cls(address, server)
        try:
            yield pool
        finally:
            for name in pool._made:
                pool._tell(f"DROP DATABASE {name} WITH (FORCE)")
            server.dispose()

    @contextmanager
    def lending(self) -> Iterator[Callable[[Schema], str]]:
        """Lend databases, by their URLs, until the end of the block."""
        lent: list[tuple[str, Schema]] = []

        def lend(schema: Schema) -> str:
            lent.append((self._take(schema), schema))
            return self._url(lent[-1][0])

        try:
            yield lend
        finally:
            for name, schema in lent:
                self._free[self._emptied(name, schema)].append(name)

    def _take(self, schema: Schema) -> str:
        name = f"arena_test_{uuid.uuid4().hex[:12]}"
        if self._free[schema]:
            former = self._free[schema].pop()
            self._tell(f"ALTER DATABASE {former} RENAME TO {name}")
            self._made.remove(former)
        elif schema is Schema.NEWEST:
            self._tell(f"CREATE DATABASE {name} TEMPLATE {self._template_name()}")
        else:
            self._tell(f"CREATE DATABASE {name}")
        self._made.add(name)
        # The server itself is never killed, so that nobody need wait for its disk.
        self._tell(f"ALTER DATABASE {name} SET synchronous_commit = off")
        return name

    def _template_name(self) -> str:
        if not self._template:
            self._template = self._take(Schema.NONE)
            Store.open(self._url(self._template)).close()
            with self._inside(self._template) as connection:
                self._newest = _schema_of(connection)
        return self._template

    def _emptied(self, name: str, schema: Schema) -> Schema:
        """Remove what a test has left; gives the schema that the database has then."""
        self._tell(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")  # noqa: S608 - a name of ours
        with self._inside(name) as connection:
            if schema is Schema.NEWEST and _schema_of(connection) == self._newest:
                _delete_rows(connection)
                return schema
            connection.execute(text("DROP SCHEMA public CASCADE"))
            connection.execute(text("CREATE SCHEMA public"))
        return Schema.NONE

    @contextmanager
    def _inside(self, name: str) -> Iterator[Connection]:
        engine = create_engine(self._url(name), poolclass=NullPool)
        with engine.begin() as connection:
            yield connection
        engine.dispose()

    def _tell(self, statement: str) -> None:
        with self._server.connect() as connection:
            connection.execute(text(statement))

    def _url(self, name: str) -> str:
        return f"{self._address}/{name}"


def _schema_of(connection: Connection) -> str:
    """Return a fingerprint of a schema and its contents."""
    parts = str(connection.execute(text(SCHEMA_PARTS)).scalar_one())
    if connection.execute(text("SELECT to_regclass('alembic_version')")).scalar_one() is None:
        return parts
    return parts + "".join(connection.execute(text("SELECT version_num FROM alembic_version")).scalars())


def _delete_rows(connection: Connection) -> None:
    """Delete all rows, and let every number begin again at 1."""
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'alembic_version'"
    names = connection.execute(text(tables)).scalars().all()
    filled = " UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (SELECT FROM \"{name}\")" for name in names)  # noqa: S608 - names of our tables
    # Neither foreign keys nor the trigger of the log, which is only ever added to, are asked.
    connection.execute(text("SET LOCAL session_replication_role = replica"))
    for name in connection.execute(text(filled)).scalars().all():
        connection.execute(text(f'DELETE FROM "{name}"'))  # noqa: S608 - as above
    counted = "SELECT sequencename FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL"
    for name in connection.execute(text(counted)).scalars().all():
        connection.execute(text(f'ALTER SEQUENCE "{name}" RESTART'))
