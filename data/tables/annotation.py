"""The tables of annotation: tasks, their pairs of answers, and who labels which pair how."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, UniqueConstraint
from sqlmodel import Field

from data.tables.base import TABLES, Base
from data.tables.columns import moment_column, reference_column, text_column


class AnnotationTaskRow(Base, table=True):
    """Pairs of one set that people label; each pair by `overlap` of them."""

    __tablename__ = "annotation_task"
    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True, max_length=100)
    set_id: int = reference_column("question_set.id", index=True)
    overlap: int
    seed: int
    created_at: datetime = moment_column()
    closed_at: datetime | None = moment_column(nullable=True)


class AnnotationPairRow(Base, table=True):
    """Two answers to one question."""

    __tablename__ = "annotation_pair"
    __table_args__ = (UniqueConstraint("task_id", "position"),)
    id: int | None = Field(default=None, primary_key=True)
    task_id: int = reference_column("annotation_task.id")
    position: int
    question_id: int = reference_column("question.id")
    a_id: int = reference_column("submission.id")
    b_id: int = reference_column("submission.id")


class AnnotationRow(Base, table=True):
    """One person's look at one pair; `grade` is −2…2, positive where b is better, null until given."""

    __tablename__ = "annotation"
    __table_args__ = (UniqueConstraint("pair_id", "account_id"), Index(None, "account_id"))
    id: int | None = Field(default=None, primary_key=True)
    pair_id: int = reference_column("annotation_pair.id")
    account_id: int = reference_column("account.id")
    b_first: bool
    grade: int | None = None
    comment: str = text_column()
    labelled_at: datetime | None = moment_column(nullable=True)


annotation_tasks = TABLES["annotation_task"]
annotation_pairs = TABLES["annotation_pair"]
given_labels = TABLES["annotation"]
