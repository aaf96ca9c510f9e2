"""Conversion of texts that schema 0027 compressed with a dictionary."""

import zlib
from functools import cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from data.errors import StoreError

PACKED = b"\xff"
"""First byte of compressed texts, which is invalid in UTF-8."""
TEXTS = (("reply", "key", ("text", "logprobs", "thinking")), ("judgment", "id", ("rationale",)))
"""Tables with their primary key and compressed columns."""
NULLABLE = frozenset({"logprobs", "thinking"})
ROWS_AT_ONCE = 1_000


@cache
def _dictionary() -> bytes:
    return Path(__file__).with_name("packing_1.txt").read_bytes()


def unpack(stored: bytes) -> str:
    """Decompress a text."""
    try:
        if not stored.startswith(PACKED):
            return stored.decode()
        inflating = zlib.decompressobj(-zlib.MAX_WBITS, zdict=_dictionary())
        plain = inflating.decompress(stored[len(PACKED) :])
        if not inflating.eof:
            raise zlib.error("it is cut off")
        return plain.decode()
    except (UnicodeDecodeError, zlib.error) as error:
        message = f"A stored text cannot be read: {error}."
        raise StoreError(message, advice="Restore a backup.") from error


def unpack_texts(connection: sa.Connection) -> None:
    """Decompress all texts; on PostgreSQL into columns of texts."""
    for table, key, columns in TEXTS:
        if connection.dialect.name == "sqlite":
            for column in columns:
                _unpack(connection, table, key, column, column, f"typeof({column}) = 'blob'")
            continue
        kinds = {column["name"]: column["type"] for column in sa.inspect(connection).get_columns(table)}
        for column in columns:
            if isinstance(kinds[column], sa.LargeBinary):
                plain = f"plain_{column}"
                _execute(connection, f"ALTER TABLE {table} ADD COLUMN {plain} TEXT")
                _unpack(connection, table, key, column, plain, f"{column} IS NOT NULL")
                _execute(connection, f"ALTER TABLE {table} DROP COLUMN {column}")
                _execute(connection, f"ALTER TABLE {table} RENAME COLUMN {plain} TO {column}")
                if column not in NULLABLE:
                    _execute(connection, f"ALTER TABLE {table} ALTER COLUMN {column} SET NOT NULL")


def _unpack(connection: sa.Connection, table: str, key: str, source: str, target: str, where: str) -> None:
    last: Any = None
    while True:
        after = "" if last is None else f"AND {key} > :last "
        query = (
            f"SELECT {key}, {source} FROM {table} WHERE {where} {after}ORDER BY {key} LIMIT {ROWS_AT_ONCE}"  # noqa: S608 - our names
        )
        rows = connection.execute(sa.text(query), {} if last is None else {"last": last}).all()
        if not rows:
            return
        change = sa.text(f"UPDATE {table} SET {target} = :text WHERE {key} = :key")  # noqa: S608 - our names
        connection.execute(
            change, [{"key": number, "text": unpack(bytes(stored))} for number, stored in rows]
        )
        last = rows[-1][0]


def _execute(connection: sa.Connection, statement: str) -> None:
    connection.execute(sa.text(statement))
