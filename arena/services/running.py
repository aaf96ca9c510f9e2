"""The judge loop: pending battles and canaries in, verdicts committed at least once a second.

Any number of battles may be in flight; a verdict is in the database before the next progress report,
so a kill loses only what was in flight, and going on asks only what has no outcome.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice

from data.errors import StoppedError, StoreError
from data.records import PendingBattle, RoundState, Verdict
from data.store import Store
from judges.base import Contest, Judge

COMMIT_EVERY = 0.25
BATCH = 500
LEAST_WORKERS = 256
STATE_EVERY = 1.0


@dataclass(frozen=True, slots=True)
class Stopwatch:
    """Seconds since it was made."""

    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return time.monotonic() - self.started


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: battles ended of those that were pending, and seconds so far."""

    done: int
    total: int
    seconds: float

    @property
    def rate(self) -> float:
        """Battles a second so far."""
        return self.done / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """The estimated time to the end in seconds; None before the first verdict."""
        return (self.total - self.done) / self.rate if self.rate > 0 else None


Report = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class _Task:
    """What a worker takes: a battle of the round, or a canary of it."""

    battle: PendingBattle
    canary: bool = False


@dataclass(slots=True)
class _Run:
    """One run of the loop: its queues and its reasons to stop."""

    store: Store
    name: str
    judge: Judge
    total: int
    report: Report
    watch: Stopwatch = field(default_factory=Stopwatch)
    done: int = 0
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    finished: asyncio.Event = field(default_factory=asyncio.Event)
    failure: Exception | None = None
    settled: list[tuple[int, Verdict]] = field(default_factory=list)
    settled_canaries: list[tuple[int, Verdict]] = field(default_factory=list)

    def fail(self, error: Exception) -> None:
        """Keep the first error and stop: workers go on emptying the queue, so that nobody waits for ever."""
        self.failure = self.failure or error
        self.stopping.set()


async def judge_pending(
    store: Store,
    name: str,
    judge: Judge,
    *,
    total: int,
    concurrency: int,
    report: Report,
    stop: asyncio.Event,
) -> RoundState:
    """Judge the pending battles and canaries of a running round until none is left or it is told to stop.

    Args:
        store: Where battles come from and verdicts go.
        name: The round.
        judge: Who decides.
        total: How many battles and canaries are pending, for the progress reports.
        concurrency: Calls in flight at most, which LLM access holds to. At least 256 battles are looked at
            together, so that those whose replies are kept already do not wait for those that are asked.
        report: Called after every commit.
        stop: Set from outside to stop: battles in flight finish, the rest stays pending.

    Returns:
        The state the round was found in at the end: RUNNING unless somebody paused or cancelled it.

    Raises:
        JudgeError: Judging cannot go on; what was decided until then is committed.
        StoreError: The database cannot be used; what could not be committed is pending.
    """
    run = _Run(store, name, judge, total, report, stopping=stop)
    count = max(concurrency, LEAST_WORKERS)
    queue: asyncio.Queue[_Task | None] = asyncio.Queue(maxsize=2 * count)
    watcher = asyncio.create_task(_watch(run))
    writer = asyncio.create_task(_write(run))
    workers = [asyncio.create_task(_work(run, queue)) for _ in range(count)]
    try:
        await asyncio.gather(_feed(run, queue, count), *workers)
    finally:
        for task in (*workers, watcher):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        # The writer is told, not cancelled: a cancelled commit would lose the batch it holds.
        run.finished.set()
        await writer
    if run.failure is not None:
        raise run.failure
    return await asyncio.to_thread(store.rounds.state, name)


async def _feed(run: _Run, queue: asyncio.Queue[_Task | None], workers: int) -> None:
    try:
        await _feed_tasks(run, queue)
    except StoreError as error:
        run.fail(error)
    for _ in range(workers):
        await queue.put(None)


async def _feed_tasks(run: _Run, queue: asyncio.Queue[_Task | None]) -> None:
    for canary in await asyncio.to_thread(run.store.canaries.pending, run.name):
        await queue.put(_Task(canary, canary=True))
    pending = run.store.rounds.pending(run.name)
    while not run.stopping.is_set():
        batch = await asyncio.to_thread(_take, pending)
        if not batch:
            break
        for battle in batch:
            if run.stopping.is_set():
                break
            await queue.put(_Task(battle))


def _take(pending: Iterator[PendingBattle]) -> list[PendingBattle]:
    return list(islice(pending, BATCH))


async def _work(run: _Run, queue: asyncio.Queue[_Task | None]) -> None:
    while (task := await queue.get()) is not None:
        if run.stopping.is_set():
            continue
        try:
            verdict = await run.judge.judge(_contest(task.battle))
        except StoppedError:
            # The battle stays pending, for whoever goes on.
            continue
        except Exception as error:  # noqa: BLE001 - raised by whoever waits for the run, once it has stopped
            run.fail(error)
            continue
        (run.settled_canaries if task.canary else run.settled).append((task.battle.id, verdict))
        # An embedded judge never waits, so it would keep the writer from its turn.
        await asyncio.sleep(0)


def _contest(battle: PendingBattle) -> Contest:
    return Contest(
        battle_id=battle.key,
        question=battle.question,
        answer_a=battle.answer_a,
        answer_b=battle.answer_b,
        reference_side=battle.reference_side,
    )


async def _write(run: _Run) -> None:
    while not run.finished.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(run.finished.wait(), COMMIT_EVERY)
        await _try_flush(run)
    # What was settled during the last commit has not been looked at yet.
    await _try_flush(run)


async def _try_flush(run: _Run) -> None:
    try:
        await _flush(run)
    except StoreError as error:
        # What could not be committed stays pending in the store; replies that were paid for are cached.
        run.fail(error)


async def _flush(run: _Run) -> None:
    batch, run.settled = run.settled, []
    canaries, run.settled_canaries = run.settled_canaries, []
    if canaries:
        await asyncio.to_thread(run.store.canaries.record, canaries)
    if batch:
        await asyncio.to_thread(run.store.verdicts.record, batch)
    if batch or canaries:
        run.done += len(batch) + len(canaries)
        run.report(Progress(run.done, run.total, run.watch.seconds))


async def _watch(run: _Run) -> None:
    while True:
        await asyncio.sleep(STATE_EVERY)
        try:
            state = await asyncio.to_thread(run.store.rounds.state, run.name)
        except StoreError as error:
            run.fail(error)
            return
        if state is not RoundState.RUNNING:
            run.stopping.set()
