"""The tables. Rows are made from records, never from user input: SQLModel does not validate tables.

The human-written reference is a submission of kind `reference`, so that a battle always has two
submissions and an answer a side.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column, ForeignKey, Index, MetaData, UniqueConstraint, text
from sqlalchemy.orm import registry
from sqlmodel import Field, SQLModel

from data.columns import json_column as _json
from data.columns import moment_column as _moment
from data.columns import reference_column as _reference
from data.columns import text_column as _text

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Base(SQLModel, registry=registry(metadata=MetaData(naming_convention=NAMING))):
    """The parent of every table; names constraints so that migrations can find them."""


def _where(condition: str) -> dict[str, Any]:
    """A condition of an index, for both engines."""
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}


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
    hidden_references: bool
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
    """One system's file of answers, or the reference of a set.

    `team` is the name of a team, which never changes, or empty. At most one version of a system is
    `selected`; without one the newest accepted version stands for it.
    """

    __tablename__ = "submission"
    __table_args__ = (UniqueConstraint("set_id", "system", "version"), Index(None, "team", "set_id"))
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
    phase: str = Field(max_length=100)
    anonymous: bool
    selected: bool
    withdrawn_at: datetime | None = _moment(nullable=True)
    withdrawn_reason: str = _text()
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
        Index("ix_battle_open", "round_id", "question_id", "id", **_where("outcome IS NULL")),
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


class JobRow(Base, table=True):
    """Something for a worker to do; at most one job of a round is queued or running.

    `owner` is empty where any worker may take it, else the one process group that may. `workers` is how
    many may share it. `not_before` is in seconds of the database's clock since 1970.
    """

    __tablename__ = "job"
    __table_args__ = (
        Index("uq_job_round_active", "round_id", unique=True, **_where("state IN ('queued', 'running')")),
        Index(None, "state", "priority"),
    )
    id: int | None = Field(default=None, primary_key=True)
    kind: str = Field(max_length=16)
    round_id: int | None = Field(
        default=None, sa_column=Column(ForeignKey("round.id", ondelete="CASCADE"), nullable=True)
    )
    state: str = Field(max_length=16)
    payload: dict[str, Any] = _json()
    result: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    priority: int
    workers: int
    owner: str = Field(max_length=100)
    attempts: int
    most_attempts: int
    not_before: float
    error: str = _text()
    created_at: datetime = _moment()
    started_at: datetime | None = _moment(nullable=True)
    finished_at: datetime | None = _moment(nullable=True)


class SeatRow(Base, table=True):
    """A worker's place at a job: its lease. The number is never used again, so it fences off a dead worker.

    Moments are seconds of the database's clock since 1970. `drawn_usd` is what it set aside, `paid_*`
    what it reported to the round's account, `recorded_*` what its committed verdicts say was paid.
    """

    __tablename__ = "seat"
    __table_args__ = (UniqueConstraint("job_id", "slot"), {"sqlite_autoincrement": True})
    id: int | None = Field(default=None, primary_key=True)
    job_id: int = _reference("job.id")
    slot: int
    worker: str = Field(max_length=100)
    place: str = _text()
    pid: int
    born: str = Field(max_length=40)
    taken_at: float
    beat_at: float
    lease_until: float
    done: int
    drawn_usd: float
    paid_usd: float
    paid_input: int
    paid_output: int
    recorded_usd: float
    recorded_input: int
    recorded_output: int


class BattleHoldRow(Base, table=True):
    """The seat that judges a battle at present: by its primary key, one at most."""

    __tablename__ = "battle_hold"
    battle_id: int = Field(
        sa_column=Column(ForeignKey("battle.id", ondelete="CASCADE"), primary_key=True, autoincrement=False)
    )
    seat_id: int = _reference("seat.id", index=True)


class CanaryHoldRow(Base, table=True):
    """The seat that judges a canary at present: by its primary key, one at most."""

    __tablename__ = "canary_hold"
    canary_id: int = Field(
        sa_column=Column(ForeignKey("canary.id", ondelete="CASCADE"), primary_key=True, autoincrement=False)
    )
    seat_id: int = _reference("seat.id", index=True)


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


class JudgmentReportRow(Base, table=True):
    """A reader's word that a judgment is wrong, for the organisers."""

    __tablename__ = "judgment_report"
    id: int | None = Field(default=None, primary_key=True)
    battle_id: int = _reference("battle.id", index=True)
    judge: str = Field(max_length=100)
    presentation: str = Field(max_length=2)
    reason: str = _text()
    reporter: str = Field(max_length=64, index=True)
    created_at: datetime = _moment()


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
jobs = TABLES["job"]
seats = TABLES["seat"]
battle_holds = TABLES["battle_hold"]
canary_holds = TABLES["canary_hold"]
question_digests = TABLES["question_digest"]
judgment_reports = TABLES["judgment_report"]
