"""Backup, restore and check of an SQLite database."""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from data.errors import ConflictError, FileFormatError, StoreError
from data.progress import working

SIDE_FILES = ("-wal", "-shm", "-journal")
"""Endings of SQLite's files next to a database in use."""
MAX_DAMAGE = 20
DAMAGED = (
    "Stop the site and all workers. `arena db status --check` checks the whole database; restore the newest "
    "intact backup with `arena db restore FILE --replace`."
)
MIN_FREE = 1 << 20
"""Free bytes that SQLite may need for its side files, even to read."""
IN_USE = "Stop the site, all workers and commands that use it, then restore again."


def back_up(database: Path, file: Path) -> int:
    """Copy a database, which may be in use, to a new file, check it and return its size in bytes."""
    if file.exists():
        raise ConflictError(f"{file} already exists.", advice="Choose a new file name.")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with _copied(database, file, "ro") as copy:
            if damage := damage_of(copy):
                message = f"{database} is damaged, so no backup was written: {damage}."
                raise StoreError(message, advice=DAMAGED)
            copy.rename(file)
            _sync(file.parent)
    except sqlite3.Error as error:
        message = f"{database} cannot be copied to {file}: {error}."
        raise StoreError(message, advice="Check the paths and the free space.") from error
    except OSError as error:
        message = f"{file} cannot be written: {error.strerror}."
        raise FileFormatError(message, advice="Check its path, permissions and free space.") from error
    return file.stat().st_size


def restore(file: Path, database: Path, versions: frozenset[str]) -> str:
    """Replace a database with a backup atomically and return the version of its schema.

    Schemas that are not in `versions` are refused.
    """
    database = database.resolve()
    side_files = (file.with_name(f"{file.name}{end}") for end in SIDE_FILES)
    if any(path.is_file() and path.stat().st_size for path in side_files):
        message = f"{file} is a database in use: SQLite's log file is next to it."
        raise FileFormatError(message, advice="Make a backup of it with `arena db backup`.")
    try:
        database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _copied(file, database, "ro&immutable=1") as copy:
            if damage := _cut(file) or damage_of(copy):
                raise FileFormatError(f"{file} is damaged: {damage}.", advice="Restore another backup.")
            version = _version(copy)
            if version not in versions:
                message = f"{file} contains no arena that this version can read (schema {version or 'none'})."
                raise FileFormatError(message, advice="Restore another backup, or upgrade.")
            with _unused(database):
                copy.replace(database)
                _sync(database.parent)
    except sqlite3.Error as error:
        message = f"{file} cannot be read as an SQLite database: {error}."
        raise FileFormatError(message, advice="Restore another backup.") from error
    except OSError as error:
        message = f"{error.filename or database}: {error.strerror}."
        raise FileFormatError(message, advice="Check its path, permissions and free space.") from error
    return version


def obstacle_to(database: Path) -> str:
    """Explain why an intact database cannot be used: permissions, a full or read-only disk; else empty.

    SQLite reports these, and some kinds of damage, as "disk I/O error" or "unable to open database file".
    """
    folder = database.absolute().parent
    places = [place for place in (folder, database) if place.exists()]
    if any(not os.access(place, os.R_OK | os.W_OK) for place in places):
        return (
            f"{folder} is not readable and writable, which SQLite needs even to read. Change its permissions."
        )
    if folder.exists() and shutil.disk_usage(folder).free < MIN_FREE:
        return f"The disk of {folder} is full. Free some space and try again: the database is not damaged."
    return ""


def damage_of(file: Path) -> str:
    """Describe the damage of a database in a line; empty if it is intact."""
    # In a read-only folder SQLite cannot write its log.
    mode = "ro" if os.access(file.absolute().parent, os.W_OK) else "ro&immutable=1"
    try:
        with working(f"checking {file.name}"), closing(_opened(file, mode)) as connection:
            lines = [row[0] for row in connection.execute(f"PRAGMA integrity_check({MAX_DAMAGE})")]
            broken = connection.execute("PRAGMA foreign_key_check").fetchone()
    except sqlite3.DatabaseError as error:
        return str(error)
    if lines != ["ok"]:
        return " ".join(lines[0].replace("*** in database main ***", "").split())
    return "" if broken is None else f"rows of {broken[0]} have broken references"


def _cut(file: Path) -> str:
    """Report a truncated last page, which SQLite reads as zeros without an error."""
    with closing(_opened(file, "ro&immutable=1")) as connection:
        (pages,), (size,) = (
            connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size")
        )
    missing = pages * size - file.stat().st_size
    return f"bytes at its end are missing ({missing:,})" if missing > 0 else ""


@contextmanager
def _copied(source: Path, target: Path, mode: str) -> Iterator[Path]:
    """Make a synced copy in the folder of `target`; it is deleted unless the block moves it."""
    handle, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
    os.close(handle)
    copy = Path(name)
    try:
        with (
            working(f"copying {source.name}"),
            closing(_opened(source, mode)) as original,
            closing(sqlite3.connect(copy)) as duplicate,
        ):
            original.backup(duplicate)
            duplicate.execute("PRAGMA journal_mode=DELETE")
        _sync(copy)
        yield copy
    finally:
        for end in ("", *SIDE_FILES):
            copy.with_name(f"{copy.name}{end}").unlink(missing_ok=True)


@contextmanager
def _unused(database: Path) -> Iterator[None]:
    """Lock a database exclusively, with its log merged or removed."""
    with closing(sqlite3.connect(database, timeout=0, isolation_level=None)) as connection:
        try:
            # Only the last connection can leave WAL mode.
            (mode,) = connection.execute("PRAGMA journal_mode=DELETE").fetchone()
            if mode != "delete":
                raise ConflictError(f"Another process has {database} open.", advice=IN_USE)
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
                raise ConflictError(f"Another process has {database} open.", advice=IN_USE) from error
        except sqlite3.DatabaseError:
            pass  # A damaged database cannot be locked, but must be replaceable.
        for end in SIDE_FILES:
            database.with_name(f"{database.name}{end}").unlink(missing_ok=True)
        yield


def _version(file: Path) -> str | None:
    with closing(_opened(file, "ro")) as connection:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
        if not {"alembic_version", "question_set"} <= tables:
            return None
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return None if row is None else str(row[0])


def _opened(file: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(file.absolute()))}?mode={mode}", uri=True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
