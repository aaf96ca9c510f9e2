"""Tables of what is asked and answered: question sets, questions, submissions, answers, scores.

The reference is a submission of kind `reference`, so that a battle always has two submissions and an answer
a side.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, UniqueConstraint

from data.models import Outcome, SubmissionState
from data.tables import columns as col
from data.tables.columns import Base


class QuestionSetRow(Base, table=True):
    """A question set."""

    __tablename__ = "question_set"
    id: int | None = col.number()
    name: str = col.label(100, unique=True)
    title: str = col.prose()
    version: str = col.prose()
    licence: str = col.prose()
    source: str = col.prose()
    reference_name: str = col.label(100)
    reference_by: str = col.prose()
    note: str = col.prose()
    domains: Any = col.json()
    questions: int = col.whole()
    content_hash: str = col.label(64)
    hidden_references: bool = col.flag(default=False)
    public_texts: bool = col.flag(default=True)
    created_at: datetime = col.created()


question_sets = QuestionSetRow.__table__


class QuestionRow(Base, table=True):
    """Questions; `content` is the object of a line, so that no field is lost."""

    __tablename__ = "question"
    __table_args__ = (
        UniqueConstraint("set_id", "key"),
        UniqueConstraint("set_id", "position"),
    )
    id: int | None = col.number()
    set_id: int = col.parent("question_set.id")
    position: int = col.whole()
    key: str = col.prose()
    domain: str = col.prose()
    text: str = col.prose()
    content: Any = col.json()


questions = QuestionRow.__table__


class SubmissionRow(Base, table=True):
    """Systems' files of answers, and the references of sets.

    `team` is the name of a team, which never changes, or empty. At most one version of a system is
    `selected`; without one the newest accepted version represents it. `submitted_at` is null while it was
    only checked, and stays so where it is withdrawn then.
    """

    __tablename__ = "submission"
    __table_args__ = (
        UniqueConstraint("set_id", "system", "version"),
        Index(None, "team", "set_id"),
    )
    id: int | None = col.number()
    set_id: int = col.parent("question_set.id")
    kind: str = col.label(16)
    system: str = col.label(100)
    team: str = col.prose(default="")
    version: int = col.whole()
    state: SubmissionState = col.word(SubmissionState)
    card: Any = col.json()
    content_hash: str = col.label(64)
    answers: int = col.whole(default=0)
    no_answers: int = col.whole(default=0)
    phase: str = col.label(100)
    anonymous: bool = col.flag(default=False)
    selected: bool = col.flag(default=False)
    submitted_at: datetime | None = col.moment(nullable=True)
    withdrawn_at: datetime | None = col.moment(nullable=True)
    withdrawn_reason: str = col.prose(default="")
    warnings: Any = col.maybe_json()
    created_at: datetime = col.created()


submissions = SubmissionRow.__table__


class AnswerRow(Base, table=True):
    """An answer; `thinking` is null where there is none, and so is what nobody said that it took."""

    __tablename__ = "answer"
    __table_args__ = (
        UniqueConstraint("submission_id", "question_id"),
        Index(None, "question_id"),
    )
    id: int | None = col.number()
    submission_id: int = col.parent("submission.id")
    question_id: int = col.parent("question.id")
    text: str = col.prose()
    contexts: Any = col.json()
    no_answer: bool = col.flag()
    thinking: str | None = col.prose(nullable=True)
    tokens: int | None = col.whole(nullable=True)
    usd: float | None = col.real(nullable=True)
    milliseconds: float | None = col.real(nullable=True)


answers = AnswerRow.__table__


class ScoreRow(Base, table=True):
    """Metrics of answers; `score` is null unless the outcome is `judged`."""

    __tablename__ = "score"
    __table_args__ = (UniqueConstraint("answer_id", "metric", "judge"),)
    id: int | None = col.number()
    answer_id: int = col.parent("answer.id")
    metric: str = col.label(100)
    judge: str = col.label(100)
    outcome: Outcome = col.word(Outcome)
    score: float | None = col.real(nullable=True)
    details: Any = col.json()
    created_at: datetime = col.created()


scores = ScoreRow.__table__
