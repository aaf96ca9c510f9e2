"""Tables of jobs, leases and the battles that leases judge."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, UniqueConstraint

from data.models import JobKind, JobState
from data.tables import columns as col
from data.tables.columns import Base


class JobRow(Base, table=True):
    """Things for a worker to do; at most one job of a round is queued or running.

    `owner` is empty where any worker may take it, else the one process group that may. `workers` is how many
    may share it. `not_before` is in seconds of the database's clock since 1970.
    """

    __tablename__ = "job"
    __table_args__ = (
        Index("uq_job_round_active", "round_id", unique=True, **col.where("state IN ('queued', 'running')")),
        Index(None, "state", "priority"),
    )
    id: int | None = col.number()
    kind: JobKind = col.word(JobKind)
    round_id: int | None = col.parent("round.id", nullable=True)
    state: JobState = col.word(JobState)
    payload: Any = col.json()
    result: Any = col.maybe_json()
    priority: int = col.whole()
    workers: int = col.whole()
    owner: str = col.label(100)
    attempts: int = col.whole(default=0)
    most_attempts: int = col.whole()
    not_before: float = col.real(default=0.0)
    error: str = col.prose(default="")
    created_at: datetime = col.created()
    started_at: datetime | None = col.moment(nullable=True)
    finished_at: datetime | None = col.moment(nullable=True)


jobs = JobRow.__table__


class LeaseRow(Base, table=True):
    """Workers' leases on jobs. A number is never used again, so it fences off a worker whose lease expired.

    Moments are seconds of the database's clock since 1970. `drawn_usd` is what it set aside, `paid_*` what it
    reported to the round's account, `recorded_*` what its committed verdicts say was paid.
    """

    __tablename__ = "seat"
    __table_args__ = (UniqueConstraint("job_id", "slot"), {"sqlite_autoincrement": True})
    id: int | None = col.number()
    job_id: int = col.parent("job.id")
    slot: int = col.whole()
    worker: str = col.label(100)
    place: str = col.prose()
    pid: int = col.whole()
    born: str = col.label(40)
    taken_at: float = col.real()
    beat_at: float = col.real()
    lease_until: float = col.real()
    done: int = col.whole(default=0)
    drawn_usd: float = col.real(default=0.0)
    paid_usd: float = col.real(default=0.0)
    paid_input: int = col.whole(default=0)
    paid_output: int = col.whole(default=0)
    recorded_usd: float = col.real(default=0.0)
    recorded_input: int = col.whole(default=0)
    recorded_output: int = col.whole(default=0)
    progress: Any = col.maybe_json()


lease_rows = LeaseRow.__table__


class BattleHoldRow(Base, table=True):
    """The lease that judges a battle at present: by its primary key, one at most."""

    __tablename__ = "battle_hold"
    battle_id: int = col.key_of("battle.id")
    seat_id: int = col.parent("seat.id", index=True)


battle_holds = BattleHoldRow.__table__
