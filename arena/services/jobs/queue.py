"""The queue of jobs, and the leases by which workers hold them."""

import os
import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from data import errors
from data.models import Job, JobKind, Lease, WorkerId
from data.progress import Work
from data.store import Store
from data.store.jobs import Release

BEAT_EVERY = 1.0
FIRST_WAIT = 10.0
NOT_RETRIED = (errors.InputError, errors.NotFoundError, errors.ConflictError, errors.JudgeError)
NOT_THE_JOBS_FAULT = (errors.StoppedError, errors.LeaseLostError, errors.StoreError)
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
        """Put a job that judges a round for this process alone, and take the first lease on it."""
        self.give_up_dead()
        owner = f"{self.worker.name}:{uuid.uuid4().hex[:12]}"
        job = self.store.jobs.put(JobKind.JUDGE, round_id=round_id, owner=owner)
        taken = self.take(owner=owner, job_id=job.id)
        if taken is None:
            raise errors.ConflictError(f"Job {job.id} was taken away.", advice="Start it again.")
        return taken

    def release(self, lease: Lease, release: Release) -> None:
        """Release a lease; where the database cannot be used, as soon as it can."""
        try:
            self.store.leases.release(lease.id, release)
        except errors.StoreError:
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
            with suppress(errors.StoreError):
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
    message = str(error) if isinstance(error, errors.ArenaError) else f"{type(error).__name__}: {error}"
    final = isinstance(error, NOT_RETRIED) and not isinstance(error, errors.EndpointError)
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
            except errors.StoreError as error:
                failed(error)
            except errors.LeaseLostError as error:
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
