"""The database as a whole: its schema, moved, backed up, restored."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from arena.settings import child_environment
from data.errors import ConflictError, FileFormatError, StoreError
from data.progress import Work, working
from data.store.dump import export_all, import_all
from data.store.engine import DAMAGED, Database, newest_version

SQLITE_MAGIC = b"SQLite format 3\x00"
POSTGRES_MAGIC = b"PGDMP"
RESTORING = ("--clean", "--if-exists", "--no-owner", "--exit-on-error")
PAGES_AT_ONCE = 10_000
MOST_DAMAGE = 20
OWNER_ALONE = 0o600
NO_TOOL = "Install PostgreSQL's client programs of its version, or use `arena db backup --folder DIR`."
MISFIT = "If its version does not fit, install one that does, or use `arena db backup --folder DIR`."


@dataclass(frozen=True, slots=True)
class DatabaseService:
    """Use cases around a database that need not have the current schema."""

    url: str

    def status(self) -> dict[str, Any]:
        """Where the database is, which schema it has, and what is in it."""
        with closing(Database(self.url)) as database:
            version, newest = database.version(), newest_version()
            return {
                "database": database.place,
                "engine": database.url.get_backend_name(),
                "schema": version,
                "newest": newest,
                "current": version == newest,
                "bytes": database.size(),
                "rows": database.rows(),
            }

    def check(self) -> None:
        """Read every page of the database.

        Raises:
            StoreError: It is damaged.
        """
        with closing(Database(self.url)) as database:
            if database.is_sqlite:
                place = Path(database.url.database or "")
                damage = _damage_of(place, in_use=True) if place.is_file() else ""
                if damage:
                    raise StoreError(f"{database.place} is damaged: {damage}.", advice=DAMAGED)
            elif database.version() is not None:
                # Reads every row, also what is stored out of line.
                _run(
                    "pg_dump",
                    ["--format=custom", "--compress=0", "--no-sync", f"--file={os.devnull}"],
                    database,
                )

    def upgrade(self) -> tuple[str, str | None, str | None]:
        """Upgrade the schema; returns the database, and the versions before and after."""
        with closing(Database(self.url)) as database:
            before = database.version()
            with working("changing the schema"):
                database.upgrade()
            return database.place, before, database.version()

    def export(self, folder: Path) -> Mapping[str, int]:
        """Write the whole arena into a folder; rows by table.

        Raises:
            StoreError: The schema is not current.
            ConflictError: The folder has something in it.
            FileFormatError: The folder cannot be written.
        """
        with closing(self._current()) as database, _writing(folder):
            return export_all(database, folder)

    def bring(self, folder: Path) -> Mapping[str, int]:
        """Read an exported arena into an empty database; rows by table.

        Raises:
            FileFormatError: The folder is no whole export.
            ConflictError: The database holds something.
        """
        with closing(Database(self.url)) as database:
            if database.version() is None:
                database.upgrade()
        with closing(self._current()) as database:
            return import_all(database, folder)

    def back_up(self, file: Path) -> int:
        """Write a backup while the arena is in use, check it, and return its size in bytes.

        Raises:
            ConflictError: The file exists.
            StoreError: The backup failed, or what was copied is damaged; no file is left.
            FileFormatError: The file cannot be written.
        """
        if file.exists():
            raise ConflictError(f"{file} exists.", advice="Name a new file.")
        with closing(Database(self.url)) as database, _writing(file):
            if database.version() is None:
                raise StoreError(f"{database.place} holds no arena.", advice="There is nothing to back up.")
            file.parent.mkdir(parents=True, exist_ok=True)
            partial = file.with_name(f"{file.name}.partial")
            try:
                if database.is_sqlite:
                    _copy_sqlite(Path(database.url.database or ""), partial)
                    if damage := _damage_of(partial):
                        message = (
                            f"{database.place} is damaged, and so is its copy, which was not kept: {damage}."
                        )
                        raise StoreError(message, advice=DAMAGED)
                else:
                    _run("pg_dump", ["--format=custom", "--no-owner", f"--file={partial}"], database)
                    _run("pg_restore", [f"--file={os.devnull}", str(partial)], database)
                partial.chmod(OWNER_ALONE)
                partial.replace(file)
            finally:
                partial.unlink(missing_ok=True)
        return file.stat().st_size

    def restore(self, file: Path, *, replace: bool) -> str:
        """Replace the database by a backup, and return its schema's version.

        With `replace`, a database that holds something is overwritten.

        Raises:
            FileFormatError: It is no backup, or one of the other engine.
            ConflictError: The database holds something.
        """
        with closing(Database(self.url)) as database:
            _check_backup(file, sqlite=database.is_sqlite)
            if not replace and any(database.rows().values()):
                message = f"{database.place} holds an arena."
                raise ConflictError(message, advice="Stop site and workers, then give --replace.")
            if database.is_sqlite:
                _copy_sqlite(file, Path(database.url.database or ""))
            else:
                _run("pg_restore", [*RESTORING, f"--dbname={database.url.database}", str(file)], database)
            version = database.version()
        if version is None:
            raise FileFormatError(f"{file} holds no arena.", advice="Restore another backup.")
        return version

    def _current(self) -> Database:
        database = Database(self.url)
        if not database.is_current():
            database.close()
            message = f"The schema of {database.place} is not this program's."
            raise StoreError(message, advice="Run `arena db upgrade`.")
        return database


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror}."
        raise FileFormatError(message, advice="Check path, permissions and free space.") from error


def _check_backup(file: Path, *, sqlite: bool) -> None:
    try:
        with file.open("rb") as opened:
            start = opened.read(len(SQLITE_MAGIC))
    except OSError as error:
        raise FileFormatError(
            f"{file} cannot be read: {error.strerror}.", advice="Check the path."
        ) from error
    magic = SQLITE_MAGIC if sqlite else POSTGRES_MAGIC
    if not start.startswith(magic):
        other = "PostgreSQL" if sqlite else "SQLite"
        message = f"{file} is no backup of this engine."
        advice = f"Backups of {other} are restored there; to change engines, use `arena db backup --folder`."
        raise FileFormatError(message, advice=advice)
    if sqlite:
        damage = _damage_of(file)
        if damage:
            raise FileFormatError(f"{file} is damaged: {damage}.", advice="Restore another backup.")


def _damage_of(file: Path, *, in_use: bool = False) -> str:
    """What is wrong with a file of SQLite, in a line; empty where nothing is."""
    # Of what nobody writes no log is begun beside it.
    still = "" if in_use else "&immutable=1"
    try:
        source = sqlite3.connect(f"file:{quote(str(file))}?mode=ro{still}", uri=True)
        with working(f"checking {file.name}"), closing(source) as connection:
            found = [row[0] for row in connection.execute(f"PRAGMA integrity_check({MOST_DAMAGE})")]
            broken = connection.execute("PRAGMA foreign_key_check").fetchone()
    except sqlite3.DatabaseError as error:
        return str(error)
    if found != ["ok"]:
        lines = "\n".join(found).splitlines()
        more = "" if len(lines) == 1 else f" and {len(lines) - 1} more"
        return f"{lines[0].removeprefix('*** in database main ***').strip() or lines[1]}{more}"
    return "" if broken is None else f"rows of {broken[0]} refer to nothing"


def _copy_sqlite(source: Path, destination: Path) -> None:
    """Copy a database that may be in use, by SQLite's own means."""
    destination.parent.mkdir(parents=True, exist_ok=True)
    try:
        with (
            working(f"copying {source.name}") as work,
            closing(sqlite3.connect(source)) as original,
            closing(sqlite3.connect(destination)) as duplicate,
        ):
            original.backup(duplicate, pages=PAGES_AT_ONCE, progress=_follow(work))
    except sqlite3.Error as error:
        message = f"{source} cannot be copied to {destination}: {error}."
        raise StoreError(
            message, advice="Check the path, the free space, and that no command writes."
        ) from error


