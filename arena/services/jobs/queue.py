"""The queue of jobs, and the leases by which workers hold them."""

from __future__ import annotations

import os
import socket
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arena.services.accounts.auth import OPERATOR, Caller, require
from data.errors import (
    ArenaError,
    ConflictError,
    EndpointError,
    InputError,
    JudgeError,
    LeaseLostError,
    NotFoundError,
    StoppedError,
    StoreError,
)
from data.models import Job, JobKind, JobState, Lease, TokenScope, WorkerId
from data.progress import Work
from data.store import Store
from data.store.jobs import Release

BEAT_EVERY = 1.0
FIRST_WAIT = 10.0
NOT_RETRIED = (InputError, NotFoundError, ConflictError, JudgeError)
NOT_THE_JOBS_FAULT = (StoppedError, LeaseLostError, StoreError)
BOOT = Path("/proc/sys/kernel/random/boot_id")
PROCESSES = Path("/proc/self/ns/pid")
START_FIELD = 19  # Of /proc/PID/stat, counted after the name, which may hold anything: proc(5), starttime.


@dataclass(frozen=True, slots=True)
class JobLeases:
    """One worker's leases on jobs of the queue; `lease` is in seconds.

    A lease that cannot be released, since the database is away or full, is released before the next call, so
    that a process that goes on does not block itself.
    """

    store: Store
    worker: WorkerId
    lease: float
    _pending: list[tuple[Lease, Release]] = field(default_factory=list)

    def take(self, *, owner: str = "", job_id: int | None = None) -> tuple[Job, Lease] | None:
        """Take a lease on the first job that has one free."""
        self.release_pending()
        leases, lease = self.store.leases, self.lease
        return leases.take(self.worker, lease=lease, gone=has_ended, owner=owner, job_id=job_id)

    def begin(self, round_id: int) -> tuple[Job, Lease]:
        """Put a job that judges a round for this process alone, and take the first lease on it.

        Raises:
            ConflictError: The round has ended or has another job, or the job was taken away.
        """
        self.give_up_dead()
        owner = f"{self.worker.name}:{uuid.uuid4().hex[:12]}"
        job = self.store.jobs.put(JobKind.JUDGE, round_id=round_id, owner=owner)
        taken = self.take(owner=owner, job_id=job.id)
        if taken is None:
            raise ConflictError(f"Job {job.id} was taken away.", advice="Start it again.")
        return taken

    def release(self, lease: Lease, release: Release) -> None:
        """Release a lease; where the database cannot be used, as soon as it can."""
        try:
            self.store.leases.release(lease.id, release)
        except StoreError:
            self._pending.append((lease, release))
            raise

    @contextmanager
    def held(self, lease: Lease, *, attempts: int = 0) -> Iterator[None]:
        """Release a lease at the end of the block, with the error that ended it."""
        try:
            yield
        except BaseException as error:
            # The error of the work is raised. Without a database the lease stays pending, and a round stays
            # `running`, which can be resumed as well.
            with suppress(StoreError):
                self.release(lease, release_after(error, attempts))
            raise
        self.release(lease, Release())

    def release_pending(self) -> None:
        """Release the leases that could not be released when it was time."""
        while self._pending:
            lease, release = self._pending[0]
            self.store.leases.release(lease.id, release)
            # Another thread may have released it as well, which changes nothing.
            self._pending[:1] = []

    def give_up_dead(self) -> int:
        """End the leases of workers whose process is known to have ended, and this one's pending ones."""
        self.release_pending()
        return self.store.leases.give_up(has_ended)


def release_after(error: BaseException, attempts: int) -> Release:
    """Choose how to release a lease after an error: temporary failures are retried, with growing waits."""
    if isinstance(error, NOT_THE_JOBS_FAULT):
        return Release()
    message = str(error) if isinstance(error, ArenaError) else f"{type(error).__name__}: {error}"
    final = isinstance(error, NOT_RETRIED) and not isinstance(error, EndpointError)
    return Release(error=message, final=final, retry_in=FIRST_WAIT * 2**attempts)


