"""Tables of who does the work: jobs, the seats of workers at them, and what each seat holds."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column, ForeignKey, Index, UniqueConstraint
from sqlmodel import Field

from data.tables.base import TABLES, Base, where
from data.tables.columns import json_column, moment_column, reference_column, text_column


class JobRow(Base, table=True):
    """Something for a worker to do; at most one job of a round is queued or running.

    `owner` is empty where any worker may take it, else the one process group that may. `workers` is how
    many may share it. `not_before` is in seconds of the database's clock since 1970.
    """

    __tablename__ = "job"
    __table_args__ = (
        Index("uq_job_round_active", "round_id", unique=True, **where("state IN ('queued', 'running')")),
        Index(None, "state", "priority"),
    )
    id: int | None = Field(default=None, primary_key=True)
    kind: str = Field(max_length=16)
    round_id: int | None = Field(
        default=None, sa_column=Column(ForeignKey("round.id", ondelete="CASCADE"), nullable=True)
    )
    state: str = Field(max_length=16)
    payload: dict[str, Any] = json_column()
    result: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    priority: int
    workers: int
    owner: str = Field(max_length=100)
    attempts: int
    most_attempts: int
    not_before: float
    error: str = text_column()
    created_at: datetime = moment_column()
    started_at: datetime | None = moment_column(nullable=True)
    finished_at: datetime | None = moment_column(nullable=True)


class SeatRow(Base, table=True):
    """A worker's place at a job: its lease. The number is never used again, so it fences off a dead worker.

    Moments are seconds of the database's clock since 1970. `drawn_usd` is what it set aside, `paid_*`
    what it reported to the round's account, `recorded_*` what its committed verdicts say was paid.
    """

    __tablename__ = "seat"
    __table_args__ = (UniqueConstraint("job_id", "slot"), {"sqlite_autoincrement": True})
    id: int | None = Field(default=None, primary_key=True)
    job_id: int = reference_column("job.id")
    slot: int
    worker: str = Field(max_length=100)
    place: str = text_column()
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
    seat_id: int = reference_column("seat.id", index=True)


class CanaryHoldRow(Base, table=True):
    """The seat that judges a canary at present: by its primary key, one at most."""

    __tablename__ = "canary_hold"
    canary_id: int = Field(
        sa_column=Column(ForeignKey("canary.id", ondelete="CASCADE"), primary_key=True, autoincrement=False)
    )
    seat_id: int = reference_column("seat.id", index=True)


jobs = TABLES["job"]
seats = TABLES["seat"]
battle_holds = TABLES["battle_hold"]
canary_holds = TABLES["canary_hold"]
