"""Tables of what is published: boards, and how the battles on each question ended."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Column, ForeignKey
from sqlmodel import Field

from data.tables.base import TABLES, Base
from data.tables.columns import json_column, moment_column, text_column


class BoardRow(Base, table=True):
    """The published snapshot of a round's standings; retracting keeps it with a notice."""

    __tablename__ = "board"
    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True, max_length=100)
    round_id: int | None = Field(
        default=None, sa_column=Column(ForeignKey("round.id", ondelete="CASCADE"), nullable=True, unique=True)
    )
    standings: dict[str, Any] = json_column()
    content_hash: str = Field(max_length=64)
    notice: str = text_column()
    retracted: bool
    published_at: datetime = moment_column()


class QuestionDigestRow(Base, table=True):
    """How a round's battles on one question ended, counted once when its board is published."""

    __tablename__ = "question_digest"
    round_id: int = Field(
        sa_column=Column(ForeignKey("round.id", ondelete="CASCADE"), primary_key=True, autoincrement=False)
    )
    question_id: int = Field(
        sa_column=Column(ForeignKey("question.id", ondelete="CASCADE"), primary_key=True, autoincrement=False)
    )
    battles: int
    undecided: int
    ties: int
    flips: int
    disputed: int


boards = TABLES["board"]
question_digests = TABLES["question_digest"]
