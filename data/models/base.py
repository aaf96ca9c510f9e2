"""Column and field types: UTC times, and strings as enum members."""

# ruff: noqa: ANN401 - columns and their options are of any type

import copyreg
import json as json_text
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import sqlalchemy as sa
from pydantic_core import PydanticUndefined
from sqlmodel import Field, SQLModel
from sqlmodel._compat import SQLModelConfig
from sqlmodel.main import SQLModelMetaclass

from data.text import storable

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
metadata = sa.MetaData(naming_convention=NAMING)
"""All tables; constraints are named so that migrations can find them."""


class _Unmapped(SQLModelMetaclass):
    """Create the Table without an ORM mapper (halves import time); queries fill fields without a column."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> Any:
        """Declare no table for subclasses of a table class: they only add computed fields."""
        config = {**namespace.get("model_config", {}), "table": "table" in options}
        return super().__new__(cls, name, bases, {**namespace, "model_config": config}, **options)

    def __init__(
        self, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: object
    ) -> None:
        type.__init__(self, name, bases, namespace)
        if "table" not in options:
            return
        columns = {}
        for field, column in [(field, getattr(self, field)) for field in self.model_fields]:
            if self.model_fields[field].sa_column is not PydanticUndefined:
                columns[field] = column
            # A class attribute would hide that an instance lacks the value.
            type.__delattr__(self, field)
        self.__table__ = table(namespace["__tablename__"], *namespace.get("__table_args__", ()), **columns)


class Base(SQLModel, metaclass=_Unmapped):
    """Base of models with a table; the store builds them from rows without validation.

    User input is validated before the store writes a row. Routes and commands print models without their
    private fields, which `model_dump` omits too: rows are never written from it.
    """

    # Building the validators of all tables would slow every command.
    model_config = SQLModelConfig(
        defer_build=True, frozen=True, json_schema_serialization_defaults_required=True
    )

    if TYPE_CHECKING:
        __table__: ClassVar[sa.Table]

    def __init__(self, **values: Any) -> None:
        for name, field in type(self).model_fields.items():
            if name not in values:
                if field.is_required():
                    raise TypeError(f"This {type(self).__name__} has no {name}.")
                values[name] = field.get_default()
        object.__setattr__(self, "__dict__", values)
        object.__setattr__(self, "__pydantic_fields_set__", set(values))

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object that commands print; times are ISO 8601 with an offset."""
        dumped = self.model_dump(by_alias=True)
        printed: dict[str, Any] = json_text.loads(json_text.dumps(dumped, default=datetime.isoformat))
        return printed


def table(name: str, /, *items: Any, **columns: Any) -> sa.Table:
    """Declare a table by its columns, indexes and constraints; a mapping in `items` has its options."""
    declared = [getattr(column, "sa_column", column) for column in columns.values()]
    for field, column in zip(columns, declared, strict=True):
        column.key = field
        column.name = column.name or field
    options = {key: value for item in items if isinstance(item, dict) for key, value in item.items()}
    return sa.Table(
        name, metadata, *declared, *(item for item in items if not isinstance(item, dict)), **options
    )


_AGO: ContextVar[timedelta] = ContextVar("ago", default=timedelta())


@contextmanager
def dated(ago: timedelta) -> Iterator[None]:
    """Backdate rows; used for demo data."""
    token = _AGO.set(ago)
    try:
        yield
    finally:
        _AGO.reset(token)


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC) - _AGO.get()


