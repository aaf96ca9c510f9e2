"""Connections to the database: which kinds there are, how SQLite's are kept and prepared."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection, QueuePool

from data.errors import StoreError
from data.stored_text import json_text

BUSY_TIMEOUT_MS = 10_000
POOL_SIZE = 4
OWNER_ALONE = 0o600
WANTED = "Write sqlite:///PATH or postgresql+psycopg://USER@HOST/DATABASE."
PATIENCE = {
    "connect_timeout": 10,
    "tcp_user_timeout": 20_000,
    "keepalives_idle": 20,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}
"""When a connection to PostgreSQL counts as lost; in seconds, but for `tcp_user_timeout` (milliseconds).

Without them a host that was cut off for a minute may wait another one for its next packet, or two hours for a
reply that never comes.
"""
SHORT = frozenset({"postgres", "postgresql"})
"""Names under which providers hand out addresses of PostgreSQL; the driver is always ours."""


def supported(url: URL) -> URL:
    """The URL with our driver.

    Raises:
        StoreError: It is of another kind of database.
    """
    if url.drivername in SHORT:
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() not in {"sqlite", "postgresql"}:
        raise StoreError(f"Databases of the kind {url.drivername} are not supported.", advice=WANTED)
    return url


def make_engine(url: URL) -> Engine:
    """An engine whose connections are kept: closing SQLite's last one copies the whole log each time."""
    if url.get_backend_name() != "sqlite":
        return create_engine(url, pool_pre_ping=True, connect_args=_patience(url), json_serializer=json_text)
    path = url.database
    if not path or path == ":memory:":
        engine = create_engine(url, json_serializer=json_text)
    else:
        _make_parent(Path(path))
        # SQLite gives its log the rights that the file has. Where it cannot be made, SQLite says why.
        with suppress(OSError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_ALONE))
        engine = create_engine(
            url,
            poolclass=QueuePool,
            pool_size=POOL_SIZE,
            max_overflow=-1,
            pool_use_lifo=True,
            json_serializer=json_text,
        )
        event.listen(engine, "checkout", _check_out)
    event.listen(engine, "connect", _prepare_sqlite)
    return engine


def _patience(url: URL) -> dict[str, int]:
    """What the address does not say itself."""
    return {name: value for name, value in PATIENCE.items() if name not in url.query}


def _make_parent(path: Path) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        message = f"The folder {path.parent} cannot be made: {error.strerror}."
        raise StoreError(message, advice="Set ARENA_HOME to a folder you can write to.") from error


def _prepare_sqlite(connection: Any, record: ConnectionPoolEntry) -> None:  # noqa: ANN401 - DBAPI
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute("PRAGMA foreign_keys=ON")
    place = cursor.execute("PRAGMA database_list").fetchone()[2]
    cursor.close()
    record.info["file"] = (place, _identity(place))


def _check_out(_connection: object, record: ConnectionPoolEntry, proxy: PoolProxiedConnection) -> None:
    """Use no connection that another process opened, nor one to a file that was moved or deleted since."""
    place, identity = record.info["file"]
    if identity == _identity(place):
        return
    if identity[0] != os.getpid():
        # It is the parent's; closing it here could disturb the parent. SQLAlchemy documents this way of
        # forgetting it, but types the proxy's as one to be read alone.
        record.dbapi_connection = proxy.dbapi_connection = None  # type: ignore[misc]
    raise DisconnectionError(f"{place} is another file than before")


def _identity(place: str) -> tuple[int, int, int]:
    """This process, and which file a path leads to at present."""
    try:
        file = os.stat(place)  # noqa: PTH116 - a third of the time of a Path
    except OSError:
        return os.getpid(), 0, 0
    return os.getpid(), file.st_dev, file.st_ino


def begin_immediate(connection: Connection, wait_ms: int) -> None:
    """Begin a transaction that writes on SQLite, waiting so long for another that does."""
    if wait_ms == BUSY_TIMEOUT_MS:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        return
    connection.exec_driver_sql(f"PRAGMA busy_timeout={wait_ms}")
    try:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    finally:
        # Whoever uses the connection next waits as usual.
        connection.exec_driver_sql(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
