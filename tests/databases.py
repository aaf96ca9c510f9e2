"""Databases for tests: a copy of an empty SQLite file, or a database of a PostgreSQL server.

Dropping a database needs a checkpoint of the server, and creating the schema takes longer than most tests.
So a database is emptied and reused under a new name, since caches are keyed by its address.
"""

from __future__ import annotations

import socket
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine, NullPool, create_engine, text

from data.store import Store

ENDING = ExitStack()
"""Resources, closed at the end of the session."""
POSTGRES = "postgresql+psycopg://postgres@127.0.0.1:5432"
SCHEMA_PARTS = """
SELECT md5(coalesce(string_agg(part, ',' ORDER BY part), '')) FROM (
    SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable AS part
        FROM information_schema.columns WHERE table_schema = 'public'
    UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL SELECT tgname FROM pg_trigger WHERE NOT tgisinternal
) AS parts
"""


@cache
def _newest_schema() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arena.sqlite"
        Store.open(f"sqlite:///{path}").close()
        return path.read_bytes()


def new_sqlite(path: Path) -> str:
    """Write a SQLite file with the newest schema and no rows, and return its URL."""
    path.write_bytes(_newest_schema())
    return f"sqlite:///{path}"


@cache
def postgres() -> PostgresPool:
    """Databases of this run on the local PostgreSQL server."""
    try:
        socket.create_connection(("127.0.0.1", 5432), timeout=1).close()
    except OSError:
        pytest.skip("NO POSTGRESQL on 127.0.0.1:5432: the store is not tested on it")
    return ENDING.enter_context(PostgresPool.on(POSTGRES))


class PostgresPool:
    """Lends empty databases and takes them back."""

    def __init__(self, address: str, server: Engine) -> None:
        self._address, self._server = address, server
        self._made: set[str] = set()
        self._free: dict[bool, list[str]] = {True: [], False: []}
        self._template = ""
        self._newest = ""

    @classmethod
    @contextmanager
    def on(cls, address: str) -> Iterator[PostgresPool]:
        """Open a pool on a server; drop its databases at the end."""
        server = create_engine(f"{address}/postgres", isolation_level="AUTOCOMMIT", poolclass=NullPool)
        pool = cls(address, server)
        try:
            yield pool
        finally:
            for name in pool._made:
                pool._tell(f"DROP DATABASE {name} WITH (FORCE)")
            server.dispose()

    @contextmanager
    def lending(self) -> Iterator[Callable[..., str]]:
        """Lend databases by their URLs until the end of the block."""
        lent: list[tuple[str, bool]] = []

        def lend(*, blank: bool = False) -> str:
            lent.append((self._take(blank=blank), blank))
            return self._url(lent[-1][0])

        try:
            yield lend
        finally:
            for name, blank in lent:
                self._free[self._emptied(name, blank=blank)].append(name)

    def _take(self, *, blank: bool) -> str:
        name = f"arena_test_{uuid.uuid4().hex[:12]}"
        if self._free[blank]:
            former = self._free[blank].pop()
            self._tell(f"ALTER DATABASE {former} RENAME TO {name}")
            self._made.remove(former)
        else:
            template = "" if blank else f" TEMPLATE {self._template_name()}"
            self._tell(f"CREATE DATABASE {name}{template}")
        self._made.add(name)
        # The server is never killed, so commits need not wait for the disk.
        self._tell(f"ALTER DATABASE {name} SET synchronous_commit = off")
        return name

    def _template_name(self) -> str:
        if not self._template:
            self._template = self._take(blank=True)
            Store.open(self._url(self._template)).close()
            with self._inside(self._template) as connection:
                self._newest = _schema_of(connection)
        return self._template

    def _emptied(self, name: str, *, blank: bool) -> bool:
        """Remove what a test left; return True if no schema is left either."""
        self._tell(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")  # noqa: S608 - a name of ours
        with self._inside(name) as connection:
            if not blank and _schema_of(connection) == self._newest:
                _delete_rows(connection)
                return False
            connection.execute(text("DROP SCHEMA public CASCADE"))
            connection.execute(text("CREATE SCHEMA public"))
        return True

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
    """Return a fingerprint of a schema."""
    return str(connection.execute(text(SCHEMA_PARTS)).scalar_one())


def _delete_rows(connection: Connection) -> None:
    """Delete all rows, and restart every sequence at 1."""
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'alembic_version'"
    names = connection.execute(text(tables)).scalars().all()
    filled = " UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (SELECT FROM \"{name}\")" for name in names)  # noqa: S608 - names of our tables
    # Foreign keys and the trigger of the append-only log do not apply.
    connection.execute(text("SET LOCAL session_replication_role = replica"))
    for name in connection.execute(text(filled)).scalars().all():
        connection.execute(text(f'DELETE FROM "{name}"'))  # noqa: S608 - as above
    counted = "SELECT sequencename FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL"
    for name in connection.execute(text(counted)).scalars().all():
        connection.execute(text(f'ALTER SEQUENCE "{name}" RESTART'))
