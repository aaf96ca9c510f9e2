"""Makes the pending calls of a retest under a lease, until the end or an interrupt."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from arena.services.jobs.draining import commit_until, drained
from arena.services.jobs.heartbeats import heartbeats
from arena.services.rounds.judging_loop import contest
from data.errors import LeaseLostError, StoppedError, StoreError
from data.progress import Progress, Report, Stopwatch
from data.records import Lease, Verdict
from data.records.retests import PendingCall, Retest
from data.store import Store
from judges.base import Judge

COMMIT_EVERY = 0.25
BATCH = 500


@dataclass(slots=True)
class _Run:
    """One run over a retest's calls: what was settled and not yet committed, and why it stops."""

    store: Store
    retest: Retest
    lease: Lease
    judges: Mapping[str, Judge]
    total: int
    report: Report
    stopping: asyncio.Event
    watch: Stopwatch = field(default_factory=Stopwatch)
    settled: list[tuple[int, Verdict]] = field(default_factory=list)
    finished: asyncio.Event = field(default_factory=asyncio.Event)
    done: int = 0
    failure: Exception | None = None

    def fail(self, error: Exception) -> None:
        """Keep the first error and stop."""
        self.failure = self.failure or error
        self.stopping.set()


async def ask_pending(
    store: Store,
    retest: Retest,
    lease: Lease,
    judges: Mapping[str, Judge],
    *,
    lease_seconds: float,
    concurrency: int,
    report: Report,
    stop: asyncio.Event,
) -> None:
    """Ask what is pending of a retest; `concurrency` calls are in flight.

    Once `stop` is set, calls in flight finish and the rest stays pending.

    Raises:
        LeaseLostError: The lease was given up; what was not committed is discarded.
        JudgeError: Asking cannot go on; what was decided until then is committed.
        StoreError: The database cannot be used; what could not be committed is pending.
    """
    total = (await asyncio.to_thread(store.retests.counts, retest)).pending
    run = _Run(store, retest, lease, judges, total, report, stop)
    queue: asyncio.Queue[PendingCall | None] = asyncio.Queue(maxsize=2 * concurrency)
    writer = asyncio.create_task(commit_until(run.finished, lambda: _commit(run), every=COMMIT_EVERY))
    workers = [asyncio.create_task(_work(run, queue)) for _ in range(concurrency)]
    async with drained(workers, writer, run.finished), heartbeats(store, lease.id, lease_seconds, run):
        await asyncio.gather(_feed(run, queue, concurrency), *workers)
    if run.failure is not None:
        raise run.failure


async def _feed(run: _Run, queue: asyncio.Queue[PendingCall | None], workers: int) -> None:
    after, take = 0, run.store.retests.pending
    try:
        while not run.stopping.is_set():
            batch = await asyncio.to_thread(take, run.retest.id, after=after, limit=BATCH)
            if not batch:
                break
            after = batch[-1].id
            for call in batch:
                await queue.put(call)
    except StoreError as error:
        run.fail(error)
    for _ in range(workers):
        await queue.put(None)


async def _work(run: _Run, queue: asyncio.Queue[PendingCall | None]) -> None:
    while (call := await queue.get()) is not None:
        if run.stopping.is_set():
            continue
        try:
            verdict = await run.judges[call.wording].judge(contest(call.battle, call))
        except StoppedError:
            # It stays pending, for the next run.
            continue
        except Exception as error:  # noqa: BLE001 - raised to the caller once the run has stopped
            run.fail(error)
            continue
        run.settled.append((call.id, verdict))


async def _commit(run: _Run) -> None:
    batch, run.settled = run.settled, []
    if not batch:
        return
    record = run.store.retests.record
    try:
        await asyncio.to_thread(record, run.retest.id, batch, lease_id=run.lease.id)
    except (StoreError, LeaseLostError) as error:
        # What could not be committed stays pending; replies that were paid for are cached.
        run.fail(error)
        return
    run.done += len(batch)
    run.report(Progress(run.done, run.total, run.watch.seconds))
