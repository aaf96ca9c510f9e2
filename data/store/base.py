"""Base of all stores: their database, and conversion between rows and records."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from operator import attrgetter, itemgetter
from typing import Any, TypeAlias, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from data.errors import ArenaError, NotFoundError
from data.store.engine import Database

Record = TypeVar("Record")
AnyRow: TypeAlias = sa.Row[*tuple[Any, ...]]


class StorePart:
    """Base of stores; within `Database.together` all statements belong to that transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def _all(self, query: sa.Select[*tuple[Any, ...]]) -> Sequence[AnyRow]:
        with self._database.begin() as connection:
            return connection.execute(query).all()

    def _first(self, query: sa.Select[*tuple[Any, ...]]) -> AnyRow | None:
        with self._database.begin() as connection:
            return connection.execute(query).first()

    def _values(self, query: sa.Select[*tuple[Any, ...]]) -> Sequence[Any]:
        with self._database.begin() as connection:
            return connection.execute(query).scalars().all()

    def _change(self, statement: sa.Insert | sa.Update | sa.Delete) -> int:
        with self._database.begin() as connection:
            return connection.execute(statement).rowcount


@contextmanager
def unique(
    *keys: sa.Column[Any] | tuple[sa.Column[Any], ...], conflict: Callable[[], ArenaError]
) -> Iterator[None]:
    """Raise `conflict()` if the block violates one of the unique keys; other violations stay as they are."""
    try:
        yield
    except IntegrityError as error:
        columns = (key if isinstance(key, tuple) else (key,) for key in keys)
        if not any(_is_repeated(error, key) for key in columns):
            raise
        raise conflict() from error


def _is_repeated(error: IntegrityError, key: tuple[sa.Column[Any], ...]) -> bool:
    broken = getattr(getattr(error.orig, "diag", None), "constraint_name", None)
    if broken is None:
        columns = ", ".join(f"{column.table.name}.{column.name}" for column in key)
        return str(error.orig) == f"UNIQUE constraint failed: {columns}"
    table = key[0].table
    return any(
        tuple(part.columns) == key and part.name == broken
        for part in (*table.constraints, *table.indexes)
        if isinstance(part, sa.UniqueConstraint | sa.PrimaryKeyConstraint | sa.Index)
    )


def no_set(name: str) -> NotFoundError:
    """Return the error for an unknown set."""
    return NotFoundError(f"There is no question set {name!r}.", advice="See `arena sets list`.")


def own_insert(connection: sa.Connection, table: sa.Table) -> Any:  # noqa: ANN401 - of either engine
    """Return an insert of the engine's dialect, which supports ON CONFLICT."""
    # Loading both dialects takes longer than many listings.
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects import postgresql  # noqa: PLC0415 - see above

        return postgresql.insert(table)
    from sqlalchemy.dialects import sqlite  # noqa: PLC0415 - see above

    return sqlite.insert(table)


def to_record(kind: type[Record], row: object, /, **values: Any) -> Record:  # noqa: ANN401 - fields of any type
    """Build a record from the columns with its fields' names and from `values`."""
    names, read = _reader(kind, frozenset(values))  # type: ignore[arg-type] # a class has a hash
    return kind(**dict(zip(names, read(row), strict=True)), **values)


@cache
def _reader(
    kind: type[Any], without: frozenset[str]
) -> tuple[tuple[str, ...], Callable[[object], Sequence[Any]]]:
    names = tuple(name for name in _fields(kind) if name not in without)
    if len(names) == 1:
        only = attrgetter(names[0])
        return names, lambda row: (only(row),)
    return names, attrgetter(*names) if names else lambda _row: ()


def maker(kind: type[Record], columns: Sequence[str], *without: str) -> Callable[..., Record]:
    """Build a converter from rows to records, many times faster than `to_record`, which looks up columns."""
    names = tuple(name for name in _fields(kind) if name not in without)
    read = itemgetter(*map(columns.index, names))

    def make(row: AnyRow, **values: Any) -> Record:  # noqa: ANN401 - fields of any type
        return kind(**dict(zip(names, read(row), strict=True)), **values)

    return make


def _fields(kind: type[Any]) -> Iterable[str]:
    fields: Iterable[str] = getattr(kind, "__dataclass_fields__", None) or kind.model_fields
    return fields


def to_row(table: sa.Table, record: Any, **values: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    """Build a row from a record's fields with columns' names and from `values`."""
    fields = {name: getattr(record, name) for name in record.__dataclass_fields__ if name in table.c}
    return fields | values
