"""Judging a round under a lease: alone in this process, or as one worker of several."""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field

from arena.services.jobs.cancellation import stopping_on_interrupt
from arena.services.jobs.job_leases import JobLeases
from arena.services.rounds.canaries import canary_results
from arena.services.system.gc_tuning import rare_collections
from data.errors import ConflictError, LeaseLostError, StoppedError, StoreError
from data.progress import Progress, Report, Stopwatch
from data.records import Job, JobKind, Lease, NewJob, PendingBattle, Round, RoundState, Verdict
from data.store import Store
from judges.base import Judge, JudgeInput
from judges.spec import JudgeSpec

COMMIT_EVERY = 0.25
BATCH = 500
LEAST_WORKERS = 256
LEAST_SHARE = 8
STATE_EVERY = 1.0


@dataclass(frozen=True, slots=True)
class _Task:
    """What a worker takes: a battle of the round, or a canary of it."""

    battle: PendingBattle
    canary: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimContext:
    """Where a run works from.

    Attributes:
        lease_id: The lease, which holds what is judged and fences off a run that was given up.
        lease: Seconds without a heartbeat after which the run counts as ended.
        shared: Whether others judge the same round, so that no more is held than is soon asked.
    """

    lease_id: int
    round_id: int
    lease: float
    shared: bool = False


@dataclass(slots=True)
class _Run:
    """One run of the loop: its queues and its reasons to stop."""

    store: Store
    claims: ClaimContext
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
        """Store the first error and stop: workers go on emptying the queue, so that nobody waits for ever."""
        self.failure = self.failure or error
        self.stopping.set()


async def judge_pending(
    store: Store,
    claims: ClaimContext,
    judge: Judge,
    *,
    total: int,
    concurrency: int,
    report: Report,
    stop: asyncio.Event,
) -> None:
    """Judge the pending battles and canaries of a running round until none is free or `stop` is set.

    LLM access holds to `concurrency` calls in flight. At least 256 battles are processed together, so that
    those whose replies are cached do not wait for those that are asked. Once `stop` is set, battles in
    flight finish and the rest stays pending.

    Raises:
        LeaseLostError: The lease was given up; what was not committed is discarded.
        JudgeError: Judging cannot go on; what was decided until then is committed.
        StoreError: The database cannot be used; what could not be committed is pending.
    """
    run = _Run(store, claims, judge, total, report, stopping=stop)
    count = concurrency if claims.shared else max(concurrency, LEAST_WORKERS)
    queue: asyncio.Queue[_Task | None] = asyncio.Queue(maxsize=count if claims.shared else 2 * count)
    writer = asyncio.create_task(_write(run))
    workers = [asyncio.create_task(_work(run, queue)) for _ in range(count)]
    try:
        with rare_collections():
            async with _heartbeats(run):
                await asyncio.gather(_feed(run, queue, count), *workers)
    finally:
        for task in workers:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        # The writer is asked to end, not cancelled: a cancelled commit would lose the batch it holds.
        run.finished.set()
        await writer
    if run.failure is not None:
        raise run.failure


async def _feed(run: _Run, queue: asyncio.Queue[_Task | None], workers: int) -> None:
    share = min(BATCH, max(workers, LEAST_SHARE)) if run.claims.shared else BATCH
    try:
        await _feed_canaries(run, queue, share)
        await _feed_battles(run, queue, share)
    except (StoreError, LeaseLostError) as error:
        run.fail(error)
    for _ in range(workers):
        await queue.put(None)


async def _feed_canaries(run: _Run, queue: asyncio.Queue[_Task | None], share: int) -> None:
    take, claims = run.store.holds.canaries, run.claims
    while not run.stopping.is_set():
        batch = await asyncio.to_thread(take, claims.lease_id, claims.round_id, limit=share)
        if not batch:
            return
        for canary in batch:
            await queue.put(_Task(canary, canary=True))


async def _feed_battles(run: _Run, queue: asyncio.Queue[_Task | None], share: int) -> None:
    take, claims, after = run.store.holds.battles, run.claims, 0
    while not run.stopping.is_set():
        batch, last = await asyncio.to_thread(
            take, claims.lease_id, claims.round_id, limit=share, after=after
        )
        if not batch and not after:
            return
        for battle in batch:
            await queue.put(_Task(battle))
        # 0 at the end: claims that others released come before it, so the round is read once more.
        after = last


