"""Question sets and submissions with their tables."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Index, UniqueConstraint

from data.models import base as col
from data.models.base import Base, table
from data.models.questions import ENGLISH, SystemCard
from data.models.words import Outcome, SubmissionKind, SubmissionState


class SetSummary(Base, table=True):
    """Stored question set without its questions.

    Attributes:
        reference_by: Authors of the references: `people`, a free text, or empty if unknown.
        note: Note for readers of its boards and questions.
        language: ISO 639-1 code of its questions and references.
        questions: Number of questions; `counts` has it by domain, `domains` the labels of domains.
        content_hash: sha256 of its content.
    """

    __tablename__ = "question_set"
    id: int = col.number(private=True)
    name: str = col.label(100, unique=True)
    title: str = col.prose()
    version: str = col.prose()
    licence: str = col.prose()
    source: str = col.prose()
    reference_name: str = col.label(100)
    reference_by: str = col.prose()
    note: str = col.prose()
    domains: Mapping[str, str] = col.json()
    questions: int = col.whole()
    content_hash: str = col.label(64)
    hidden_references: bool = col.flag(default=False)
    public_texts: bool = col.flag(default=True)
    created_at: datetime = col.created()
    counts: Mapping[str, int] = col.joined()
    language: str = col.joined(ENGLISH)


question_sets = SetSummary.__table__
phases = table(
    "phase",
    UniqueConstraint("set_id", "name"),
    id=col.number(),
    set_id=col.parent("question_set.id"),
    name=col.label(100),
    opens_at=col.moment(nullable=True),
    closes_at=col.moment(nullable=True),
    daily_quota=col.whole(nullable=True),
    total_quota=col.whole(nullable=True),
    file_mb=col.whole(nullable=True),
    answer_chars=col.whole(nullable=True),
)
"""Phases of submission with their limits; null means no limit."""


class Submission(Base, table=True):
    """Submission of a system to a question set, without its answers, or a set's reference.

    Attributes:
        kind: Answers, or only retrieved passages; the column contains `system`, `contexts` or `reference`.
        team: Name of the team, which never changes; empty for none.
        state: `checked`, `accepted` or `withdrawn`; `queued`, `judged` and `published` follow from rounds and
            boards.
        answers: Number of answers, or of questions with passages.
        phase: Phase of the set in which it was submitted.
        anonymous: Whether its names are hidden from others until a board with it is published.
        selected: Whether the team selected this version; without a selection the newest one counts.
        submitted_at: Time of submission; None if it was only checked.
        withdrawn_at: Time of withdrawal, if any.
        withdrawn_reason: The team's reason; may be empty.
        warnings: Warnings of its check, for organisers.
    """

    __tablename__ = "submission"
    __table_args__ = (UniqueConstraint("set_id", "system", "version"), Index(None, "team", "set_id"))
    id: int = col.number()
    set_id: int = col.parent("question_set.id", private=True)
    set_name: str = col.joined(alias="set")
    kind: SubmissionKind = col.label(16)
    system: str = col.label(100)
    team: str = col.prose(default="")
    version: int = col.whole()
    state: SubmissionState = col.word(SubmissionState)
    card: SystemCard = col.json()
    content_hash: str = col.label(64)
    answers: int = col.whole(default=0)
    no_answers: int = col.whole(default=0)
    phase: str = col.label(100)
    anonymous: bool = col.flag(default=False)
    selected: bool = col.flag(default=False)
    submitted_at: datetime | None = col.moment(nullable=True, private=True)
    withdrawn_at: datetime | None = col.moment(nullable=True)
    withdrawn_reason: str = col.prose(default="")
    warnings: Any = col.maybe_json(private=True)
    created_at: datetime = col.created()


submissions = Submission.__table__
questions = table(
    "question",
    UniqueConstraint("set_id", "key"),
    UniqueConstraint("set_id", "position"),
    id=col.number(),
    set_id=col.parent("question_set.id"),
    position=col.whole(),
    key=col.prose(),
    domain=col.prose(),
    text=col.prose(),
    content=col.json(),
)
"""Questions; `content` is the whole JSON object, so that no field is lost."""
answers = table(
    "answer",
    UniqueConstraint("submission_id", "question_id"),
    Index(None, "question_id"),
    id=col.number(),
    submission_id=col.parent("submission.id"),
    question_id=col.parent("question.id"),
    text=col.prose(),
    contexts=col.json(),
    no_answer=col.flag(),
    thinking=col.prose(nullable=True),
    tokens=col.whole(nullable=True),
    usd=col.real(nullable=True),
    milliseconds=col.real(nullable=True),
)
"""Answers; `thinking`, `tokens`, `usd` and `milliseconds` are null if unknown."""
scores = table(
    "score",
    UniqueConstraint("answer_id", "metric", "judge"),
    id=col.number(),
    answer_id=col.parent("answer.id"),
    metric=col.label(100),
    judge=col.label(100),
    outcome=col.word(Outcome),
    score=col.real(nullable=True),
    details=col.json(),
    created_at=col.created(),
)
"""Scores of answers; `score` is null unless the outcome is `judged`."""
