"""Tables of what judges said: replies of LLMs, batches on their way, judgments, and reports of wrong ones."""

from __future__ import annotations

from datetime import datetime

from sqlmodel import Field

from data.tables.base import TABLES, Base
from data.tables.columns import json_column, moment_column, reference_column, text_column


class ReplyRow(Base, table=True):
    """What an LLM returned, kept once under the key of its request."""

    __tablename__ = "reply"
    key: str = Field(primary_key=True, max_length=64)
    endpoint: str = text_column()
    model: str = text_column()
    text: str = text_column()
    finish_reason: str = text_column()
    input_tokens: int
    output_tokens: int
    cost_usd: float | None = None
    latency: float
    logprobs: str | None = text_column(nullable=True)
    created_at: datetime = moment_column()


class BatchRow(Base, table=True):
    """A provider's batch that was sent and whose replies are not all kept; `batch_id` empty until known."""

    __tablename__ = "batch"
    name: str = Field(primary_key=True, max_length=64)
    endpoint: str = text_column()
    batch_id: str = text_column()
    keys: list[str] = json_column()
    created_at: datetime = moment_column()


class JudgmentRow(Base, table=True):
    """One judge, one presentation order, one reply; tokens and cost are all that was paid for it."""

    __tablename__ = "judgment"
    id: int | None = Field(default=None, primary_key=True)
    battle_id: int = reference_column("battle.id", index=True)
    judge: str = Field(max_length=100)
    model: str = text_column()
    endpoint: str = text_column()
    presentation: str = Field(max_length=2)
    outcome: str = Field(max_length=16)
    preference: str | None = Field(default=None, max_length=4)
    margin: float | None = None
    rationale: str = text_column()
    detail: str = text_column()
    grade: str = text_column()
    settings: str = text_column()
    prompt_hash: str = Field(max_length=64)
    parser: str = text_column()
    calls: int
    reply_key: str | None = Field(default=None, max_length=64)
    input_tokens: int
    output_tokens: int
    cost_usd: float | None = None
    latency: float
    cached: bool
    created_at: datetime = moment_column()


class JudgmentReportRow(Base, table=True):
    """A reader's word that a judgment is wrong, for the organisers."""

    __tablename__ = "judgment_report"
    id: int | None = Field(default=None, primary_key=True)
    battle_id: int = reference_column("battle.id", index=True)
    judge: str = Field(max_length=100)
    presentation: str = Field(max_length=2)
    reason: str = text_column()
    reporter: str = Field(max_length=64, index=True)
    created_at: datetime = moment_column()


replies = TABLES["reply"]
batches = TABLES["batch"]
judgments = TABLES["judgment"]
judgment_reports = TABLES["judgment_report"]
