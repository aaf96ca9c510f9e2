"""How this process takes and releases leases on jobs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

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
from data.records import Job, Lease, WorkerId
from data.store import Store
from data.store.jobs.leases import Release

FIRST_WAIT = 10.0
HOPELESS = (InputError, NotFoundError, ConflictError, JudgeError)
HARMLESS = (StoppedError, LeaseLostError, StoreError)


@dataclass(frozen=True, slots=True)
class JobLeases:
    """One worker's dealings with the queue; `lease` is in seconds.

    A lease that cannot be left, since the database is away or full, is owed: it is left before the next
    dealing, so that a process that lives on does not stand in its own way.
    """

    store: Store
    worker: WorkerId
    lease: float
    _owed: list[tuple[Lease, Release]] = field(default_factory=list)

    def take(self, *, owner: str = "", job_id: int | None = None) -> tuple[Job, Lease] | None:
        """Take a lease on the first job that has one free."""
        self.release_pending()
        return self.store.leases.take(
            self.worker, lease=self.lease, gone=has_ended, owner=owner, job_id=job_id
        )

    def release(self, lease: Lease, release: Release) -> None:
        """Release a lease.

        Raises:
            StoreError: The database cannot be used; the lease is left as soon as it can.
        """
        try:
            self.store.leases.release(lease.id, release)
        except StoreError:
            self._owed.append((lease, release))
            raise

    @contextmanager
    def held(self, lease: Lease, *, attempts: int = 0) -> Iterator[None]:
        """Release a lease when the work from it is over, with what broke it off.

        Raises:
            StoreError: The work is done, but the database cannot be told.
        """
        try:
            yield
        except BaseException as error:
            # What broke the work off is told. Where the database is gone the lease is owed, and a round stays
            # `running`, which can be resumed as well.
            with suppress(StoreError):
                self.release(lease, release_after(error, attempts))
            raise
        self.release(lease, Release())

    def release_pending(self) -> None:
        """Leave the leases that could not be left when it was time.

        Raises:
            StoreError: They still cannot be.
        """
        while self._owed:
            lease, release = self._owed[0]
            self.store.leases.release(lease.id, release)
            self._owed.pop(0)

    def give_up_dead(self) -> int:
        """Give up the workers that are known to be dead, and this one's leases that could not be left."""
        self.release_pending()
        return self.store.leases.give_up(has_ended)


def release_after(error: BaseException, attempts: int) -> Release:
    """How to release a lease after an error: what may mend itself is tried again, with growing waits."""
    if isinstance(error, HARMLESS):
        # Nothing is wrong with the job: somebody stopped it, or the database was away.
        return Release()
    said = str(error) if isinstance(error, ArenaError) else f"{type(error).__name__}: {error}"
    final = isinstance(error, HOPELESS) and not isinstance(error, EndpointError)
    return Release(error=said, final=final, retry_in=FIRST_WAIT * 2**attempts)
