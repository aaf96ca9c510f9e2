"""The loop that judges a round: battles and canaries are fed to a judge, and verdicts committed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from arena.services.jobs.draining import commit_until, drained
from arena.services.jobs.heartbeats import heartbeats
from arena.services.judging.conduct import ConductGuard
from arena.services.judging.traffic import OpenedJudge, Traffic
from arena.services.rounds.canaries import canary_results
from arena.services.rounds.stopping import QuestionFeed, StopRule
from arena.services.system.gc_tuning import rare_collections
from data.errors import LeaseLostError, StoppedError, StoreError
from data.progress import Progress, Report, Stopwatch, Work
from data.records import PendingBattle, Verdict
from data.records.retests import PendingCall, sample_number
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
    traffic: Traffic | None = None
    guard: ConductGuard | None = None
    requests: int = 0
    watch: Stopwatch = field(default_factory=Stopwatch)
    done: int = 0
    commits: int = 0
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
    opened: OpenedJudge,
    *,
    total: int,
    concurrency: int,
    report: Report,
    stop: asyncio.Event,
    rule: StopRule | None = None,
    guard: ConductGuard | None = None,
) -> None:
    """Judge what is pending of a running round until nothing is free or `stop` is set.

    That is its battles and its canaries.

    Where a judge waits for replies, `concurrency` battles are in work: a battle is asked in both orders
    before the next one begins, so that whatever ends a run leaves whole battles. Other judges compute, and
    get at least 256 battles together. Once `stop` is set, by the caller or by the stopping rule, battles in
    flight finish and the rest stays pending.

    Raises:
        LeaseLostError: The lease was given up; what was not committed is discarded.
        JudgeError: Judging cannot go on; what was decided until then is committed.
        UnfitJudgeError: The judge's replies give no usable verdicts, and `guard` looks for that.
        StoreError: The database cannot be used; what could not be committed is pending.
    """
    traffic = opened.traffic
    run = _Run(store, claims, opened.judge, total, report, rule, traffic, guard, stopping=stop)
    count = concurrency if claims.shared or opened.waits else max(concurrency, LEAST_WORKERS)
    queue: asyncio.Queue[_Task | None] = asyncio.Queue(maxsize=count if claims.shared else 2 * count)
    writer = asyncio.create_task(commit_until(run.finished, lambda: _commit(run), every=COMMIT_EVERY))
    workers = [asyncio.create_task(_work(run, queue)) for _ in range(count)]
    async with drained(workers, writer, run.finished):
        with rare_collections():
            async with heartbeats(store, claims.lease_id, claims.lease, run, work=lambda: _work_of(run)):
                await asyncio.gather(_feed(run, queue, count), *workers)
    if run.failure is not None:
        raise run.failure


async def _feed(run: _Run, queue: asyncio.Queue[_Task | None], workers: int) -> None:
    share = min(BATCH, max(workers, LEAST_SHARE)) if run.claims.shared else BATCH
    try:
        if run.claims.cheap is None:
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
            verdict = await run.judge.judge(contest(task.battle))
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
    run.requests += sum(judgment.calls for judgment in verdict.judgments)
    if run.guard is not None and (error := run.guard.look(verdict, places=not task.canary)) is not None:
        run.fail(error)
    (run.settled_canaries if task.canary else run.settled).append((task.battle.id, verdict))


def contest(battle: PendingBattle, call: PendingCall | None = None) -> JudgeInput:
    """A battle as its judge sees it; `call` where a retest asks it anew."""
    return JudgeInput(
        battle_id=battle.key,
        question=battle.question,
        answer_a=battle.answer_a,
        answer_b=battle.answer_b,
        reference_side=battle.reference_side,
        turned=call is not None and call.turned,
        sample=_sample(battle, call),
    )


def _sample(battle: PendingBattle, call: PendingCall | None) -> int:
    """Where the numbers of requests begin: anew where a reply that is cached gave no verdict."""
    if call is not None:
        return sample_number(call.key)
    return sample_number(f"{battle.key}:{battle.unread}") if battle.unread else 0


def _progress(run: _Run) -> Progress:
    """How far the run is, by battles and requests, with the time left from replies."""
    traffic = run.traffic
    if traffic is None:
        return Progress(run.done, run.total, run.watch.seconds)
    # What is settled and not committed yet counts, or few battles would be misjudged.
    waiting = len(run.settled) + len(run.settled_canaries)
    settled = run.done + waiting
    left = traffic.seconds_left(max(0, run.total - settled), settled, run.requests)
    return Progress(
        run.done,
        run.total,
        run.watch.seconds,
        requests=traffic.requests,
        left=left,
        note=traffic.waiting,
        cost_usd=traffic.scheduler.usage.cost_usd,
    )


def _work_of(run: _Run) -> Work | None:
    """The same for whoever looks from another process; None of embedded judges."""
    if run.traffic is None:
        return None
    work = Work("judging", watch=run.watch)
    work.follow(_progress(run))
    return work


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
    if canaries:
        await asyncio.to_thread(run.store.canaries.record, canaries, lease_id=run.claims.lease_id)
        if run.guard is not None:
            stored = await asyncio.to_thread(run.store.canaries.of_round, run.guard.round_name)
            if (error := run.guard.look_at_attacks(canary_results(stored).report)) is not None:
                run.fail(error)
    cheap, lease_id = run.claims.cheap, run.claims.lease_id
    if batch and cheap is not None:
        await asyncio.to_thread(run.store.waves.record_cheap, cheap, batch, lease_id=lease_id)
    elif batch:
        await asyncio.to_thread(run.store.verdicts.record, batch, lease_id=lease_id)
    if batch or canaries:
        run.done += len(batch) + len(canaries)
    if batch or canaries or run.traffic is not None:
        run.report(_progress(run))