@contextmanager
def heartbeats(
    store: Store,
    lease_id: int,
    lease: float,
    *,
    unwanted: Callable[[], object],
    failed: Callable[[Exception], object],
    work: Callable[[], Work | None],
) -> Iterator[None]:
    """Send heartbeats from a thread until the block ends, whatever the event loop is doing (A4).

    `unwanted` is called where the job is no longer wanted, `failed` where the lease is lost or the database
    cannot be used; `work` tells the progress, for other processes.
    """
    over = threading.Event()

    def beat() -> None:
        while not over.wait(BEAT_EVERY):
            try:
                if not store.leases.beat(lease_id, lease=lease, work=work()):
                    unwanted()
            except StoreError as error:
                failed(error)
            except LeaseLostError as error:
                failed(error)
                return

    thread = threading.Thread(target=beat, name="heartbeats", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def this_worker(name: str | None = None) -> WorkerId:
    """Identify this process; by default it is named after its machine and number."""
    pid = os.getpid()
    name = name or f"{socket.gethostname()}-{pid}"
    return WorkerId(name=name, place=_place(), pid=pid, started=_started(pid))


def has_ended(worker: WorkerId) -> bool:
    """Return whether a worker's process is known to have ended; False where this machine cannot know."""
    if not worker.place or worker.place != _place():
        return False
    try:
        os.kill(worker.pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return _started(worker.pid) != worker.started


def _place() -> str:
    """Identify this machine since its start, and its process namespace; empty where unknown."""
    try:
        return f"{socket.gethostname()}/{BOOT.read_text().strip()}/{PROCESSES.readlink()}"
    except OSError:
        return ""


def _started(pid: int) -> str:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    state, start = fields[0], fields[START_FIELD]
    # A child that ended and that nobody has waited for still has its number.
    return "" if state == "Z" else start


CANCELLED = "Somebody cancelled it."


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """A job with the workers at it; `position` is that in the queue, None where it does not wait."""

    job: Job
    leases: tuple[Lease, ...]
    position: int | None

    @property
    def alive(self) -> tuple[Lease, ...]:
        """Leases that have not expired."""
        return tuple(lease for lease in self.leases if lease.lease_left > 0)

    @property
    def rate(self) -> float:
        """Battles a second, by all its workers."""
        return sum(lease.rate for lease in self.alive)

    @property
    def seconds_left(self) -> float | None:
        """Seconds left as its only worker measured them by replies; None where it did not."""
        work = self.alive[0].work if len(self.alive) == 1 else None
        return None if work is None else work.left

    @property
    def waiting(self) -> str:
        """Wait of its workers at their endpoints, in words; empty without one."""
        notes = (lease.work.note for lease in self.alive if lease.work is not None)
        return next(filter(None, notes), "")

    @property
    def work(self) -> Work | None:
        """Progress of a worker; None where none tells it."""
        return next((lease.work for lease in self.leases if lease.work is not None), None)

    def as_json(self) -> dict[str, Any]:
        """Return the job as commands and pages show it."""
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
    """Use cases around the queue."""

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
        """Let a worker compare judges with human labels, the content of a JSONL file."""
        payload = {"judges": list(judges), "labels": labels, "concurrency": concurrency}
        return self.put(caller, JobKind.CALIBRATE, payload={**payload, "budget_usd": budget_usd})

    def test_judge(self, judge: str, *, caller: Caller = OPERATOR) -> Job:
        """Let a worker try a judge on three battles."""
        return self.put(caller, JobKind.JUDGE_TEST, payload={"judge": judge})

    def recent(self, kind: JobKind | None = None) -> tuple[JobStatus, ...]:
        """Return the newest jobs, of one kind where it is given, newest first."""
        return tuple(self._status(job) for job in self.store.jobs.all(kind=kind))

    def status(self, number: int) -> JobStatus:
        """One job."""
        return self._status(self.store.jobs.get(number))

    def of_round(self, round_id: int) -> JobStatus | None:
        """Return the queued or running job of a round, else its newest one; None without any."""
        job = self.store.jobs.of_round(round_id)
        return None if job is None else self._status(job)

    def cancel(self, number: int, *, caller: Caller = OPERATOR) -> Job:
        """Take a job out of the queue; what is in flight finishes, and its round is paused."""
        require(caller, TokenScope.ORGANISE)
        with self.store.changing(visible=False):
            withdrawn = self.store.jobs.withdraw(CANCELLED, number=number)
            job = self.store.jobs.get(number)
            if not withdrawn:
                raise ConflictError(f"Job {number} is {job.state} already.", advice="There is nothing to do.")
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
        """Put a job into the queue for an organiser; its result is in the job."""
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
