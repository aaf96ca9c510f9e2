"""Tables of what is answered, and how well: submissions, answers, scores.

The human-written reference is a submission of kind `reference`, so that a battle always has two
submissions and an answer a side.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, UniqueConstraint
from sqlmodel import Field

from data.tables.base import TABLES, Base
from data.tables.columns import json_column, moment_column, reference_column, text_column


class SubmissionRow(Base, table=True):
    """One system's file of answers, or the reference of a set.

    `team` is the name of a team, which never changes, or empty. At most one version of a system is
    `selected`; without one the newest accepted version stands for it.
    """

    __tablename__ = "submission"
    __table_args__ = (UniqueConstraint("set_id", "system", "version"), Index(None, "team", "set_id"))
    id: int | None = Field(default=None, primary_key=True)
    set_id: int = reference_column("question_set.id")
    kind: str = Field(max_length=16)
    system: str = Field(max_length=100)
    team: str = text_column()
    version: int
    state: str = Field(max_length=16)
    card: dict[str, str] = json_column()
    content_hash: str = Field(max_length=64)
    answers: int
    no_answers: int
    phase: str = Field(max_length=100)
    anonymous: bool
    selected: bool
    withdrawn_at: datetime | None = moment_column(nullable=True)
    withdrawn_reason: str = text_column()
    created_at: datetime = moment_column()


class AnswerRow(Base, table=True):
    """A system's text for one question."""

    __tablename__ = "answer"
    __table_args__ = (UniqueConstraint("submission_id", "question_id"), Index(None, "question_id"))
    id: int | None = Field(default=None, primary_key=True)
    submission_id: int = reference_column("submission.id")
    question_id: int = reference_column("question.id")
    text: str = text_column()
    contexts: list[dict[str, str]] = json_column()
    no_answer: bool


class ScoreRow(Base, table=True):
    """A metric of one answer; `score` is null unless the outcome is `judged`."""

    __tablename__ = "score"
    __table_args__ = (UniqueConstraint("answer_id", "metric", "judge"),)
    id: int | None = Field(default=None, primary_key=True)
    answer_id: int = reference_column("answer.id")
    metric: str = Field(max_length=100)
    judge: str = Field(max_length=100)
    outcome: str = Field(max_length=16)
    score: float | None = None
    details: dict[str, Any] = json_column()
    created_at: datetime = moment_column()


submissions = TABLES["submission"]
answers = TABLES["answer"]
scores = TABLES["score"]
