"""Jobs for workers, and the leases of workers on them, with their tables."""

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

    `place` is the machine since its start with its namespace of processes, empty where unknown; `started` is
    when the process began, so that a reused `pid` is recognised.
    """

    name: str
    place: str
    pid: int
    started: str


class Job(Base, table=True):
    """A job; `error` says why it failed, was cancelled, or is tried again.

    At most one job of a round is queued or running. `workers` is how many may share it; `owner` is empty
    where any worker may take it, else the one group of processes that may. `not_before` is in seconds of the
    database's clock since 1970.
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
    """A worker's lease on a job; its `id` is never used again, so that it fences off an expired worker.

    `seconds` are since it was taken, `beat_age` since the last heartbeat, `lease_left` until it expires
    (negative where it has). `done` counts settled battles; `work` is the progress where the worker tells it.
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
        """Battles a second."""
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
"""Workers' leases on jobs. A number is never used again, so it fences off a worker whose lease expired.

    Moments are seconds of the database's clock since 1970. `drawn_usd` is what it set aside, `paid_*` what it
    reported to the round's account, `recorded_*` what its committed verdicts say was paid.
    """
battle_holds = table(
    "battle_hold", battle_id=col.key_of("battle.id"), seat_id=col.parent("seat.id", index=True)
)
"""The lease that judges a battle at present: by its primary key, one at most."""
