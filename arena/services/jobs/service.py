"""Jobs: queue, show and cancel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.services.accounts.auth import OPERATOR, Caller, require
from arena.services.jobs.queue import JobLeases
from data.errors import ConflictError, InputError
from data.models import Job, JobKind, JobState, Lease, TokenScope
from data.models.rounds import require_resumable
from data.progress import Work
from data.store import Store

MAX_WORKERS = 1_000
CANCELLED = "The job was cancelled."


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """Job with its workers; `position` is the place in the queue, None unless it waits."""

    job: Job
    leases: tuple[Lease, ...]
    position: int | None

    @property
    def alive(self) -> tuple[Lease, ...]:
        """Leases that have not expired."""
        return tuple(lease for lease in self.leases if lease.lease_left > 0)

    @property
    def rate(self) -> float:
        """Battles per second over all workers."""
        return sum(lease.rate for lease in self.alive)

    @property
    def seconds_left(self) -> float | None:
        """Remaining seconds as measured by a single worker, else None."""
        work = self.alive[0].work if len(self.alive) == 1 else None
        return None if work is None else work.left

    @property
    def waiting(self) -> str:
        """Wait imposed by endpoints, in words; empty if not waiting."""
        notes = (lease.work.note for lease in self.alive if lease.work is not None)
        return next(filter(None, notes), "")

    @property
    def work(self) -> Work | None:
        """Progress of a worker that reports it."""
        return next((lease.work for lease in self.leases if lease.work is not None), None)

    def as_json(self) -> dict[str, Any]:
        """Return the job as JSON for commands and pages."""
        job = self.job
        moments = ("created_at", "started_at", "finished_at")
        return {
            "id": job.id,
            "kind": job.kind.value,
            "round": job.round_name,
            "state": job.state.value,
            "position": self.position,
            "workers": [_worker(lease) for lease in self.leases],
            "most_workers": job.workers,
            "progress": None if self.work is None else self.work.as_json(),
            "attempts": job.attempts,
            "error": job.error,
            "result": job.result,
            **{name: None if (at := getattr(job, name)) is None else at.isoformat() for name in moments},
        }


class JobService:
    """Service for the queue."""

    def __init__(self, store: Store, job_leases: JobLeases) -> None:
        self.store = store
        self.job_leases = job_leases

    def calibrate(
        self,
        judges: Sequence[str],
        labels: str,
        *,
        concurrency: int,
        budget_usd: float | None = None,
        caller: Caller = OPERATOR,
    ) -> Job:
        """Queue a calibration of judges against `labels`, the content of a JSONL file."""
        payload = {"judges": list(judges), "labels": labels, "concurrency": concurrency}
        return self.put(caller, JobKind.CALIBRATE, payload={**payload, "budget_usd": budget_usd})

    def test_judge(self, judge: str, *, caller: Caller = OPERATOR) -> Job:
        """Queue a test of a judge on three battles."""
        return self.put(caller, JobKind.JUDGE_TEST, payload={"judge": judge})

    def judge(
        self,
        round_name: str,
        *,
        options: Mapping[str, Any] | None = None,
        workers: int | None = None,
        caller: Caller = OPERATOR,
    ) -> Job:
        """Queue the judging of a round; `options` are `concurrency` and overrides (`LlmOverrides`)."""
        require(caller, TokenScope.ORGANISE)
        round_ = self.store.rounds.get(round_name)
        workers = MAX_WORKERS if workers is None else workers
        if not 0 < workers <= MAX_WORKERS:
            raise InputError(f"{workers} workers cannot share a round.", advice=f"Use 1 to {MAX_WORKERS}.")
        self.job_leases.give_up_dead()
        require_resumable(round_)
        return self.put(
            caller, JobKind.JUDGE, round_id=round_.id, payload=dict(options or {}), workers=workers
        )

    def recent(self, kind: JobKind | None = None) -> tuple[JobStatus, ...]:
        """Return recent jobs, newest first."""
        return tuple(self._status(job) for job in self.store.jobs.all(kind=kind))

    def status(self, number: int) -> JobStatus:
        """Return a job."""
        return self._status(self.store.jobs.get(number))

    def of_round(self, round_id: int) -> JobStatus | None:
        """Return the queued or running job of a round, else its newest job, else None."""
        job = self.store.jobs.of_round(round_id)
        return None if job is None else self._status(job)

    def cancel(self, number: int, *, caller: Caller = OPERATOR) -> Job:
        """Cancel a job; calls in flight finish, and its round is paused."""
        require(caller, TokenScope.ORGANISE)
        with self.store.changing(visible=False):
            withdrawn = self.store.jobs.withdraw(CANCELLED, number=number)
            job = self.store.jobs.get(number)
            if not withdrawn:
                raise ConflictError(
                    f"Job {number} is already {job.state}.",
                    advice="Only queued or running jobs can be cancelled.",
                )
        _log(caller, "job-cancelled", job)
        return job

    def put(
        self,
        caller: Caller,
        kind: JobKind,
        *,
        payload: Mapping[str, Any],
        round_id: int | None = None,
        workers: int = 1,
    ) -> Job:
        """Queue a job for an organiser."""
        require(caller, TokenScope.ORGANISE)
        with self.store.changing(visible=False):
            job = self.store.jobs.put(kind, round_id=round_id, payload=payload, workers=workers)
        _log(caller, "job-queued", job)
        return job

    def _status(self, job: Job) -> JobStatus:
        leases = () if job.state is JobState.QUEUED else self.store.leases.all(job_id=job.id)
        return JobStatus(job=job, leases=leases, position=self.store.jobs.position(job))


def _log(caller: Caller, action: str, job: Job) -> None:
    subject = f"job {job.id}" if job.round_name is None else f"round {job.round_name}"
    caller.log(action, subject, job=job.id, kind=job.kind.value)


def _worker(lease: Lease) -> dict[str, Any]:
    of_worker = {"name": lease.worker.name, "pid": lease.worker.pid, "done": lease.done, "rate": lease.rate}
    alive = lease.lease_left > 0
    return {**of_worker, "seconds": lease.seconds, "heard_of": lease.beat_age, "alive": alive}
