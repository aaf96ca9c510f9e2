"""Tables of what is to be judged, and what it may cost: rounds, battles, canaries, accounts."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Column, ForeignKey, Index, UniqueConstraint
from sqlmodel import Field

from data.tables.base import TABLES, Base, where
from data.tables.columns import json_column, moment_column, reference_column, text_column


class RoundRow(Base, table=True):
    """Fixed battles, a judge, a seed and a budget."""

    __tablename__ = "round"
    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True, max_length=100)
    set_id: int = reference_column("question_set.id")
    state: str = Field(max_length=16)
    judge: str = Field(max_length=100)
    plan: dict[str, Any] = json_column()
    seed: int
    budget_usd: float | None = None
    created_at: datetime = moment_column()
    started_at: datetime | None = moment_column(nullable=True)
    finished_at: datetime | None = moment_column(nullable=True)


class BattleRow(Base, table=True):
    """Two answers to one question, to be judged; `outcome` is null while pending."""

    __tablename__ = "battle"
    __table_args__ = (
        UniqueConstraint("round_id", "key"),
        Index(None, "round_id", "outcome"),
        Index(None, "round_id", "question_id"),
        Index("ix_battle_open", "round_id", "question_id", "id", **where("outcome IS NULL")),
    )
    id: int | None = Field(default=None, primary_key=True)
    round_id: int = reference_column("round.id")
    key: str = Field(max_length=20)
    question_id: int = reference_column("question.id")
    a_id: int = reference_column("submission.id")
    b_id: int = reference_column("submission.id")
    outcome: str | None = Field(default=None, max_length=16)
    preference: str | None = Field(default=None, max_length=4)
    score: float | None = None
    flipped: bool | None = None
    detail: str = text_column()


class CanaryRow(Base, table=True):
    """An attack of ours on one side of a battle's copy; never part of the battles, rates or ratings.

    `judgments` holds what settled it, a list of objects; the replies stand in `reply` by their keys.
    """

    __tablename__ = "canary"
    __table_args__ = (UniqueConstraint("round_id", "key"),)
    id: int | None = Field(default=None, primary_key=True)
    round_id: int = reference_column("round.id")
    battle_id: int = reference_column("battle.id", index=True)
    key: str = Field(max_length=100)
    family: str = Field(max_length=40)
    attacker: str = Field(max_length=4)
    text: str = text_column()
    outcome: str | None = Field(default=None, max_length=16)
    preference: str | None = Field(default=None, max_length=4)
    detail: str = text_column()
    input_tokens: int
    output_tokens: int
    cost_usd: float
    judgments: list[dict[str, Any]] = json_column()


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


rounds = TABLES["round"]
battles = TABLES["battle"]
canaries = TABLES["canary"]
ledgers = TABLES["ledger"]
