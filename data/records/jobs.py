"""Jobs for workers, and the leases of workers on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from data.progress import Work
from data.records.vocabulary import JobKind, JobState


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerId:
    """Which process a worker is.

    Attributes:
        name: For people.
        place: The machine since its start, and its namespace of processes; empty where that is not known.
        pid: Its number there.
        started: When the process began, as the system says it, so that a reused number is recognised.
    """

    name: str
    place: str
    pid: int
    started: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """What a job is to be.

    Attributes:
        round_id: The round that it is about; at most one job of a round is queued or running.
        payload: What its kind needs.
        priority: Higher ones are taken first.
        workers: How many may share it.
        owner: Empty where any worker may take it, else the one group of processes that may.
        most_attempts: Failures without a verdict in between, after which it is given up.
    """

    kind: JobKind
    round_id: int | None = None
    payload: Mapping[str, Any] = field(default_factory=dict)
    priority: int = 0
    workers: int = 1
    owner: str = ""
    most_attempts: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job as it stands; `error` says why it failed, was cancelled, or is tried again."""

    id: int
    kind: JobKind
    round_id: int | None
    round_name: str | None
    state: JobState
    payload: Mapping[str, Any]
    result: Mapping[str, Any] | None
    priority: int
    workers: int
    owner: str
    attempts: int
    most_attempts: int
    error: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A worker's place at a job, its lease.

    Attributes:
        id: Never used again, so that it fences off a worker that was given up.
        seconds: Since it was taken.
        beat_age: Seconds since the worker's last heartbeat.
        lease_left: Seconds until it expires; negative where it has.
        done: Battles that it settled.
        work: What it does at a job that cannot be shared, and how far that is; None where it said nothing.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """What a heartbeat returns: whether to go on, and how many leases are taken in all."""

    wanted: bool
    leases: int