class Moment(sa.TypeDecorator[datetime]):
    """Timestamp in UTC, since SQLite stores no time zone."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        """Convert a value for the database."""
        del dialect
        return value if value is None or value.tzinfo is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        """Convert a value of the database; it is in UTC if the engine omits the zone."""
        del dialect
        return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value


class Word(sa.TypeDecorator[StrEnum]):
    """Word of an enum, read as its member."""

    impl = sa.String
    cache_ok = True

    def __init__(self, members: type[StrEnum], length: int) -> None:
        super().__init__(length)
        self.members = members
        self._by_word = {str(member): member for member in members}

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> StrEnum | None:
        """Return the member."""
        del dialect
        # Calling the enum takes three times as long.
        return None if value is None else self._by_word.get(value) or self.members(value)


class Prose(sa.TypeDecorator[str]):
    """Text from any source; characters that databases cannot store are replaced, in queries too."""

    impl: Any = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:
        """Convert a value for the database."""
        del dialect
        return storable(value) if isinstance(value, str) else value


class Label(Prose):
    """Text of limited length."""

    impl: Any = sa.String
    cache_ok = True


def field(kind: Any, *arguments: Any, private: bool = False, alias: str | None = None, **options: Any) -> Any:
    """Return a field with its column; JSON omits `private` fields, and uses the `alias` of others."""
    column: sa.Column[Any] = sa.Column(kind, *arguments, **{"nullable": False, **options})
    default = options.get("default")
    required = callable(default) or (default is None and not column.nullable)
    return Field(
        PydanticUndefined if required else default,
        sa_column=column,
        exclude=private or None,
        serialization_alias=alias,
    )


def joined(default: Any = PydanticUndefined, *, private: bool = False, alias: str | None = None) -> Any:
    """Return a field without a column; queries join it in."""
    return Field(default, sa_type=sa.JSON, exclude=private or None, serialization_alias=alias)


def number(*, private: bool = False) -> Any:
    """Return the primary key column, assigned by the database."""
    return field(sa.Integer, primary_key=True, private=private)


def moment(*, nullable: bool = False, private: bool = False) -> Any:
    """Return a timestamp column."""
    return field(Moment, nullable=nullable, private=private)


def created(*, alias: str | None = None) -> Any:
    """Return a column with the time of creation."""
    return field(Moment, default=now, alias=alias)


def json(*, private: bool = False) -> Any:
    """Return a JSON column."""
    return field(sa.JSON, private=private)


def maybe_json(*, private: bool = False) -> Any:
    """Return a nullable JSON column."""
    return field(sa.JSON(none_as_null=True), nullable=True, private=private)


def prose(*, nullable: bool = False, default: str | None = None) -> Any:
    """Return a text column of unlimited length."""
    return field(Prose, nullable=nullable, default=default)


def label(length: int, *, nullable: bool = False, **options: Any) -> Any:
    """Return a text column of limited length."""
    return field(Label(length), nullable=nullable, **options)


def word(members: type[StrEnum], length: int = 16, *, nullable: bool = False) -> Any:
    """Return an enum column."""
    return field(Word(members, length), nullable=nullable)


def whole(*, nullable: bool = False, default: int | None = None, private: bool = False) -> Any:
    """Return an integer column."""
    return field(sa.Integer, nullable=nullable, default=default, private=private)


def real(*, nullable: bool = False, default: float | None = None, private: bool = False) -> Any:
    """Return a floating-point column."""
    return field(sa.Float, nullable=nullable, default=default, private=private)


def flag(*, nullable: bool = False, default: bool | None = None, **options: Any) -> Any:
    """Return a boolean column."""
    return field(sa.Boolean, nullable=nullable, default=default, **options)


def parent(target: str, *, nullable: bool = False, **options: Any) -> Any:
    """Return a foreign key column; the row is deleted with its parent."""
    return field(None, sa.ForeignKey(target, ondelete="CASCADE"), nullable=nullable, **options)


def key_of(target: str, **options: Any) -> Any:
    """Return a foreign key that is part of the primary key."""
    return parent(target, primary_key=True, autoincrement=False, **options)


def where(condition: str) -> dict[str, Any]:
    """Return the condition of a partial index."""
    # `schema.ddl_metadata` adds it for PostgreSQL: naming it here would load that dialect in every command.
    return {"sqlite_where": sa.text(condition)}


def _frozen(content: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(content)


# Models contain such mappings, which are pickled for the processes that work on texts.
copyreg.pickle(MappingProxyType, lambda mapping: (_frozen, (dict(mapping),)))