def _follow(work: Work) -> Callable[[int, int, int], None]:
    """Count the pages of a copy."""

    def follow(_status: int, left: int, total: int) -> None:
        work.done, work.total = total - left, total

    return follow


def _run(tool: str, arguments: list[str], database: Database) -> None:
    """Run one of PostgreSQL's programs; the password goes by its environment, where nobody sees it."""
    path = shutil.which(tool)
    if path is None:
        raise StoreError(f"{tool} is not installed.", advice=NO_TOOL)
    url = database.url
    variables = {
        "PGHOST": url.host,
        "PGPORT": str(url.port) if url.port else None,
        "PGUSER": url.username,
        "PGPASSWORD": None if url.password is None else str(url.password),
        "PGDATABASE": url.database,
        "PGSSLMODE": str(url.query["sslmode"]) if "sslmode" in url.query else None,
    }
    environment = child_environment({name: value for name, value in variables.items() if value})
    with working(f"running {tool}"):
        done = subprocess.run(  # noqa: S603 - no shell; a program that we name, its paths the operator's
            [path, *arguments], env=environment, capture_output=True, text=True, check=False
        )
    if done.returncode:
        messages = done.stderr.strip().splitlines() or ["it says nothing"]
        raise StoreError(f"{tool} failed: {messages[-1]}.", advice=MISFIT)
