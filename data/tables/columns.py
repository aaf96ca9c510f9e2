"""Columns as tables write them, and how their values are read: moments in UTC, closed words as members."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    text,
)
from sqlmodel import Field, SQLModel
from sqlmodel._compat import SQLModelConfig
from sqlmodel.main import SQLModelMetaclass

from data.stored_text import storable

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
metadata = MetaData(naming_convention=NAMING)
"""All tables; its names of constraints let migrations find them."""


class _Unmapped(SQLModelMetaclass):
    """Makes the table that a class declares, and no mapper: none is used, and they took half of the time."""

    def __init__(
        self, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: object
    ) -> None:
        type.__init__(self, name, bases, namespace)
        if "table" not in options:
            return
        columns = {field: getattr(self, field) for field in self.model_fields}
        for field, column in columns.items():
            column.name = column.key = field
        further = namespace.get("__table_args__", ())
        items = [item for item in further if not isinstance(item, dict)]
        named = further[-1] if len(items) < len(further) else {}
        self.__table__ = Table(namespace["__tablename__"], metadata, *columns.values(), *items, **named)


class Base(SQLModel, metaclass=_Unmapped):
    """The parent of every table. Rows are never read into it: queries go through the table of a class."""

    # Nothing is ever validated by it, and to build the validators of all tables would slow every command.
    model_config = SQLModelConfig(defer_build=True)

    if TYPE_CHECKING:
        __table__: ClassVar[Table]


_AGO: ContextVar[timedelta] = ContextVar("ago", default=timedelta())


@contextmanager
def dated(ago: timedelta) -> Iterator[None]:
    """Let what is stored meanwhile bear dates of the past: for data that are invented, and say so."""
    token = _AGO.set(ago)
    try:
        yield
    finally:
        _AGO.reset(token)


def now() -> datetime:
    """The present moment in UTC."""
    return datetime.now(UTC) - _AGO.get()


class Moment(TypeDecorator[datetime]):
    """A time stamp with its zone, which is UTC: SQLite keeps none, so there is only one."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """What the database is given."""
        del dialect
        return value if value is None or value.tzinfo is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """What it returns, in UTC also where the engine leaves the zone out."""
        del dialect
        return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value


class Word(TypeDecorator[StrEnum]):
    """A word of a closed set, read as its member."""

    impl = String
    cache_ok = True

    def __init__(self, members: type[StrEnum], length: int) -> None:
        super().__init__(length)
        self.members = members
        self._by_word = {str(member): member for member in members}

    def process_result_value(self, value: str | None, dialect: Dialect) -> StrEnum | None:
        """The member."""
        del dialect
        # To call the members takes three times as long.
        return None if value is None else self._by_word.get(value) or self.members(value)


class Prose(TypeDecorator[str]):
    """A text from anywhere: what no database can keep is replaced as it is written or looked for."""

    impl: Any = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """What the database is given."""
        del dialect
        return storable(value) if isinstance(value, str) else value


class Label(Prose):
    """The same of at most so many characters."""

    impl: Any = String
    cache_ok = True


def field(kind: Any, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - as SQLAlchemy and SQLModel have it
    """A field of a row with its column."""
    return Field(sa_column=Column(kind, *arguments, **{"nullable": False, **options}))


def number() -> Any:  # noqa: ANN401 - as above
    """The number that the database gives to a row."""
    return field(Integer, primary_key=True)


def moment(*, nullable: bool = False) -> Any:  # noqa: ANN401 - as above
    """A moment."""
    return field(Moment, nullable=nullable)


def created() -> Any:  # noqa: ANN401 - as above
    """When the row was written."""
    return field(Moment, default=now)


def json() -> Any:  # noqa: ANN401 - as above
    """A JSON value."""
    return field(JSON)


def maybe_json() -> Any:  # noqa: ANN401 - as above
    """A JSON value, or null."""
    return field(JSON(none_as_null=True), nullable=True)


def prose(*, nullable: bool = False, default: str | None = None) -> Any:  # noqa: ANN401 - as above
    """A text of any length."""
    return field(Prose, nullable=nullable, default=default)


def label(length: int, *, nullable: bool = False, **options: Any) -> Any:  # noqa: ANN401 - as above
    """A text of at most so many characters."""
    return field(Label(length), nullable=nullable, **options)


def word(members: type[StrEnum], length: int = 16, *, nullable: bool = False) -> Any:  # noqa: ANN401 - as above
    """A word of a closed set."""
    return field(Word(members, length), nullable=nullable)


def whole(*, nullable: bool = False, default: int | None = None) -> Any:  # noqa: ANN401 - as above
    """A whole number."""
    return field(Integer, nullable=nullable, default=default)


def real(*, nullable: bool = False, default: float | None = None) -> Any:  # noqa: ANN401 - as above
    """A number."""
    return field(Float, nullable=nullable, default=default)


def flag(*, nullable: bool = False, default: bool | None = None) -> Any:  # noqa: ANN401 - as above
    """A yes or no."""
    return field(Boolean, nullable=nullable, default=default)


def parent(target: str, *, nullable: bool = False, **options: Any) -> Any:  # noqa: ANN401 - as above
    """A foreign key; the row goes with what it names."""
    return field(None, ForeignKey(target, ondelete="CASCADE"), nullable=nullable, **options)


def key_of(target: str, **options: Any) -> Any:  # noqa: ANN401 - as above
    """A foreign key that is the row's own key too, or a part of it."""
    return parent(target, primary_key=True, autoincrement=False, **options)


def where(condition: str) -> dict[str, Any]:
    """A condition of an index."""
    # `schema.ddl_metadata` gives it to PostgreSQL too: to name that here would load its dialect in every
    # command, which takes as long as a listing takes to read.
    return {"sqlite_where": text(condition)}
