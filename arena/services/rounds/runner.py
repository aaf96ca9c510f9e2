"""Judging a round under a lease: alone in this process, or as one worker of several."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from arena.services.jobs.cancellation import stopping_on_interrupt
from arena.services.jobs.job_leases import JobLeases
from arena.services.judging.conduct import ConductGuard
from arena.services.judging.traffic import OpenedJudge
from arena.services.rounds.judging_loop import JudgingLoop
from data.models import Lease, Round, RoundState
from data.models.rounds import RESUMABLE, require_resumable
from data.progress import Report
from data.store import Store
from judges.spec import JudgeSpec

OpenJudge = Callable[[JudgeSpec, Round, int, asyncio.Event, int], AbstractAsyncContextManager[OpenedJudge]]


@dataclass(frozen=True, slots=True)
class RoundRunner:
    """Judges rounds from leases."""

    store: Store
    job_leases: JobLeases
    open_judge: OpenJudge

    def run_alone(self, round_: Round, spec: JudgeSpec, *, concurrency: int, report: Report) -> None:
        """Judge what is pending in this process, with nobody else, until the end or an interrupt.

        Raises:
            ConflictError: The round has ended, or somebody else judges it.
            JudgeError: Judging cannot go on; the round is paused.
        """
        require_resumable(round_)
        job, lease = self.job_leases.begin(round_.id)
        with self.job_leases.held(lease, attempts=job.attempts):
            asyncio.run(self._until_interrupted(round_, spec, lease, concurrency, report))

    async def judge(
        self,
        round_: Round,
        spec: JudgeSpec,
        lease: Lease,
        *,
        concurrency: int,
        report: Report,
        stop: asyncio.Event,
        shared: bool,
    ) -> None:
        """Judge under a lease until nothing is free, the job is no longer wanted, or `stop` is set.

        Raises:
            JudgeError: Judging cannot go on; what was decided until then is committed.
            LeaseLostError: The lease was given up.
            StoreError: The database cannot be used.
        """
        total = await asyncio.to_thread(self.prepare, round_, lease)
        async with self.open_judge(spec, round_, concurrency, stop, lease.id) as opened:
            loop = JudgingLoop(
                store=self.store,
                opened=opened,
                lease_id=lease.id,
                lease=self.job_leases.lease,
                round_id=round_.id,
                seed=round_.seed,
                shared=shared,
                total=total,
                report=report,
                stopping=stop,
                guard=ConductGuard.of_round(round_),
            )
            await loop.run(concurrency)

    def prepare(self, round_: Round, lease: Lease) -> int:
        """Let the round run, with an account in order, and count what is pending."""
        if all(other.id == lease.id for other in self.store.leases.all(round_id=round_.id)):
            self.store.ledgers.release(round_.id)
        self.store.rounds.move(round_.name, to=RoundState.RUNNING, allowed=RESUMABLE)
        return self.store.rounds.counts(round_.name).pending

    async def _until_interrupted(
        self, round_: Round, spec: JudgeSpec, lease: Lease, concurrency: int, report: Report
    ) -> None:
        stop = asyncio.Event()
        with stopping_on_interrupt(stop):
            await self.judge(
                round_, spec, lease, concurrency=concurrency, report=report, stop=stop, shared=False
            )
