"""Jobs for workers, and the leases of workers on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job; `error` says why it failed, was cancelled, or is tried again.

    At most one job of a round is queued or running. `workers` is how many may share it; `owner` is empty
    where any worker may take it, else the one group of processes that may.
    """

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
