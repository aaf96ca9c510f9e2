"""Database engine, transactions and schema versions.

SQLite runs in WAL mode with a busy timeout, so that readers never wait for the writer and two
writers wait for each other instead of failing.
"""

import logging
import os
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    DisconnectionError,
    IntegrityError,
    NoSuchModuleError,
    SQLAlchemyError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection, QueuePool

from data.errors import StoreError
from data.store.backup import back_up, obstacle_to
from data.text import json_text

BUSY_TIMEOUT_MS = 10_000
POOL_SIZE = 4
OWNER_ONLY = 0o600
URL_ADVICE = "Write sqlite:///PATH or postgresql+psycopg://USER@HOST/DATABASE."
TIMEOUTS = {
    "connect_timeout": 10,
    "tcp_user_timeout": 20_000,
    "keepalives_idle": 20,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}
"""Timeouts of connections to PostgreSQL, in seconds; `tcp_user_timeout` in milliseconds.

Without them a host that loses the network may wait two hours for a reply.
"""
POSTGRES_SCHEMES = frozenset({"postgres", "postgresql"})
"""Schemes of PostgreSQL URLs without a driver."""


def supported(url: URL) -> URL:
    """Return the URL with our driver."""
    if url.drivername in POSTGRES_SCHEMES:
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() not in {"sqlite", "postgresql"}:
        raise StoreError(f"{url.drivername} databases are not supported.", advice=URL_ADVICE)
    return url


def make_engine(url: URL) -> sa.Engine:
    """Create an engine with a pool, since closing SQLite's last connection copies the whole log."""
    if url.get_backend_name() != "sqlite":
        return sa.create_engine(
            url, pool_pre_ping=True, connect_args=_timeouts(url), json_serializer=json_text
        )
    path = url.database
    if not path or path == ":memory:":
        engine = sa.create_engine(url, json_serializer=json_text)
    else:
        _make_parent(Path(path))
        # SQLite's log inherits the file's permissions. If it cannot be created, SQLite reports why.
        with suppress(OSError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_ONLY))
        engine = sa.create_engine(
            url,
            poolclass=QueuePool,
            pool_size=POOL_SIZE,
            max_overflow=-1,
            pool_use_lifo=True,
            json_serializer=json_text,
        )
        sa.event.listen(engine, "checkout", _check_out)
    sa.event.listen(engine, "connect", _prepare_sqlite)
    return engine


def _timeouts(url: URL) -> dict[str, int]:
    return {name: value for name, value in TIMEOUTS.items() if name not in url.query}


def _make_parent(path: Path) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        message = f"The folder {path.parent} cannot be created: {error.strerror}."
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
    """Reject connections that another process opened, or to a file that was moved or deleted."""
    place, identity = record.info["file"]
    if identity == _identity(place):
        return
    if identity[0] != os.getpid():
        # After a fork: closing the parent's connection could disturb it. SQLAlchemy documents this way to
        # drop it, but types the proxy's attribute as read-only.
        record.dbapi_connection = proxy.dbapi_connection = None  # type: ignore[misc]
    raise DisconnectionError(f"{place} was replaced by another file")


def _identity(place: str) -> tuple[int, int, int]:
    try:
        file = os.stat(place)  # noqa: PTH116 - a third of the time of a Path
    except OSError:
        return os.getpid(), 0, 0
    return os.getpid(), file.st_dev, file.st_ino


