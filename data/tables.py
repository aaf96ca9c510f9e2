"""The tables. Rows are made from records, never from user input: SQLModel does not validate tables.

The human-written reference is a submission of kind `reference`, so that a battle always has two
submissions and an answer a side.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column, DateTime, ForeignKey, Index, MetaData, Text, UniqueConstraint
from sqlalchemy.orm import registry
from sqlmodel import Field, SQLModel

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Base(SQLModel, registry=registry(metadata=MetaData(naming_convention=NAMING))):
    """The parent of every table; names constraints so that migrations can find them."""


def _moment(*, nullable: bool = False) -> Any:  # noqa: ANN401 - Field returns Any
    return Field(default=None, sa_column=Column(DateTime(timezone=True), nullable=nullable))


def _json() -> Any:  # noqa: ANN401 - Field returns Any
    return Field(sa_column=Column(JSON, nullable=False))


def _text(*, nullable: bool = False) -> Any:  # noqa: ANN401 - Field returns Any
    return Field(default=None if nullable else "", sa_column=Column(Text, nullable=nullable))


def _reference(target: str, *, index: bool = False) -> Any:  # noqa: ANN401 - Field returns Any
    return Field(sa_column=Column(ForeignKey(target, ondelete="CASCADE"), nullable=False, index=index))


class QuestionSetRow(Base, table=True):
    """A question set."""

    __tablename__ = "question_set"
    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True, max_length=100)
    title: str = _text()
    version: str = _text()
    licence: str = _text()
    source: str = _text()
    reference_name: str = Field(max_length=100)
    domains: dict[str, str] = _json()
    questions: int
    content_hash: str = Field(max_length=64)
    created_at: datetime = _moment()


class QuestionRow(Base, table=True):
    """A question; `content` is the object of its line, so that no field is lost."""

    __tablename__ = "question"
    __table_args__ = (UniqueConstraint("set_id", "key"), UniqueConstraint("set_id", "position"))
    id: int | None = Field(default=None, primary_key=True)
    set_id: int = _reference("question_set.id")
    position: int
    key: str = _text()
    domain: str = _text()
    text: str = _text()
    content: dict[str, Any] = _json()


class SubmissionRow(Base, table=True):
    """One system's file of answers, or the reference of a set."""

    __tablename__ = "submission"
    __table_args__ = (UniqueConstraint("set_id", "system", "version"),)
    id: int | None = Field(default=None, primary_key=True)
    set_id: int = _reference("question_set.id")
    kind: str = Field(max_length=16)
    system: str = Field(max_length=100)
    team: str = _text()
    version: int
    state: str = Field(max_length=16)
    card: dict[str, str] = _json()
    content_hash: str = Field(max_length=64)
    answers: int
    no_answers: int
    created_at: datetime = _moment()


class AnswerRow(Base, table=True):
    """A system's text for one question."""

    __tablename__ = "answer"
    __table_args__ = (UniqueConstraint("submission_id", "question_id"), Index(None, "question_id"))
    id: int | None = Field(default=None, primary_key=True)
    submission_id: int = _reference("submission.id")
    question_id: int = _reference("question.id")
    text: str = _text()
    contexts: list[dict[str, str]] = _json()
    no_answer: bool


class RoundRow(Base, table=True):
    """Fixed battles, a judge, a seed and a budget."""

    __tablename__ = "round"
    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True, max_length=100)
    set_id: int = _reference("question_set.id")
    state: str = Field(max_length=16)
    judge: str = Field(max_length=100)
    plan: dict[str, Any] = _json()
    seed: int
    budget_usd: float | None = None
    created_at: datetime = _moment()
    started_at: datetime | None = _moment(nullable=True)
    finished_at: datetime | None = _moment(nullable=True)


class BattleRow(Base, table=True):
    """Two answers to one question, to be judged; `outcome` is null while pending."""

    __tablename__ = "battle"
    __table_args__ = (
        UniqueConstraint("round_id", "key"),
        Index(None, "round_id", "outcome"),
        Index(None, "round_id", "question_id"),
    )
    id: int | None = Field(default=None, primary_key=True)
    round_id: int = _reference("round.id")
    key: str = Field(max_length=20)
    question_id: int = _reference("question.id")
    a_id: int = _reference("submission.id")
    b_id: int = _reference("submission.id")
    outcome: str | None = Field(default=None, max_length=16)
    preference: str | None = Field(default=None, max_length=4)
    score: float | None = None
    flipped: bool | None = None
    detail: str = _text()


