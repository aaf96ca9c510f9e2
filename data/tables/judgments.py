"""Tables of what judges and people said: replies of LLMs, judgments and reports of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from data.models import Outcome, Preference, Presentation
from data.tables import columns as col
from data.tables.columns import Base


class ReplyRow(Base, table=True):
    """What LLMs returned, each reply once under the key of its request."""

    __tablename__ = "reply"
    key: str = col.label(64, primary_key=True)
    endpoint: str = col.prose()
    model: str = col.prose()
    text: str = col.prose()
    finish_reason: str = col.prose()
    input_tokens: int = col.whole()
    output_tokens: int = col.whole()
    cost_usd: float | None = col.real(nullable=True)
    latency: float = col.real()
    logprobs: str | None = col.prose(nullable=True)
    thinking: str | None = col.prose(nullable=True)
    response_id: str = col.prose(default="")
    response_model: str = col.prose(default="")
    fingerprint: str = col.prose(default="")
    left_out: str = col.prose(default="")
    created_at: datetime = col.created()


replies = ReplyRow.__table__


class BatchRow(Base, table=True):
    """Batches sent to providers whose replies are not all stored; `batch_id` is empty until it is known."""

    __tablename__ = "batch"
    name: str = col.label(64, primary_key=True)
    endpoint: str = col.prose()
    batch_id: str = col.prose()
    keys: Any = col.json()
    created_at: datetime = col.created()


batches = BatchRow.__table__


class JudgmentRow(Base, table=True):
    """One judge, one presentation order, one reply; tokens and cost are all that was paid for it.

    `earlier_keys` names the replies after which the judge was asked again; null where it was asked once.
    """

    __tablename__ = "judgment"
    id: int | None = col.number()
    battle_id: int = col.parent("battle.id", index=True)
    judge: str = col.label(100)
    model: str = col.prose()
    endpoint: str = col.prose()
    presentation: Presentation = col.word(Presentation, 2)
    outcome: Outcome = col.word(Outcome)
    preference: Preference | None = col.word(Preference, 4, nullable=True)
    margin: float | None = col.real(nullable=True)
    rationale: str = col.prose()
    detail: str = col.prose()
    grade: str = col.prose()
    settings: str = col.prose()
    prompt_hash: str = col.label(64)
    parser: str = col.prose()
    calls: int = col.whole()
    reply_key: str | None = col.label(64, nullable=True)
    earlier_keys: Any = col.maybe_json()
    input_tokens: int = col.whole()
    output_tokens: int = col.whole()
    cost_usd: float | None = col.real(nullable=True)
    latency: float = col.real()
    cached: bool = col.flag()
    created_at: datetime = col.created()


judgments = JudgmentRow.__table__
