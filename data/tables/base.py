"""What all tables share: one parent, one metadata, one way to name constraints."""

from __future__ import annotations

from typing import Any

from sqlalchemy import MetaData, text
from sqlalchemy.orm import registry
from sqlmodel import SQLModel

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Base(SQLModel, registry=registry(metadata=MetaData(naming_convention=NAMING))):
    """The parent of every table; names constraints so that migrations can find them."""


TABLES = Base.metadata.tables


def where(condition: str) -> dict[str, Any]:
    """A condition of an index, for both engines."""
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}
