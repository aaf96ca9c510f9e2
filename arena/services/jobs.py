"""Jobs: put into the queue, watched, cancelled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.services.identity import OPERATOR, Caller, require
from arena.services.judging import require_resumable
from arena.services.round_requests import RoundRequest
from arena.services.seating import Seating
from data.errors import ConflictError, InputError
from data.records import Action, AuditNote, Job, JobKind, JobState, NewJob, RoundState, Seat, TokenScope
from data.store import Store

MOST_WORKERS = 1_000
CANCELLED = "Somebody cancelled it."
PUBLISHABLE = (RoundState.FINISHED,)
RETRIABLE = (RoundState.FINISHED, RoundState.CANCELLED, RoundState.PAUSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """A job with the workers at it; `position` is its place in the queue, None where it does not wait."""

    job: Job
    seats: tuple[Seat, ...]
    position: int | None

    @property
    def rate(self) -> float:
        """Battles and canaries a second, by all its workers."""
        return sum(seat.rate for seat in self.seats if seat.lease_left > 0)

    def as_json(self) -> dict[str, Any]:
        """The job as commands and pages show it."""
        job = self.job
        return {
            "id": job.id,
            "kind": job.kind.value,
            "round": job.round_name,
            "state": job.state.value,
            "priority": job.priority,
            "position": self.position,
            "workers": [_shown(seat) for seat in self.seats],
            "most_workers": job.workers,
            "attempts": job.attempts,
            "error": job.error,
            "result": job.result,
            "created_at": job.created_at.isoformat(),
            "started_at": None if job.started_at is None else job.started_at.isoformat(),
            "finished_at": None if job.finished_at is None else job.finished_at.isoformat(),
        }


class JobService:
    """Use cases around the queue."""

    def __init__(self, store: Store, seating: Seating) -> None:
        self._store = store
        self._seating = seating

    def judge(
        self,
        round_name: str,
        *,
        options: Mapping[str, Any] | None = None,
        workers: int | None = None,
        priority: int = 0,
        retry: bool = False,
        caller: Caller = OPERATOR,
    ) -> Job:
        """Let workers judge what is pending in a round.

        Args:
            round_name: The round.
            options: `concurrency` and what goes before a worker's settings: `cache_mode`, `transport`,
                `rpm`, `tpm`, `timeout`.
            workers: How many may share the round; None is any number.
            priority: Higher ones are taken first.
            retry: Whether failed and skipped battles are judged again as well.
            caller: Who asks.

        Raises:
            ConflictError: The round has ended, or has a job already.
            NotFoundError: No round has this name.
        """
        require(caller, TokenScope.ORGANISE)
        found = self._store.rounds.get(round_name)
        workers = MOST_WORKERS if workers is None else workers
        if not 0 < workers <= MOST_WORKERS:
            raise InputError(f"{workers} workers cannot share a round.", advice=f"Use 1 to {MOST_WORKERS}.")
        self._seating.give_up_dead()
        if not retry:
            require_resumable(found)
        elif found.state not in RETRIABLE:
            message = f"Round {found.name} is {found.state}, so nothing of it can be tried again."
            raise ConflictError(message, advice=f"It would have to be {' or '.join(RETRIABLE)}.")
        return self._put(
            caller,
            NewJob(
                kind=JobKind.RETRY if retry else JobKind.JUDGE,
                round_id=found.id,
                payload=dict(options or {}),
                workers=workers,
                priority=priority,
            ),
        )

    def publish(self, round_name: str, *, metrics: bool = True, caller: Caller = OPERATOR) -> Job:
        """Let a worker score, rate and publish a finished round.

        Raises:
            ConflictError: The round is not finished, or has a job already.
        """
        require(caller, TokenScope.ORGANISE)
        found = self._store.rounds.get(round_name)
        if found.state not in PUBLISHABLE:
            message = f"Round {found.name} is {found.state}, so it cannot be published."
            raise ConflictError(message, advice="Only finished rounds can be.")
        payload = {"metrics": metrics, "asked_by": caller.name}
        return self._put(caller, NewJob(kind=JobKind.PUBLISH, round_id=found.id, payload=payload))

    def calibrate(
        self,
        judges: Sequence[str],
        labels: str,
        *,
        concurrency: int,
        budget_usd: float | None = None,
        caller: Caller = OPERATOR,
    ) -> Job:
        """Let a worker hold judges against human labels; the job's result has the reports.

        Args:
            judges: Names of judges.
            labels: The content of a file of human labels, JSONL.
            concurrency: Pairs in flight at most.
            budget_usd: The most that it may spend, in USD.
            caller: Who asks.
        """
        require(caller, TokenScope.ORGANISE)
        payload = {
            "judges": list(judges),
            "labels": labels,
            "concurrency": concurrency,
            "budget_usd": budget_usd,
        }
        return self._put(caller, NewJob(kind=JobKind.CALIBRATE, payload=payload))

    def trial(self, request: RoundRequest, *, caller: Caller = OPERATOR) -> Job:
        """Let a worker judge a few battles of a planned round; the job's result has them, no round does.

        Raises:
            ForbiddenError: Only organisers may.
        """
        require(caller, TokenScope.ORGANISE)
        return self._put(caller, NewJob(kind=JobKind.TRIAL, payload={"request": request.as_json()}))

    def recent(self) -> tuple[JobStatus, ...]:
        """The newest jobs, newest first."""
        return tuple(self._status(job) for job in self._store.jobs.all())

    def status(self, number: int) -> JobStatus:
        """One job.

        Raises:
            NotFoundError: No job has this number.
        """
        return self._status(self._store.jobs.get(number))

    def of_round(self, round_id: int) -> JobStatus | None:
        """The job of a round that is queued or running, else its newest one; None where it had none."""
        job = self._store.jobs.active(round_id) or self._store.jobs.latest(round_id)
        return None if job is None else self._status(job)

    def cancel(self, number: int, *, caller: Caller = OPERATOR) -> Job:
        """Take a job out of the queue; what is in flight finishes, and its round is paused.

        Raises:
            ConflictError: It has ended.
        """
        require(caller, TokenScope.ORGANISE)
        with self._store.audit.noting() as notes:
            found = self._store.jobs.cancel(number, CANCELLED)
            notes.take(_note(caller, Action.JOB_CANCELLED, found))
        return found

    def _put(self, caller: Caller, new: NewJob) -> Job:
        with self._store.audit.noting() as notes:
            job = self._store.jobs.put(new)
            notes.take(_note(caller, Action.JOB_QUEUED, job))
        return job

    def _status(self, job: Job) -> JobStatus:
        seats = () if job.state is JobState.QUEUED else self._store.seats.of_job(job.id)
        return JobStatus(job=job, seats=seats, position=self._store.jobs.position(job))


def _note(caller: Caller, action: Action, job: Job) -> AuditNote:
    subject = f"job {job.id}" if job.round_name is None else f"round {job.round_name}"
    return AuditNote(
        actor=caller.name, action=action, subject=subject, detail={"job": job.id, "kind": job.kind.value}
    )


def _shown(seat: Seat) -> dict[str, Any]:
    return {
        "name": seat.worker.name,
        "pid": seat.worker.pid,
        "done": seat.done,
        "rate": seat.rate,
        "seconds": seat.seconds,
        "heard_of": seat.beat_age,
        "alive": seat.lease_left > 0,
    }
