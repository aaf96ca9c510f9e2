"""Judging rounds in waves: cheap judges first, then wave after wave of the round's own judge."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.services.judging.conduct import ConductGuard
from arena.services.judging.traffic import OpenedJudge
from arena.services.rounds.judging_loop import ClaimContext, judge_pending
from arena.services.rounds.models import LoadSpec, stored_spec
from arena.services.rounds.runner import RoundRunner
from arena.services.rounds.waves.settings import WaveSettings, waves_of
from data.progress import Report
from data.records import Lease, Round
from judges.spec import JudgeSpec

if TYPE_CHECKING:
    # Loads what only planning a wave needs; workers judge without.
    from arena.services.rounds.waves.plans import WavePlanner

BEAT_EVERY = 1.0


@dataclass(frozen=True, slots=True)
class WaveRunner(RoundRunner):
    """Judges rounds from leases, those in waves too."""

    load_spec: LoadSpec

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
        """Judge under a lease until nothing is free and no wave follows; see `RoundRunner.judge`.

        Whoever finds a wave complete draws the next one. A worker that finds nothing free while others still
        judge leaves, and comes back when there is a next wave.

        Raises:
            JudgeError: Judging cannot go on; what was decided until then is committed.
            LeaseLostError: The lease was given up.
            StoreError: The database cannot be used.
            SpecError: A cheap judge is not what the round began with.
        """
        settings = waves_of(round_)
        if settings is None:
            await RoundRunner.judge(
                self, round_, spec, lease, concurrency=concurrency, report=report, stop=stop, shared=shared
            )
            return
        specs = [
            None
            if judge.spec is None
            else await asyncio.to_thread(stored_spec, judge.spec, judge.name, round_.name, self.load_spec)
            for judge in settings.cheap
        ]
        await asyncio.to_thread(self.prepare, round_, lease)
        for place, cheap_spec in enumerate(specs):
            if cheap_spec is not None:
                run = _WaveRun(self, round_, lease, concurrency, report, stop, shared, cheap=place)
                await run.ask(cheap_spec)
        if stop.is_set() or any(
            count.pending for count in await asyncio.to_thread(self.store.waves.cheap, round_.id)
        ):
            return
        await _WaveRun(self, round_, lease, concurrency, report, stop, shared).ask_in_waves(spec, settings)


@dataclass(frozen=True, slots=True)
class _WaveRun:
    """One worker at one judge of a round in waves."""

    runner: WaveRunner
    round_: Round
    lease: Lease
    concurrency: int
    report: Report
    stop: asyncio.Event
    shared: bool
    cheap: int | None = None

    async def ask(self, spec: JudgeSpec) -> None:
        """Ask a cheap judge about every battle that it was not asked about."""
        counts = await asyncio.to_thread(self.runner.store.waves.cheap, self.round_.id)
        pending = sum(count.pending for count in counts if count.place == self.cheap)
        if not pending or self.stop.is_set():
            return
        async with self._opened(spec) as opened:
            await self._judge_pending(opened, pending)

    async def ask_in_waves(self, spec: JudgeSpec, settings: WaveSettings) -> None:
        """Ask the round's own judge about wave after wave, and draw the next where one is complete."""
        from arena.services.rounds.waves.plans import WavePlanner  # noqa: PLC0415 - loads what only planning needs

        store = self.runner.store
        planner = WavePlanner(store, self.round_, settings)
        async with self._opened(spec) as opened:
            while True:
                total = await asyncio.to_thread(store.waves.open_count, self.round_.id)
                await self._judge_pending(opened, total)
                if self.stop.is_set() or not await self._attended(planner):
                    return

    async def _attended(self, planner: WavePlanner) -> bool:
        """Draw the next wave in a thread, with heartbeats meanwhile; False where there is none."""
        task = asyncio.create_task(asyncio.to_thread(planner.advance))
        beat = self.runner.store.leases.beat
        while not task.done():
            await asyncio.wait([task], timeout=BEAT_EVERY)
            now = await asyncio.to_thread(beat, self.lease.id, lease=self.runner.job_leases.lease)
            if not now.wanted:
                self.stop.set()
        return task.result() and not self.stop.is_set()

    def _opened(self, spec: JudgeSpec) -> AbstractAsyncContextManager[OpenedJudge]:
        return self.runner.open_judge(spec, self.round_, self.concurrency, self.stop, self.lease.id)

    async def _judge_pending(self, opened: OpenedJudge, total: int) -> None:
        claims = ClaimContext(
            lease_id=self.lease.id,
            round_id=self.round_.id,
            lease=self.runner.job_leases.lease,
            shared=self.shared,
            cheap=self.cheap,
            seed=self.round_.seed,
        )
        await judge_pending(
            self.runner.store,
            claims,
            opened,
            total=total,
            concurrency=self.concurrency,
            report=self.report,
            stop=self.stop,
            guard=ConductGuard.of_round(self.round_) if self.cheap is None else None,
        )
