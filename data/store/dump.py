"""A whole arena as files and back: JSON lines a table, streamed, with a manifest of hashes.

The files do not depend on the engine, so an arena moves between SQLite and PostgreSQL by them. What only
means something to running workers, their leases and claims, stays behind.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import JSON, Connection, String, Table, func, insert, select, text, type_coerce
from sqlalchemy.schema import AddConstraint, DropConstraint
from sqlalchemy.types import TypeEngine

from data.errors import ConflictError, FileFormatError, InputError
from data.progress import Work, counted, working
from data.records import JobState
from data.store.engine import Database, newest_version
from data.store.text_index import build_index
from data.tables.columns import Moment, Packed, Word, pack
from data.tables.jobs import battle_holds, canary_holds, jobs, lease_rows
from data.tables.schema import ddl_metadata, metadata

FORMAT = "answer-arena-dump/1"
MANIFEST = "manifest.json"
LEFT_BEHIND = (lease_rows, battle_holds, canary_holds)
INDEXED = ("question", "answer")
ROWS_AT_ONCE = 1_000
MOVED = "The arena was exported while its process ran it."


def dumped_tables() -> tuple[Table, ...]:
    """The tables of a dump, those that others refer to first."""
    return tuple(table for table in metadata.sorted_tables if table not in LEFT_BEHIND)


def export_all(database: Database, folder: Path) -> Mapping[str, int]:
    """Write every table into a new or empty folder, as of one moment.

    Returns:
        Rows by table.

    Raises:
        ConflictError: The folder has something in it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise ConflictError(f"{folder} is not empty.", advice="Name a new folder.")
    files: dict[str, dict[str, Any]] = {}
    with _snapshot(database) as connection:
        for table in dumped_tables():
            (total,) = row_counts(connection, [table.name]).values()
            rows = counted(_rows(connection, table), f"writing {table.name}", total)
            count, digest = _write(folder / f"{table.name}.jsonl", rows)
            files[table.name] = {"rows": count, "sha256": digest}
    manifest = {"format": FORMAT, "schema": newest_version(), "tables": files}
    # The manifest comes last: a folder without one is an export that was cut off.
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return {name: entry["rows"] for name, entry in files.items()}


def import_all(database: Database, folder: Path) -> Mapping[str, int]:
    """Read a dump into an arena that holds nothing, all of it or none.

    Returns:
        Rows by table.

    Raises:
        FileFormatError: The folder is no dump, is cut off, or was changed.
        ConflictError: The arena holds something.
    """
    manifest = _read_manifest(folder)
    tables = manifest["tables"]
    for name, entry in counted(tables.items(), "checking files", len(tables)):
        _check_file(folder / f"{name}.jsonl", entry)
    counts: dict[str, int] = {}
    with database.together() as connection:
        _refuse_filled(connection, database)
        with _foreign_keys_at_the_end(connection):
            for table in dumped_tables():
                if table.name in tables:
                    with working(f"reading {table.name}", tables[table.name]["rows"]) as work:
                        _read(connection, table, folder / f"{table.name}.jsonl", work)
                    counts[table.name] = work.done
        if not database.is_sqlite:
            _reset_sequences(connection)
        with working("indexing texts", sum(counts.get(name, 0) for name in INDEXED)) as work:
            build_index(connection, work)
    return counts


def row_counts(connection: Connection, names: Iterable[str]) -> dict[str, int]:
    """The rows of tables by name."""
    tables = metadata.tables
    return {
        name: int(connection.execute(select(func.count()).select_from(tables[name])).scalar_one())
        for name in names
        if name in tables
    }


def _snapshot(database: Database) -> Connection:
    """A connection that sees one moment, whatever is written meanwhile."""
    connection = database.engine.connect()
    if database.is_sqlite:
        connection.exec_driver_sql("BEGIN")
        return connection
    return connection.execution_options(isolation_level="REPEATABLE READ")


def _rows(connection: Connection, table: Table) -> Iterator[dict[str, Any]]:
    keys = list(table.primary_key.columns)
    names, moments = [column.name for column in table.columns], _moments(table)
    # Words are written as they are: to make a member of each takes as long as all the rest.
    columns = [
        type_coerce(column, String).label(column.name) if isinstance(column.type, Word) else column
        for column in table.columns
    ]
    streamed = connection.execution_options(stream_results=True, yield_per=ROWS_AT_ONCE)
    for row in streamed.execute(select(*columns).order_by(*keys)):
        values = dict(zip(names, row, strict=True))
        for name in moments:
            if values[name] is not None:
                values[name] = values[name].isoformat()
        yield _without_workers(values) if table is jobs else values


def _moments(table: Table) -> list[str]:
    """The columns that are written as text and read as moments."""
    return [column.name for column in table.columns if isinstance(column.type, Moment)]


