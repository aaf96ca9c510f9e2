"""Columns as the tables write them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, Column, DateTime, ForeignKey, Text
from sqlmodel import Field


def moment_column(*, nullable: bool = False) -> Any:  # noqa: ANN401 - Field returns Any
    """A time stamp with its zone."""
    return Field(default=None, sa_column=Column(DateTime(timezone=True), nullable=nullable))


def json_column() -> Any:  # noqa: ANN401 - Field returns Any
    """A JSON value."""
    return Field(sa_column=Column(JSON, nullable=False))


def text_column(*, nullable: bool = False) -> Any:  # noqa: ANN401 - Field returns Any
    """A text of any length."""
    return Field(default=None if nullable else "", sa_column=Column(Text, nullable=nullable))


def reference_column(target: str, *, index: bool = False, nullable: bool = False) -> Any:  # noqa: ANN401 - as above
    """A foreign key; the row goes with what it names."""
    key = ForeignKey(target, ondelete="CASCADE")
    return Field(default=None, sa_column=Column(key, nullable=nullable, index=index))
