"""Judging a round from a seat: alone in this process, or as one worker of several."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass

from arena.services.attacks import attacks_of
from arena.services.interrupts import stopping_on_interrupt
from arena.services.running import Post, Report, judge_pending
from arena.services.seating import Seating, leaving_after
from data.errors import ConflictError, StoreError
from data.records import Job, JobKind, NewJob, Round, RoundState, Seat
from data.store import Store
from data.store.leaving import Leaving
from judges.base import Judge
from judges.spec import JudgeSpec

RESUMABLE = (RoundState.PLANNED, RoundState.RUNNING, RoundState.PAUSED)
OpenJudge = Callable[[JudgeSpec, Round, int, asyncio.Event, int], AbstractAsyncContextManager[Judge]]


@dataclass(frozen=True, slots=True)
class RoundRunner:
    """Judges rounds from seats."""

    store: Store
    seating: Seating
    open_judge: OpenJudge

    def run_alone(self, found: Round, spec: JudgeSpec, *, concurrency: int, report: Report) -> None:
        """Judge what is pending in this process, with nobody else, until the end or an interrupt.

        Raises:
            ConflictError: The round has ended, or somebody else judges it.
            JudgeError: Judging cannot go on; the round is paused.
        """
        job, seat = self.begin(found)
        try:
            asyncio.run(self._until_interrupted(found, spec, seat, concurrency, report))
        except BaseException as error:
            # A round whose database is gone stays `running`, which can be resumed as well.
            with suppress(StoreError):
                self.seating.leave(seat, leaving_after(error, job.attempts))
            raise
        self.seating.leave(seat, Leaving())

    def begin(self, found: Round, *, workers: int = 1) -> tuple[Job, Seat]:
        """Put a job for this process alone, and take the first seat at it.

        Raises:
            ConflictError: The round has ended, or has another job.
        """
        self.seating.give_up_dead()
        require_resumable(found)
        owner = f"{self.seating.worker.name}:{uuid.uuid4().hex[:12]}"
        job = self.store.jobs.put(NewJob(kind=JobKind.JUDGE, round_id=found.id, owner=owner, workers=workers))
        taken = self.seating.take(owner=owner, job_id=job.id)
        if taken is None:
            raise ConflictError(f"Job {job.id} was taken away.", advice="Start the round again.")
        return taken

    async def judge(
        self,
        found: Round,
        spec: JudgeSpec,
        seat: Seat,
        *,
        concurrency: int,
        report: Report,
        stop: asyncio.Event,
        shared: bool,
    ) -> None:
        """Judge from a seat until nothing is free, the job is no longer wanted, or `stop` is set.

        Raises:
            JudgeError: Judging cannot go on; what was decided until then is committed.
            LeaseLostError: The seat was given up.
            StoreError: The database cannot be used.
        """
        total = await asyncio.to_thread(self._prepare, found, seat)
        post = Post(seat_id=seat.id, round_id=found.id, lease=self.seating.lease, shared=shared)
        async with self.open_judge(spec, found, concurrency, stop, seat.id) as judge:
            await judge_pending(
                self.store, post, judge, total=total, concurrency=concurrency, report=report, stop=stop
            )

    def _prepare(self, found: Round, seat: Seat) -> int:
        """Let the round run, with an account in order, and count what is pending."""
        if all(other.id == seat.id for other in self.store.seats.of_round(found.id)):
            self.store.ledgers.release(found.id)
        self.store.rounds.move(found.name, to=RoundState.RUNNING, allowed=RESUMABLE)
        canaries = attacks_of(self.store.canaries.of_round(found.name))
        return self.store.rounds.counts(found.name).pending + canaries.pending

    async def _until_interrupted(
        self, found: Round, spec: JudgeSpec, seat: Seat, concurrency: int, report: Report
    ) -> None:
        stop = asyncio.Event()
        with stopping_on_interrupt(stop):
            await self.judge(
                found, spec, seat, concurrency=concurrency, report=report, stop=stop, shared=False
            )


def require_resumable(found: Round) -> None:
    """Check that a round can be judged.

    Raises:
        ConflictError: It has ended.
    """
    if found.state not in RESUMABLE:
        raise ConflictError(
            f"Round {found.name} is {found.state}, so it cannot become {RoundState.RUNNING}.",
            advice=f"It would have to be {' or '.join(RESUMABLE)}.",
        )
