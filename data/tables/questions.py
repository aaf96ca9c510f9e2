"""Tables of what is asked: question sets and their questions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import UniqueConstraint
from sqlmodel import Field

from data.tables.base import TABLES, Base
from data.tables.columns import json_column, moment_column, reference_column, text_column


class QuestionSetRow(Base, table=True):
    """A question set."""

    __tablename__ = "question_set"
    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True, max_length=100)
    title: str = text_column()
    version: str = text_column()
    licence: str = text_column()
    source: str = text_column()
    reference_name: str = Field(max_length=100)
    domains: dict[str, str] = json_column()
    questions: int
    content_hash: str = Field(max_length=64)
    hidden_references: bool
    created_at: datetime = moment_column()


class QuestionRow(Base, table=True):
    """A question; `content` is the object of its line, so that no field is lost."""

    __tablename__ = "question"
    __table_args__ = (UniqueConstraint("set_id", "key"), UniqueConstraint("set_id", "position"))
    id: int | None = Field(default=None, primary_key=True)
    set_id: int = reference_column("question_set.id")
    position: int
    key: str = text_column()
    domain: str = text_column()
    text: str = text_column()
    content: dict[str, Any] = json_column()


question_sets = TABLES["question_set"]
questions = TABLES["question"]