def begin_immediate(connection: sa.Connection, wait_ms: int) -> None:
    """Begin a write transaction on SQLite, waiting for another writer up to `wait_ms`."""
    if wait_ms == BUSY_TIMEOUT_MS:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        return
    connection.exec_driver_sql(f"PRAGMA busy_timeout={wait_ms}")
    try:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    finally:
        # The next user of the connection waits as usual.
        connection.exec_driver_sql(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")


LOG = logging.getLogger(__name__)
MIGRATIONS = Path(__file__).parent.parent / "migrations"
MIGRATION_LOCK = 0x4152454E41  # "ARENA", unlikely to be the lock of another program.
SIGNS_OF_DAMAGE = (
    *("malformed", "file is not a database", "disk I/O error"),
    *("invalid page", "could not read block", "checksum"),
)
"""Messages of SQLite and PostgreSQL about a damaged file."""
CHECK = "Run `arena db status --check`: it checks the whole database for damage."
LOCKED = "Another command, worker or program has locked it for 10 s. Try again when it has ended."
UNREACHABLE = "Check ARENA_HOME or ARENA_DATABASE_URL, the permissions, the free space, and that the server "
"is running."


class Database:
    """Database with its engine and schema.

    Args:
        url: An SQLAlchemy URL, `sqlite:///…` or `postgresql+psycopg://…`.
    """

    def __init__(self, url: str) -> None:
        try:
            self.url: URL = supported(make_url(url))
            self.engine: sa.Engine = make_engine(self.url)
        except (ArgumentError, ValueError) as error:
            raise StoreError("ARENA_DATABASE_URL is not a database URL.", advice=URL_ADVICE) from error
        except (NoSuchModuleError, ModuleNotFoundError) as error:
            message = f"The driver of {self.url.drivername} databases is not installed."
            raise StoreError(message, advice="Install answer-arena[postgres].") from error
        # Closing the last connection merges the write-ahead log into the file, also at exit.
        self._closing = weakref.finalize(self, self.engine.dispose)
        self._joined: ContextVar[sa.Connection | None] = ContextVar("joined", default=None)

    @property
    def place(self) -> str:
        """Address of the database, without its password."""
        return self.url.render_as_string(hide_password=True)

    @contextmanager
    def begin(self) -> Iterator[sa.Connection]:
        """Open a transaction that commits after the block; within `together`, join that transaction."""
        joined = self._joined.get()
        if joined is not None:
            yield joined
            return
        try:
            with self.engine.begin() as connection:
                yield connection
        except (DBAPIError, PoolTimeoutError) as error:
            if isinstance(error, IntegrityError):
                raise
            raise self._unusable(error) from error

    @contextmanager
    def together(self, *, wait_ms: int = BUSY_TIMEOUT_MS) -> Iterator[sa.Connection]:
        """Run everything that this thread or task does in the block in one transaction.

        On SQLite it is the only writer from the start, so that nothing changes between reading and writing;
        on PostgreSQL callers lock rows for that.

        Args:
            wait_ms: Milliseconds to wait for another writer on SQLite.
        """
        if self._joined.get() is not None:
            with self.begin() as connection:
                yield connection
            return
        with self.begin() as connection:
            if connection.dialect.name == "sqlite":
                begin_immediate(connection, wait_ms)
            token = self._joined.set(connection)
            try:
                yield connection
            finally:
                self._joined.reset(token)

    @property
    def is_sqlite(self) -> bool:
        """True if the database is a file with one writer at a time."""
        return self.url.get_backend_name() == "sqlite"

    def require_schema(self) -> None:
        """Raise an error unless the schema has the newest version."""
        version, advice = self.version(), "Use the version of Answer Arena that created it, or a newer one."
        if version not in known_versions():
            message = f"The database {self.place} has an unknown schema ({version})."
            raise StoreError(message, advice=advice)
        if version != newest_version():
            message = f"The schema of {self.place} is older than this program."
            raise StoreError(message, advice="Run `arena db upgrade`.")

    def version(self) -> str | None:
        """Return the schema's version, None for an empty database."""
        with self.begin() as connection:
            return _version(connection)

    def size(self) -> int:
        """Return the size of the database in bytes."""
        if not self.is_sqlite:
            with self.begin() as connection:
                return int(
                    connection.execute(sa.select(sa.func.pg_database_size(self.url.database))).scalar_one()
                )
        path = Path(self.url.database or "")
        return path.stat().st_size if path.is_file() else 0

    def rows(self) -> dict[str, int]:
        """Count the rows by table, for any version of the schema."""
        with self.begin() as connection:
            names = [name for name in sa.inspect(connection).get_table_names() if name != "alembic_version"]
            return {
                name: int(
                    connection.execute(sa.select(sa.func.count()).select_from(sa.table(name))).scalar_one()
                )
                for name in sorted(names)
            }

    def missing(self) -> list[str]:
        """Return the missing tables and indexes of the newest schema."""
        from data.migrations.schema import metadata  # noqa: PLC0415 - rarely needed, and loads every table

        with self.begin() as connection:
            reader = sa.inspect(connection)
            tables = set(reader.get_table_names())
            missing = [f"table {table.name}" for table in metadata.sorted_tables if table.name not in tables]
            for table in metadata.sorted_tables:
                if table.name in tables:
                    indexes = {index["name"] for index in reader.get_indexes(table.name)}
                    missing += sorted(
                        f"index {index.name}" for index in table.indexes if index.name not in indexes
                    )
        return missing

    def upgrade(self) -> Path | None:
        """Migrate the schema to the newest version, or create it.

        Returns:
            The backup of an older SQLite database, in the same folder.
        """
        with self._migrating() as connection:
            version = _version(connection)
            if version is None:
                _create(connection)
                return None
        if version not in known_versions():
            self.require_schema()
        from alembic import command  # noqa: PLC0415 - takes a third of a second, rarely needed
        from alembic.config import Config  # noqa: PLC0415 - as above

        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        with self._migrating() as connection:
            config.attributes["connection"] = connection
            backup = self._back_up(connection)
            command.upgrade(config, "head")
        return backup

    def _back_up(self, connection: sa.Connection) -> Path | None:
        version = _version(connection)
        file = Path(self.url.database or "")
        if not self.is_sqlite or version not in known_versions() - {newest_version()} or not file.is_file():
            return None
        moment = datetime.now(UTC).strftime("%Y-%m-%dT%H%M%S")
        backup = file.with_name(f"{file.stem}-{version}-{moment}.backup")
        back_up(file, backup)
        LOG.warning("Backed up %s to %s before changing its schema.", file, backup)
        return backup

    @contextmanager
    def _migrating(self) -> Iterator[sa.Connection]:
        """Open a transaction for all migrations, locked against other processes."""
        if not self.is_sqlite:
            with self.begin() as connection:
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(MIGRATION_LOCK)))
                yield connection
            return
        try:
            with self.engine.connect() as connection:
                # Recreating a table must not delete the rows that refer to it; the connection is detached so
                # that no later user has foreign keys off.
                connection.detach()
                connection.exec_driver_sql("PRAGMA foreign_keys=OFF")
                connection.exec_driver_sql("BEGIN IMMEDIATE")
                yield connection
                broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
                if broken is not None:
                    message = f"The migration would leave rows of {broken[0]} with broken references."
                    raise StoreError(message, advice="Nothing was changed. Restore a backup.")
                connection.commit()
        except DBAPIError as error:
            raise self._unusable(error) from error

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def _unusable(self, error: SQLAlchemyError) -> StoreError:
        cause = str(getattr(error, "orig", error)).splitlines()[0]
        message = f"The database {self.place} cannot be used: {cause}."
        return StoreError(message, advice=self._advice(cause))

    def _advice(self, cause: str) -> str:
        if self.is_sqlite and (obstacle := obstacle_to(Path(self.url.database or ""))):
            return obstacle
        if "database is locked" in cause:
            return LOCKED
        return CHECK if any(sign in cause for sign in SIGNS_OF_DAMAGE) else UNREACHABLE