class ReplyRow(Base, table=True):
    """What an LLM returned, kept once under the key of its request."""

    __tablename__ = "reply"
    key: str = Field(primary_key=True, max_length=64)
    endpoint: str = _text()
    model: str = _text()
    text: str = _text()
    finish_reason: str = _text()
    input_tokens: int
    output_tokens: int
    cost_usd: float | None = None
    latency: float
    logprobs: str | None = _text(nullable=True)
    created_at: datetime = _moment()


class JudgmentRow(Base, table=True):
    """One judge, one presentation order, one reply; tokens and cost are all that was paid for it."""

    __tablename__ = "judgment"
    id: int | None = Field(default=None, primary_key=True)
    battle_id: int = _reference("battle.id", index=True)
    judge: str = Field(max_length=100)
    model: str = _text()
    endpoint: str = _text()
    presentation: str = Field(max_length=2)
    outcome: str = Field(max_length=16)
    preference: str | None = Field(default=None, max_length=4)
    margin: float | None = None
    rationale: str = _text()
    detail: str = _text()
    grade: str = _text()
    settings: str = _text()
    prompt_hash: str = Field(max_length=64)
    parser: str = _text()
    calls: int
    reply_key: str | None = Field(default=None, max_length=64)
    input_tokens: int
    output_tokens: int
    cost_usd: float | None = None
    latency: float
    cached: bool
    created_at: datetime = _moment()


class CanaryRow(Base, table=True):
    """An attack of ours on one side of a battle's copy; never part of the battles, rates or ratings.

    `judgments` holds what settled it, a list of objects; the replies stand in `reply` by their keys.
    """

    __tablename__ = "canary"
    __table_args__ = (UniqueConstraint("round_id", "key"),)
    id: int | None = Field(default=None, primary_key=True)
    round_id: int = _reference("round.id")
    battle_id: int = _reference("battle.id", index=True)
    key: str = Field(max_length=100)
    family: str = Field(max_length=40)
    attacker: str = Field(max_length=4)
    text: str = _text()
    outcome: str | None = Field(default=None, max_length=16)
    preference: str | None = Field(default=None, max_length=4)
    detail: str = _text()
    input_tokens: int
    output_tokens: int
    cost_usd: float
    judgments: list[dict[str, Any]] = _json()


class BatchRow(Base, table=True):
    """A provider's batch that was sent and whose replies are not all kept; `batch_id` empty until known."""

    __tablename__ = "batch"
    name: str = Field(primary_key=True, max_length=64)
    endpoint: str = _text()
    batch_id: str = _text()
    keys: list[str] = _json()
    created_at: datetime = _moment()


class LedgerRow(Base, table=True):
    """Everything paid for one round, canaries included; `cap_usd` is null without a budget."""

    __tablename__ = "ledger"
    round_id: int = Field(
        sa_column=Column(ForeignKey("round.id", ondelete="CASCADE"), primary_key=True, autoincrement=False)
    )
    cap_usd: float | None = None
    reserved_usd: float
    spent_usd: float
    input_tokens: int
    output_tokens: int


class ScoreRow(Base, table=True):
    """A metric of one answer; `score` is null unless the outcome is `judged`."""

    __tablename__ = "score"
    __table_args__ = (UniqueConstraint("answer_id", "metric", "judge"),)
    id: int | None = Field(default=None, primary_key=True)
    answer_id: int = _reference("answer.id")
    metric: str = Field(max_length=100)
    judge: str = Field(max_length=100)
    outcome: str = Field(max_length=16)
    score: float | None = None
    details: dict[str, Any] = _json()
    created_at: datetime = _moment()


class BoardRow(Base, table=True):
    """The published snapshot of a round's standings; retracting keeps it with a notice."""

    __tablename__ = "board"
    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True, max_length=100)
    round_id: int | None = Field(
        default=None, sa_column=Column(ForeignKey("round.id", ondelete="CASCADE"), nullable=True, unique=True)
    )
    standings: dict[str, Any] = _json()
    content_hash: str = Field(max_length=64)
    notice: str = _text()
    retracted: bool
    published_at: datetime = _moment()


TABLES = Base.metadata.tables
question_sets = TABLES["question_set"]
questions = TABLES["question"]
submissions = TABLES["submission"]
answers = TABLES["answer"]
rounds = TABLES["round"]
battles = TABLES["battle"]
replies = TABLES["reply"]
judgments = TABLES["judgment"]
canaries = TABLES["canary"]
batches = TABLES["batch"]
ledgers = TABLES["ledger"]
scores = TABLES["score"]
boards = TABLES["board"]
