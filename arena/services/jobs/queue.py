"""Job queue and leases of workers."""

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
START_FIELD = 19  # starttime of /proc/PID/stat, counted after the name, which may contain spaces (proc(5)).


@dataclass(frozen=True, slots=True)
class JobLeases:
    """Leases of a worker on jobs; `lease` is in seconds.

    A lease that cannot be released while the database is unavailable is released before the next call.
    """

    store: Store
    worker: WorkerId
    lease: float
    _pending: list[tuple[Lease, Release]] = field(default_factory=list)

    def take(self, *, owner: str = "", job_id: int | None = None) -> tuple[Job, Lease] | None:
        """Lease the first unleased job."""
        self.release_pending()
        leases, lease = self.store.leases, self.lease
        return leases.take(self.worker, lease=lease, gone=has_ended, owner=owner, job_id=job_id)

    def begin(self, round_id: int) -> tuple[Job, Lease]:
        """Queue a job that only this process may take, and take its first lease."""
        self.give_up_dead()
        owner = f"{self.worker.name}:{uuid.uuid4().hex[:12]}"
        job = self.store.jobs.put(JobKind.JUDGE, round_id=round_id, owner=owner)
        lease = self.take(owner=owner, job_id=job.id)
        if lease is None:
            raise errors.ConflictError(f"Another worker has taken job {job.id}.", advice="Start it again.")
        return lease

    def release(self, lease: Lease, release: Release) -> None:
        """Release a lease, later if the database is unavailable."""
        try:
            self.store.leases.release(lease.id, release)
        except errors.StoreError:
            self._pending.append((lease, release))
            raise

    @contextmanager
    def held(self, lease: Lease, *, attempts: int = 0) -> Iterator[None]:
        """Release a lease at the end of the block, with its error if any."""
        try:
            yield
        except BaseException as error:
            # The work's error takes precedence; the lease stays pending, and a running round can be resumed.
            with suppress(errors.StoreError):
                self.release(lease, release_after(error, attempts))
            raise
        self.release(lease, Release())

    def release_pending(self) -> None:
        """Release the leases whose release failed."""
        while self._pending:
            lease, release = self._pending[0]
            self.store.leases.release(lease.id, release)
            # Another thread may have removed it already.
            self._pending[:1] = []

    def give_up_dead(self) -> int:
        """End the leases of workers whose process has ended, and this worker's pending ones."""
        self.release_pending()
        return self.store.leases.give_up(has_ended)


def release_after(error: BaseException, attempts: int) -> Release:
    """Return the release of a lease after an error; temporary failures are retried with growing waits."""
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
    """Send heartbeats from a thread until the block ends, even if the event loop is blocked.

    `unwanted` is called once the job is cancelled, `failed` if the lease is lost or the database fails;
    `work` returns the progress to store.
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
    """Identify this process, by default by host and pid."""
    pid = os.getpid()
    name = name or f"{socket.gethostname()}-{pid}"
    return WorkerId(name=name, place=_place(), pid=pid, started=_started(pid))


def has_ended(worker: WorkerId) -> bool:
    """Return whether a worker's process has ended; False if this machine cannot tell."""
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
    """Identify this machine's boot and process namespace; empty if unknown."""
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
    # A zombie keeps its pid until its parent waits for it.
    return "" if state == "Z" else start
