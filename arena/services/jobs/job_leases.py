"""How this process takes and releases leases on jobs."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from threading import Lock

from arena.services.jobs.worker_identity import has_ended
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
from data.records import Job, Lease, NewJob, WorkerId
from data.store import Store
from data.store.jobs.leases import Release

FIRST_WAIT = 10.0
NOT_RETRIED = (InputError, NotFoundError, ConflictError, JudgeError)
NOT_THE_JOBS_FAULT = (StoppedError, LeaseLostError, StoreError)


@dataclass(frozen=True, slots=True)
class JobLeases:
    """One worker's leases on jobs of the queue; `lease` is in seconds.

    A lease that cannot be released, since the database is away or full, stays pending: it is released before
    the next call, so that a process that goes on does not block itself.
    """

    store: Store
    worker: WorkerId
    lease: float
    _pending: list[tuple[Lease, Release]] = field(default_factory=list)
    _releasing: Lock = field(default_factory=Lock)

    def take(self, *, owner: str = "", job_id: int | None = None) -> tuple[Job, Lease] | None:
        """Take a lease on the first job that has one free."""
        self.release_pending()
        return self.store.leases.take(
            self.worker, lease=self.lease, gone=has_ended, owner=owner, job_id=job_id
        )

    def begin(self, new: NewJob, *, advice: str) -> tuple[Job, Lease]:
        """Put a job for this process alone, and take the first lease at it.

        Args:
            new: The job; its owner becomes this process.
            advice: What to do where it was taken away.

        Raises:
            ConflictError: The round has ended or has another job, or the job was taken away.
        """
        self.give_up_dead()
        owner = f"{self.worker.name}:{uuid.uuid4().hex[:12]}"
        job = self.store.jobs.put(replace(new, owner=owner))
        taken = self.take(owner=owner, job_id=job.id)
        if taken is None:
            raise ConflictError(f"Job {job.id} was taken away.", advice=advice)
        return taken

    def release(self, lease: Lease, release: Release) -> None:
        """Release a lease.

        Raises:
            StoreError: The database cannot be used; the lease is released as soon as it can.
        """
        try:
            self.store.leases.release(lease.id, release)
        except StoreError:
            self._pending.append((lease, release))
            raise

    @contextmanager
    def held(
        self, lease: Lease, *, attempts: int = 0, is_done: Callable[[], bool] = lambda: False
    ) -> Iterator[None]:
        """Release a lease when the work from it is over, with what broke it off.

        `is_done` says whether a job that judges no round is finished then.

        Raises:
            StoreError: The work is done, but the database cannot be used.
        """
        try:
            yield
        except BaseException as error:
            # The error of the work is raised. Without a database the lease stays pending, and a round stays
            # `running`, which can be resumed as well.
            with suppress(StoreError):
                self.release(lease, release_after(error, attempts))
            raise
        self.release(lease, Release(finished=is_done()))

    def release_pending(self) -> None:
        """Release the leases that could not be released when it was time.

        Raises:
            StoreError: They still cannot be.
        """
        with self._releasing:
            while self._pending:
                lease, release = self._pending[0]
                self.store.leases.release(lease.id, release)
                self._pending.pop(0)

    def give_up_dead(self) -> int:
        """Give up the workers that are known to have ended, and release this one's pending leases."""
        self.release_pending()
        return self.store.leases.give_up(has_ended)


def release_after(error: BaseException, attempts: int) -> Release:
    """How to release a lease after an error: temporary failures are retried, with growing waits."""
    if isinstance(error, NOT_THE_JOBS_FAULT):
        # Nothing is wrong with the job: somebody stopped it, or the database was away.
        return Release()
    message = str(error) if isinstance(error, ArenaError) else f"{type(error).__name__}: {error}"
    final = isinstance(error, NOT_RETRIED) and not isinstance(error, EndpointError)
    return Release(error=message, final=final, retry_in=FIRST_WAIT * 2**attempts)
