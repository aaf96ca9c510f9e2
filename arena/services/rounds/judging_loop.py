"""The loop that judges a round: battles, canaries and controls are fed to a judge, and verdicts committed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from arena.services.jobs.draining import commit_until, drained
from arena.services.jobs.heartbeats import heartbeats
from arena.services.rounds.stopping import QuestionFeed, StopRule
from arena.services.system.gc_tuning import rare_collections
from data.errors import LeaseLostError, StoppedError, StoreError
from data.progress import Progress, Report, Stopwatch
from data.records import PendingBattle, Verdict
from data.records.retests import PendingAsking, sample_number
from data.store import Store
from judges.base import Judge, JudgeInput

COMMIT_EVERY = 0.25
LOOK_EVERY = 4
"""Commits between two looks of a stopping rule."""
BATCH = 500
LEAST_WORKERS = 256
LEAST_SHARE = 8


@dataclass(frozen=True, slots=True)
class _Task:
    """What a worker takes: a battle of the round, a canary of it, or a control battle of an earlier one."""

    battle: PendingBattle
    canary: bool = False
    control: PendingAsking | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimContext:
    """Where a run works from.

    Attributes:
        lease_id: The lease, which holds what is judged and fences off a run that was given up.
        lease: Seconds without a heartbeat after which the run counts as ended.
        shared: Whether others judge the same round, so that no more is held than is soon asked.
        cheap: The place of the cheap judge that is asked; None for the round's own judge.
        seed: Of the order in which questions are judged.
    """

    lease_id: int
    round_id: int
    lease: float
    shared: bool = False
    cheap: int | None = None
    seed: int = 0


@dataclass(slots=True)
class _Run:
    """One run of the loop: its queues and its reasons to stop."""

    store: Store
    claims: ClaimContext
    judge: Judge
    total: int
    report: Report
    rule: StopRule | None = None
    watch: Stopwatch = field(default_factory=Stopwatch)
    done: int = 0
    commits: int = 0
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    finished: asyncio.Event = field(default_factory=asyncio.Event)
    failure: Exception | None = None
    settled: list[tuple[int, Verdict]] = field(default_factory=list)
    settled_canaries: list[tuple[int, Verdict]] = field(default_factory=list)
    settled_controls: list[tuple[int, Verdict]] = field(default_factory=list)

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
    rule: StopRule | None = None,
) -> None:
    """Judge what is pending of a running round until nothing is free or `stop` is set.

    That is its battles, its canaries, and control battles of an earlier round.

    LLM access holds to `concurrency` calls in flight. At least 256 battles are processed together, so that
    those whose replies are cached do not wait for those that are asked. Once `stop` is set, by the caller or
    by the stopping rule, battles in flight finish and the rest stays pending.

    Raises:
        LeaseLostError: The lease was given up; what was not committed is discarded.
        JudgeError: Judging cannot go on; what was decided until then is committed.
        StoreError: The database cannot be used; what could not be committed is pending.
    """
    run = _Run(store, claims, judge, total, report, rule, stopping=stop)
    count = concurrency if claims.shared else max(concurrency, LEAST_WORKERS)
    queue: asyncio.Queue[_Task | None] = asyncio.Queue(maxsize=count if claims.shared else 2 * count)
    writer = asyncio.create_task(commit_until(run.finished, lambda: _commit(run), every=COMMIT_EVERY))
    workers = [asyncio.create_task(_work(run, queue)) for _ in range(count)]
    async with drained(workers, writer, run.finished):
        with rare_collections():
            async with heartbeats(store, claims.lease_id, claims.lease, run):
                await asyncio.gather(_feed(run, queue, count), *workers)
    if run.failure is not None:
        raise run.failure


async def _feed(run: _Run, queue: asyncio.Queue[_Task | None], workers: int) -> None:
    share = min(BATCH, max(workers, LEAST_SHARE)) if run.claims.shared else BATCH
    try:
        if run.claims.cheap is None:
            await _feed_canaries(run, queue, share)
            await _feed_controls(run, queue, share)
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


async def _feed_controls(run: _Run, queue: asyncio.Queue[_Task | None], share: int) -> None:
    take, claims = run.store.holds.controls, run.claims
    while not run.stopping.is_set():
        batch = await asyncio.to_thread(take, claims.lease_id, claims.round_id, limit=share)
        if not batch:
            return
        for control in batch:
            await queue.put(_Task(control.battle, control=control))


async def _feed_battles(run: _Run, queue: asyncio.Queue[_Task | None], share: int) -> None:
    claims = run.claims
    feed = QuestionFeed(run.store, claims.lease_id, claims.round_id, claims.seed, share, cheap=claims.cheap)
    while not run.stopping.is_set():
        batch = await asyncio.to_thread(feed.take)
        if not batch:
            return
        for battle in batch:
            await queue.put(_Task(battle))


async def _work(run: _Run, queue: asyncio.Queue[_Task | None]) -> None:
    while (task := await queue.get()) is not None:
        if run.stopping.is_set():
            continue
        try:
            verdict = await run.judge.judge(contest(task.battle, task.control))
        except StoppedError:
            # The battle stays pending, for the next run.
            continue
        except Exception as error:  # noqa: BLE001 - raised to the caller once the run has stopped
            run.fail(error)
            continue
        _settle(run, task, verdict)
        # An embedded judge never waits, so it would starve the writer.
        await asyncio.sleep(0)


def _settle(run: _Run, task: _Task, verdict: Verdict) -> None:
    if task.control is not None:
        run.settled_controls.append((task.control.id, verdict))
    else:
        (run.settled_canaries if task.canary else run.settled).append((task.battle.id, verdict))


def contest(battle: PendingBattle, asking: PendingAsking | None = None) -> JudgeInput:
    """A battle as its judge sees it; `asking` where it is asked anew."""
    return JudgeInput(
        battle_id=battle.key,
        question=battle.question,
        answer_a=battle.answer_a,
        answer_b=battle.answer_b,
        reference_side=battle.reference_side,
        turned=asking is not None and asking.turned,
        sample=0 if asking is None else sample_number(asking.key),
    )


async def _commit(run: _Run) -> None:
    try:
        await _flush(run)
        run.commits += 1
        if run.rule is not None and run.commits % LOOK_EVERY == 0 and await asyncio.to_thread(run.rule.look):
            run.stopping.set()
    except (StoreError, LeaseLostError) as error:
        # What could not be committed stays pending in the store; replies that were paid for are cached.
        run.fail(error)


async def _flush(run: _Run) -> None:
    batch, run.settled = run.settled, []
    canaries, run.settled_canaries = run.settled_canaries, []
    controls, run.settled_controls = run.settled_controls, []
    if controls:
        await asyncio.to_thread(run.store.controls.record, controls, lease_id=run.claims.lease_id)
    if canaries:
        await asyncio.to_thread(run.store.canaries.record, canaries, lease_id=run.claims.lease_id)
    cheap, lease_id = run.claims.cheap, run.claims.lease_id
    if batch and cheap is not None:
        await asyncio.to_thread(run.store.waves.record_cheap, cheap, batch, lease_id=lease_id)
    elif batch:
        await asyncio.to_thread(run.store.verdicts.record, batch, lease_id=lease_id)
    if batch or canaries or controls:
        run.done += len(batch) + len(canaries) + len(controls)
        run.report(Progress(run.done, run.total, run.watch.seconds))
