"""The judge loop: pending battles and canaries in, verdicts committed at least once a second.

Any number of battles may be in flight; a verdict is in the database before the next progress report,
so a kill loses only what was in flight, and going on asks only what has no outcome.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from arena.services.collector import rare_collections
from data.errors import LeaseLostError, StoppedError, StoreError
from data.records import PendingBattle, Verdict
from data.store import Store
from judges.base import Contest, Judge

COMMIT_EVERY = 0.25
BATCH = 500
LEAST_WORKERS = 256
LEAST_SHARE = 8
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """Where a run works from.

    Attributes:
        seat_id: The seat, which holds what is judged and fences off a run that was given up.
        round_id: The round.
        lease: Seconds without a heartbeat after which the run counts as dead.
        shared: Whether others judge the same round, so that no more is held than is soon asked.
    """

    seat_id: int
    round_id: int
    lease: float
    shared: bool = False


@dataclass(slots=True)
class _Run:
    """One run of the loop: its queues and its reasons to stop."""

    store: Store
    post: Post
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
    post: Post,
    judge: Judge,
    *,
    total: int,
    concurrency: int,
    report: Report,
    stop: asyncio.Event,
) -> None:
    """Judge the pending battles and canaries of a running round until none is free or it is told to stop.

    Args:
        store: Where battles come from and verdicts go.
        post: The seat that it works from.
        judge: Who decides.
        total: How many battles and canaries are pending, for the progress reports.
        concurrency: Calls in flight at most, which LLM access holds to. At least 256 battles are looked at
            together, so that those whose replies are kept already do not wait for those that are asked.
        report: Called after every commit.
        stop: Set from outside to stop: battles in flight finish, the rest stays pending.

    Raises:
        LeaseLostError: The seat was given up; what was not committed is discarded.
        JudgeError: Judging cannot go on; what was decided until then is committed.
        StoreError: The database cannot be used; what could not be committed is pending.
    """
    run = _Run(store, post, judge, total, report, stopping=stop)
    count = concurrency if post.shared else max(concurrency, LEAST_WORKERS)
    queue: asyncio.Queue[_Task | None] = asyncio.Queue(maxsize=count if post.shared else 2 * count)
    watcher = asyncio.create_task(_watch(run))
    writer = asyncio.create_task(_write(run))
    workers = [asyncio.create_task(_work(run, queue)) for _ in range(count)]
    try:
        with rare_collections():
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


async def _feed(run: _Run, queue: asyncio.Queue[_Task | None], workers: int) -> None:
    share = min(BATCH, max(workers, LEAST_SHARE)) if run.post.shared else BATCH
    try:
        await _feed_canaries(run, queue, share)
        await _feed_battles(run, queue, share)
    except (StoreError, LeaseLostError) as error:
        run.fail(error)
    for _ in range(workers):
        await queue.put(None)


async def _feed_canaries(run: _Run, queue: asyncio.Queue[_Task | None], share: int) -> None:
    take, post = run.store.holds.canaries, run.post
    while not run.stopping.is_set():
        batch = await asyncio.to_thread(take, post.seat_id, post.round_id, limit=share)
        if not batch:
            return
        for canary in batch:
            await queue.put(_Task(canary, canary=True))


async def _feed_battles(run: _Run, queue: asyncio.Queue[_Task | None], share: int) -> None:
    take, post, after = run.store.holds.battles, run.post, 0
    while not run.stopping.is_set():
        batch, last = await asyncio.to_thread(take, post.seat_id, post.round_id, limit=share, after=after)
        if not batch and not after:
            return
        for battle in batch:
            await queue.put(_Task(battle))
        # 0 at the end: what others let go of lies behind, so the round is gone through once more.
        after = last


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
    except (StoreError, LeaseLostError) as error:
        # What could not be committed stays pending in the store; replies that were paid for are cached.
        run.fail(error)


async def _flush(run: _Run) -> None:
    batch, run.settled = run.settled, []
    canaries, run.settled_canaries = run.settled_canaries, []
    if canaries:
        await asyncio.to_thread(run.store.canaries.record, canaries, seat_id=run.post.seat_id)
    if batch:
        await asyncio.to_thread(run.store.verdicts.record, batch, seat_id=run.post.seat_id)
    if batch or canaries:
        run.done += len(batch) + len(canaries)
        run.report(Progress(run.done, run.total, run.watch.seconds))


async def _watch(run: _Run) -> None:
    """Say that the run lives, and stop it where its job is no longer wanted."""
    while True:
        await asyncio.sleep(STATE_EVERY)
        try:
            beat = await asyncio.to_thread(run.store.seats.beat, run.post.seat_id, lease=run.post.lease)
        except (StoreError, LeaseLostError) as error:
            run.fail(error)
            return
        if not beat.wanted:
            run.stopping.set()