def _without_workers(job: dict[str, Any]) -> dict[str, Any]:
    """A job as it is without workers."""
    if job["state"] not in {JobState.RUNNING, JobState.QUEUED}:
        return job
    if job["owner"]:
        return {**job, "state": JobState.CANCELLED.value, "error": MOVED}
    return {**job, "state": JobState.QUEUED.value, "not_before": 0.0}


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> tuple[int, str]:
    digest, count, waiting = hashlib.sha256(), 0, iter(rows)
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
    with path.open("wb") as file:
        while lines := [encode(row) + "\n" for row in islice(waiting, ROWS_AT_ONCE)]:
            block = "".join(lines).encode()
            digest.update(block)
            file.write(block)
            count += len(lines)
    return count, digest.hexdigest()


def _read_manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        message = f"{folder} is no complete export: its {MANIFEST} cannot be read."
        raise FileFormatError(message, advice="Export again by `arena db backup --folder DIR`.") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise FileFormatError(f"{folder / MANIFEST} is of another format than {FORMAT}.")
    if manifest.get("schema") != newest_version():
        message = f"{folder} has schema {manifest.get('schema')}, and this program {newest_version()}."
        raise InputError(message, advice="Export and import with the same version of the program.")
    return manifest


def _check_file(path: Path, entry: Mapping[str, Any]) -> None:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(2**20):
                digest.update(block)
    except OSError as error:
        raise FileFormatError(f"{path} is missing.", advice="Export again.") from error
    if digest.hexdigest() != entry["sha256"]:
        raise FileFormatError(f"{path} is not what was exported.", advice="Copy it again, or export again.")


def _refuse_filled(connection: Connection, database: Database) -> None:
    filled = [name for name, rows in row_counts(connection, metadata.tables).items() if rows]
    if filled:
        message = f"{database.place} holds an arena already ({', '.join(filled[:3])})."
        raise ConflictError(message, advice="Import into a new database.")


def _read(connection: Connection, table: Table, path: Path, work: Work) -> None:
    copied = connection.dialect.name == "postgresql"
    with path.open(encoding="utf-8") as file:
        while lines := list(islice(file, ROWS_AT_ONCE)):
            rows = [json.loads(line) for line in lines]
            (_copy if copied else _insert)(connection, table, rows)
            work.done += len(rows)


def _insert(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    moments = _moments(table)
    for row in rows:
        row.update({name: datetime.fromisoformat(row[name]) for name in moments if row[name]})
    connection.execute(insert(table), rows)


def _copy(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    """Hand rows to PostgreSQL as one stream, which takes a fraction of the time of as many inserts."""
    columns = [column for column in table.columns if column.name in rows[0]]
    quoted = connection.dialect.identifier_preparer.quote
    names = ", ".join(quoted(column.name) for column in columns)
    written = [(column.name, _written(column.type)) for column in columns]
    nulls = {
        column.name for column in columns if not isinstance(column.type, JSON) or column.type.none_as_null
    }
    driver: Any = connection.connection  # Its cursor is psycopg's, which SQLAlchemy does not say.
    with (
        driver.cursor() as cursor,
        cursor.copy(f"COPY {quoted(table.name)} ({names}) FROM STDIN") as copy,
    ):
        for row in rows:
            copy.write_row(
                [
                    row[name] if made is None or (row[name] is None and name in nulls) else made(row[name])
                    for name, made in written
                ]
            )


def _written(kind: TypeEngine[Any]) -> Callable[[Any], str | bytes] | None:
    """What makes a column's values ready for PostgreSQL; None where they are."""
    if isinstance(kind, Packed):
        return pack
    return json.dumps if isinstance(kind, JSON) else None


@contextmanager
def _foreign_keys_at_the_end(connection: Connection) -> Iterator[None]:
    """Let PostgreSQL check once for all rows that their parents exist: to look up each takes hours."""
    if connection.dialect.name != "postgresql":
        yield
        return
    kept = [key for table in ddl_metadata().sorted_tables for key in table.foreign_key_constraints]
    for key in kept:
        connection.execute(DropConstraint(key))
    yield
    for key in kept:
        connection.execute(AddConstraint(key))


def _reset_sequences(connection: Connection) -> None:
    """Let PostgreSQL go on numbering after the rows that were copied."""
    for table in dumped_tables():
        (key, *more) = table.primary_key.columns
        if more or key.type.python_type is not int or key.foreign_keys:
            continue
        highest = connection.execute(select(func.max(key))).scalar()
        if highest is not None:
            statement = text("SELECT setval(pg_get_serial_sequence(:table, :key), :highest)")
            parameters = {"table": f'"{table.name}"', "key": key.name, "highest": highest}
            connection.execute(statement, parameters)
