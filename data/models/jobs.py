"""Jobs and leases with their tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Index, UniqueConstraint

from data.models import base as col
from data.models.base import Base, table
from data.models.words import JobKind, JobState
from data.progress import Work


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerId:
    """Identity of a worker's process.

    `place` is the machine's boot id and its PID namespace, empty if unknown. `started` is the start time of
    the process, which distinguishes reused `pid`s.
    """

    name: str
    place: str
    pid: int
    started: str


class Job(Base, table=True):
    """Job of a queue; `error` is the reason for a failure, a cancellation or a retry.

    At most one job of a round is queued or running. `workers` limits how many may share it. `owner` is the
    group of processes that may take it, empty for any. `not_before` is in seconds since 1970 by the
    database's clock.
    """

    __tablename__ = "job"
    __table_args__ = (
        Index("uq_job_round_active", "round_id", unique=True, **col.where("state IN ('queued', 'running')")),
        Index(None, "state", "priority"),
    )
    id: int = col.number()
    kind: JobKind = col.word(JobKind)
    round_id: int | None = col.parent("round.id", nullable=True)
    state: JobState = col.word(JobState)
    payload: Mapping[str, Any] = col.json()
    result: Mapping[str, Any] | None = col.maybe_json()
    priority: int = col.whole(default=0)
    workers: int = col.whole()
    owner: str = col.label(100)
    attempts: int = col.whole(default=0)
    not_before: float = col.real(default=0.0)
    error: str = col.prose(default="")
    created_at: datetime = col.created()
    started_at: datetime | None = col.moment(nullable=True)
    finished_at: datetime | None = col.moment(nullable=True)
    round_name: str | None = col.joined()


jobs = Job.__table__


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A worker's lease on a job; its `id` is a fencing token, which is never reused.

    `seconds` are since its start, `beat_age` since the last heartbeat, `lease_left` until it expires
    (negative afterwards). `done` counts settled battles; `work` is the progress that the worker reports.
    """

    id: int
    job_id: int
    slot: int
    worker: WorkerId
    seconds: float
    beat_age: float
    lease_left: float
    done: int
    work: Work | None = None

    @property
    def rate(self) -> float:
        """Battles per second."""
        return self.done / self.seconds if self.seconds > 0 else 0.0


lease_rows = table(
    "seat",
    {"sqlite_autoincrement": True},
    UniqueConstraint("job_id", "slot"),
    id=col.number(),
    job_id=col.parent("job.id"),
    slot=col.whole(),
    worker=col.label(100),
    place=col.prose(),
    pid=col.whole(),
    born=col.label(40),
    taken_at=col.real(),
    beat_at=col.real(),
    lease_until=col.real(),
    done=col.whole(default=0),
    drawn_usd=col.real(default=0.0),
    paid_usd=col.real(default=0.0),
    paid_input=col.whole(default=0),
    paid_output=col.whole(default=0),
    recorded_usd=col.real(default=0.0),
    recorded_input=col.whole(default=0),
    recorded_output=col.whole(default=0),
    progress=col.maybe_json(),
)
"""Leases on jobs; an id is never reused, so it rejects writes of a worker whose lease expired.

    Times are seconds since 1970 by the database's clock. `drawn_usd` is reserved, `paid_*` was reported to
    the round's account, `recorded_*` sums the costs of committed verdicts.
    """
battle_holds = table(
    "battle_hold", battle_id=col.key_of("battle.id"), seat_id=col.parent("seat.id", index=True)
)
"""Claims of battles by leases; the primary key allows one per battle."""
