"""Columns as tables write them, and how their values are read: moments in UTC, closed words as members."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache
from pathlib import Path
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
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    text,
)
from sqlalchemy.types import TypeEngine
from sqlmodel import Field, SQLModel
from sqlmodel._compat import SQLModelConfig
from sqlmodel.main import SQLModelMetaclass

from data.errors import StoreError
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


PACKED = b"\xff"
"""What packed texts begin with: deflated with the first dictionary. No text in UTF-8 begins with it."""
RAW = -zlib.MAX_WBITS
"""Deflated without a header and a checksum, which texts as they are do not have either."""
LEAST_PACKED = 40
"""Bytes of a text below which nothing is gained."""


@cache
def _dictionary() -> bytes:
    """Words and phrases that replies are full of, the likeliest last.

    What is stored cannot be read without it: another dictionary needs another first byte.
    """
    return Path(__file__).with_name("packing_1.txt").read_bytes()


@cache
def _packer() -> Any:  # noqa: ANN401 - zlib does not name the type
    """A copy of it spares each text the reading of the dictionary."""
    return zlib.compressobj(
        zlib.Z_BEST_COMPRESSION,
        zlib.DEFLATED,
        RAW,
        zlib.DEF_MEM_LEVEL,
        zlib.Z_DEFAULT_STRATEGY,
        _dictionary(),
    )


def pack(text: str) -> bytes:
    """A text in fewer bytes, or in UTF-8 where that takes no more."""
    plain = text.encode()
    if len(plain) < LEAST_PACKED:
        return plain
    packer = _packer().copy()
    packed: bytes = PACKED + packer.compress(plain) + packer.flush()
    return packed if len(packed) < len(plain) else plain


def unpack(stored: bytes) -> str:
    """The text that `pack` was given.

    Raises:
        StoreError: It was not made by `pack`, or by a newer program's.
    """
    try:
        return (_inflated(stored[len(PACKED) :]) if stored.startswith(PACKED) else stored).decode()
    except (UnicodeDecodeError, zlib.error) as error:
        raise StoreError(
            f"A stored text cannot be read: {error}.",
            advice="Use the version of Answer Arena that wrote it, or restore a backup.",
        ) from error


def _inflated(deflated: bytes) -> bytes:
    unpacker = zlib.decompressobj(RAW, zdict=_dictionary())
    plain = unpacker.decompress(deflated)
    if not unpacker.eof:
        raise zlib.error("it is cut off")
    return plain


class Packed(TypeDecorator[str]):
    """A text that is stored in fewer bytes; texts that were stored before are read as they are.

    SQLite keeps bytes and texts in one column, so that short ones stay legible there.
    """

    impl = LargeBinary
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """The column's type, on SQLite that of earlier versions."""
        return dialect.type_descriptor(Text() if dialect.name == "sqlite" else LargeBinary())

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | bytes | None:
        """What the database is given."""
        if value is None:
            return None
        value = storable(value)
        packed = pack(value)
        return packed if dialect.name != "sqlite" or packed.startswith(PACKED) else value

    def process_result_value(self, value: str | bytes | None, dialect: Dialect) -> str | None:
        """The text."""
        del dialect
        return value if value is None or isinstance(value, str) else unpack(value)


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


def packed(*, nullable: bool = False) -> Any:  # noqa: ANN401 - as above
    """A text of some sentences or more, of which there are many."""
    return field(Packed, nullable=nullable)


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
