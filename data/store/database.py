"""One engine, its transactions, and the schema's version.

SQLite runs in WAL mode with a busy timeout, so that readers never wait for the writer and two
writers wait for each other instead of failing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, CursorResult, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

from data.errors import StoreError

MIGRATIONS = Path(__file__).parent.parent / "migrations"
BUSY_TIMEOUT_MS = 10_000


class Database:
    """A database that holds the current schema.

    Args:
        url: An SQLAlchemy URL, `sqlite:///…` or `postgresql+psycopg://…`.

    Raises:
        StoreError: The URL is unusable, or its driver is not installed.
    """

    def __init__(self, url: str) -> None:
        try:
            self.url: URL = make_url(url)
            self.engine: Engine = _make_engine(self.url)
        except ArgumentError as error:
            message = "ARENA_DATABASE_URL is not a database URL."
            raise StoreError(message, advice="Write sqlite:///PATH or postgresql+psycopg://…") from error
        except (NoSuchModuleError, ModuleNotFoundError) as error:
            message = f"The driver of {self.url.drivername} databases is not installed."
            raise StoreError(message, advice="Install answer-arena[postgres].") from error

    @property
    def place(self) -> str:
        """Where the database is, without its password."""
        return self.url.render_as_string(hide_password=True)

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """A transaction that commits at the end of the block.

        Raises:
            StoreError: The database cannot be reached, opened, locked or written.
        """
        try:
            with self.engine.begin() as connection:
                yield connection
        except DBAPIError as error:
            if isinstance(error, IntegrityError):
                raise
            raise self._unusable(error) from error

    def is_current(self) -> bool:
        """Whether the schema is the newest one; False for an empty database."""
        return self.version() == newest_version()

    def version(self) -> str | None:
        """The schema's version, None for an empty database."""
        with self.begin() as connection:
            if not inspect(connection).has_table("alembic_version"):
                return None
            row = connection.execute(text("SELECT version_num FROM alembic_version")).first()
            return None if row is None else str(row[0])

    def upgrade(self) -> None:
        """Bring the schema to the newest version, making it where there is none."""
        from alembic import command  # noqa: PLC0415 - takes a third of a second, rarely needed
        from alembic.config import Config  # noqa: PLC0415 - as above

        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        with self.begin() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")

    def close(self) -> None:
        """Give back every connection."""
        self.engine.dispose()

    def _unusable(self, error: SQLAlchemyError) -> StoreError:
        cause = str(getattr(error, "orig", error)).splitlines()[0]
        message = f"The database {self.place} cannot be used: {cause}."
        advice = "Check ARENA_HOME or ARENA_DATABASE_URL, its permissions, free space and that it runs."
        return StoreError(message, advice=advice)


def new_id(result: CursorResult[Any]) -> int:
    """The number that the database gave to an inserted row."""
    key = result.inserted_primary_key
    if key is None:
        raise StoreError("The database gave no number to a new row.", advice="Run `arena db upgrade`.")
    return int(key[0])


def pairs(rows: Iterable[Any]) -> dict[Any, Any]:
    """Rows of two columns as a mapping."""
    return {row[0]: row[1] for row in rows}


def newest_version() -> str:
    """The version that the newest migration file makes."""
    return max(file.stem.split("_")[0] for file in (MIGRATIONS / "versions").glob("[0-9]*.py"))


def _make_engine(url: URL) -> Engine:
    if url.get_backend_name() != "sqlite":
        return create_engine(url, pool_pre_ping=True)
    path = url.database
    if path and path != ":memory:":
        _make_parent(Path(path))
    engine = create_engine(url, poolclass=NullPool) if path and path != ":memory:" else create_engine(url)
    event.listen(engine, "connect", _prepare_sqlite)
    return engine


def _make_parent(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"The folder {path.parent} cannot be made: {error.strerror}."
        raise StoreError(message, advice="Set ARENA_HOME to a folder you can write to.") from error


def _prepare_sqlite(connection: object, _record: ConnectionPoolEntry) -> None:
    cursor = connection.cursor()  # type: ignore[attr-defined]  # DBAPI connections have no common type
    cursor.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()
