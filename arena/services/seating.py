"""How this process takes and leaves seats at jobs."""

from __future__ import annotations

from dataclasses import dataclass, field

from arena.identity import has_ended
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
from data.records import Job, Seat, WorkerId
from data.store import Store
from data.store.leaving import Leaving

FIRST_WAIT = 10.0
HOPELESS = (InputError, NotFoundError, ConflictError, JudgeError)
HARMLESS = (StoppedError, LeaseLostError, StoreError)


@dataclass(frozen=True, slots=True)
class Seating:
    """One worker's dealings with the queue; `lease` is in seconds.

    A seat that cannot be left, since the database is away or full, is owed: it is left before the next
    dealing, so that a process that lives on does not stand in its own way.
    """

    store: Store
    worker: WorkerId
    lease: float
    _owed: list[tuple[Seat, Leaving]] = field(default_factory=list)

    def take(self, *, owner: str = "", job_id: int | None = None) -> tuple[Job, Seat] | None:
        """Take a seat at the first job that has one free."""
        self.pay_debts()
        return self.store.seats.take(
            self.worker, lease=self.lease, gone=has_ended, owner=owner, job_id=job_id
        )

    def leave(self, seat: Seat, leaving: Leaving) -> None:
        """Give a seat back.

        Raises:
            StoreError: The database cannot be used; the seat is left as soon as it can.
        """
        try:
            self.store.seats.leave(seat.id, leaving)
        except StoreError:
            self._owed.append((seat, leaving))
            raise

    def pay_debts(self) -> None:
        """Leave the seats that could not be left when it was time.

        Raises:
            StoreError: They still cannot be.
        """
        while self._owed:
            seat, leaving = self._owed[0]
            self.store.seats.leave(seat.id, leaving)
            self._owed.pop(0)

    def give_up_dead(self) -> int:
        """Give up the workers that are known to be dead, and this one's seats that could not be left."""
        self.pay_debts()
        return self.store.seats.give_up(has_ended)


def leaving_after(error: BaseException, attempts: int) -> Leaving:
    """How to leave a seat after an error: what may mend itself is tried again, with growing waits."""
    if isinstance(error, HARMLESS):
        # Nothing is wrong with the job: somebody stopped it, or the database was away.
        return Leaving()
    said = str(error) if isinstance(error, ArenaError) else f"{type(error).__name__}: {error}"
    final = isinstance(error, HOPELESS) and not isinstance(error, EndpointError)
    return Leaving(error=said, final=final, retry_in=FIRST_WAIT * 2**attempts)
