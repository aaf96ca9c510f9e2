"""Judging rounds in waves: proxy judges first, then wave after wave of the round's own judge."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from arena.services.judging.conduct import ConductGuard
from arena.services.judging.traffic import OpenedJudge
from arena.services.rounds.judging_loop import ClaimContext, judge_pending
from arena.services.rounds.models import LoadSpec, stored_spec
from arena.services.rounds.runner import RoundRunner
from arena.services.rounds.waves.settings import waves_of
from data.progress import Report
from data.records import Lease, Round
from judges.spec import JudgeSpec

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
            SpecError: A proxy judge is not what the round began with.
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
        claims = ClaimContext(
            lease_id=lease.id,
            round_id=round_.id,
            lease=self.job_leases.lease,
            shared=shared,
            seed=round_.seed,
        )

        async def ask(opened: OpenedJudge, total: int, cheap: int | None = None) -> None:
            await judge_pending(
                self.store,
                replace(claims, cheap=cheap),
                opened,
                total=total,
                concurrency=concurrency,
                report=report,
                stop=stop,
                guard=ConductGuard.of_round(round_) if cheap is None else None,
            )

        for place, cheap_spec in enumerate(specs):
            pending = (await asyncio.to_thread(self._cheap_pending, round_)).get(place, 0)
            if cheap_spec is not None and pending and not stop.is_set():
                async with self.open_judge(cheap_spec, round_, concurrency, stop, lease.id) as opened:
                    await ask(opened, pending, place)
        if stop.is_set() or any((await asyncio.to_thread(self._cheap_pending, round_)).values()):
            return
        from arena.services.rounds.waves.plans import WavePlanner  # noqa: PLC0415 - loads what only planning needs

        planner, goes_on = WavePlanner(self.store, round_, settings), True
        async with self.open_judge(spec, round_, concurrency, stop, lease.id) as opened:
            while goes_on:
                await ask(opened, await asyncio.to_thread(self.store.waves.open_count, round_.id))
                goes_on = not stop.is_set() and await self._attended(planner.advance, lease, stop)

    def _cheap_pending(self, round_: Round) -> dict[int, int]:
        """How many battles each proxy judge is still to be asked about, by its place."""
        return {count.place: count.pending for count in self.store.waves.cheap(round_.id)}

    async def _attended(self, advance: Callable[[], bool], lease: Lease, stop: asyncio.Event) -> bool:
        """Draw the next wave in a thread, with heartbeats meanwhile; False where there is none."""
        task = asyncio.create_task(asyncio.to_thread(advance))
        while not task.done():
            await asyncio.wait([task], timeout=BEAT_EVERY)
            now = await asyncio.to_thread(self.store.leases.beat, lease.id, lease=self.job_leases.lease)
            if not now.wanted:
                stop.set()
        return task.result() and not stop.is_set()