def new_id(result: sa.CursorResult[Any]) -> int:
    """Return the id of an inserted row."""
    key = result.inserted_primary_key
    if key is None:
        raise StoreError("The database returned no id for a new row.", advice="Run `arena db upgrade`.")
    return int(key[0])


def pairs(rows: Iterable[Any]) -> dict[Any, Any]:
    """Build a mapping from rows of two columns."""
    return {row[0]: row[1] for row in rows}


def known_versions() -> frozenset[str]:
    """Return the versions of the schema that can be migrated, and the newest."""
    return frozenset(file.stem.split("_")[0] for file in (MIGRATIONS / "versions").glob("[0-9]*.py"))


def newest_version() -> str:
    """Return the version of the newest migration."""
    return max(known_versions())


def _create(connection: sa.Connection) -> None:
    from data.migrations.schema import ddl_metadata  # noqa: PLC0415 - needed once per database

    metadata = ddl_metadata()
    versions = sa.Table(
        "alembic_version", metadata, sa.Column("version_num", sa.String(32), primary_key=True)
    )
    metadata.create_all(connection)
    connection.execute(versions.insert().values(version_num=newest_version()))


def _version(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    row = connection.execute(sa.text("SELECT version_num FROM alembic_version")).first()
    return None if row is None else str(row[0])


def db_now(connection: sa.Connection) -> sa.ColumnElement[float]:
    """Return the seconds since 1970 by the database's clock, which all workers share."""
    if connection.dialect.name == "postgresql":
        return sa.func.extract("epoch", sa.func.clock_timestamp()).cast(sa.Float)
    return sa.literal_column("((julianday('now') - 2440587.5) * 86400.0)", sa.Float)