async def _work(run: _Run, queue: asyncio.Queue[_Task | None]) -> None:
    while (task := await queue.get()) is not None:
        if run.stopping.is_set():
            continue
        try:
            verdict = await run.judge.judge(_contest(task.battle))
        except StoppedError:
            # The battle stays pending, for the next run.
            continue
        except Exception as error:  # noqa: BLE001 - raised to the caller once the run has stopped
            run.fail(error)
            continue
        (run.settled_canaries if task.canary else run.settled).append((task.battle.id, verdict))
        # An embedded judge never waits, so it would starve the writer.
        await asyncio.sleep(0)


def _contest(battle: PendingBattle) -> JudgeInput:
    return JudgeInput(
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
    # What was settled during the last commit has not been committed yet.
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
        await asyncio.to_thread(run.store.canaries.record, canaries, lease_id=run.claims.lease_id)
    if batch:
        await asyncio.to_thread(run.store.verdicts.record, batch, lease_id=run.claims.lease_id)
    if batch or canaries:
        run.done += len(batch) + len(canaries)
        run.report(Progress(run.done, run.total, run.watch.seconds))


@asynccontextmanager
async def _heartbeats(run: _Run) -> AsyncIterator[None]:
    """Send heartbeats from a thread, whatever the event loop that judges is doing (A4)."""
    over = threading.Event()
    watcher = threading.Thread(
        target=_watch, args=(run, asyncio.get_running_loop(), over), name="heartbeats", daemon=True
    )
    watcher.start()
    try:
        yield
    finally:
        over.set()
        await asyncio.to_thread(watcher.join)


def _watch(run: _Run, loop: asyncio.AbstractEventLoop, over: threading.Event) -> None:
    """Send a heartbeat, and stop the run where its job is no longer wanted."""
    while not over.wait(STATE_EVERY):
        try:
            beat = run.store.leases.beat(run.claims.lease_id, lease=run.claims.lease)
        except (StoreError, LeaseLostError) as error:
            loop.call_soon_threadsafe(run.fail, error)
            return
        if not beat.wanted:
            loop.call_soon_threadsafe(run.stopping.set)


RESUMABLE = (RoundState.PLANNED, RoundState.RUNNING, RoundState.PAUSED)
OpenJudge = Callable[[JudgeSpec, Round, int, asyncio.Event, int], AbstractAsyncContextManager[Judge]]


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
        job, lease = self.begin(round_)
        with self.job_leases.held(lease, attempts=job.attempts):
            asyncio.run(self._until_interrupted(round_, spec, lease, concurrency, report))

    def begin(self, round_: Round, *, workers: int = 1) -> tuple[Job, Lease]:
        """Put a job for this process alone, and take the first lease at it.

        Raises:
            ConflictError: The round has ended, or has another job.
        """
        self.job_leases.give_up_dead()
        require_resumable(round_)
        owner = f"{self.job_leases.worker.name}:{uuid.uuid4().hex[:12]}"
        new_job = NewJob(kind=JobKind.JUDGE, round_id=round_.id, owner=owner, workers=workers)
        job = self.store.jobs.put(new_job)
        job_and_lease = self.job_leases.take(owner=owner, job_id=job.id)
        if job_and_lease is None:
            raise ConflictError(f"Job {job.id} was taken away.", advice="Start the round again.")
        return job_and_lease

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
        total = await asyncio.to_thread(self._prepare, round_, lease)
        held_for = self.job_leases.lease
        claims = ClaimContext(lease_id=lease.id, round_id=round_.id, lease=held_for, shared=shared)
        async with self.open_judge(spec, round_, concurrency, stop, lease.id) as judge:
            await judge_pending(
                self.store, claims, judge, total=total, concurrency=concurrency, report=report, stop=stop
            )

    def _prepare(self, round_: Round, lease: Lease) -> int:
        """Let the round run, with an account in order, and count what is pending."""
        if all(other.id == lease.id for other in self.store.leases.of_round(round_.id)):
            self.store.ledgers.release(round_.id)
        self.store.rounds.move(round_.name, to=RoundState.RUNNING, allowed=RESUMABLE)
        canaries = canary_results(self.store.canaries.of_round(round_.name))
        return self.store.rounds.counts(round_.name).pending + canaries.pending

    async def _until_interrupted(
        self, round_: Round, spec: JudgeSpec, lease: Lease, concurrency: int, report: Report
    ) -> None:
        stop = asyncio.Event()
        with stopping_on_interrupt(stop):
            await self.judge(
                round_, spec, lease, concurrency=concurrency, report=report, stop=stop, shared=False
            )


def require_resumable(round_: Round) -> None:
    """Check that a round can be judged.

    Raises:
        ConflictError: It has ended.
    """
    if round_.state not in RESUMABLE:
        raise ConflictError(
            f"Round {round_.name} is {round_.state}, so it cannot become {RoundState.RUNNING}.",
            advice=f"It would have to be {' or '.join(RESUMABLE)}.",
        )
