"""Judging a round under a lease: alone in this process, or as one worker of several."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from arena.services.jobs.cancellation import stopping_on_interrupt
from arena.services.jobs.draining import commit_until, drained
from arena.services.jobs.heartbeats import heartbeats
from arena.services.jobs.job_leases import JobLeases
from arena.services.rounds.canaries import canary_results
from arena.services.rounds.stopping import QuestionFeed, StopRule
from arena.services.system.gc_tuning import rare_collections
from data.errors import ConflictError, LeaseLostError, StoppedError, StoreError
from data.progress import Progress, Report, Stopwatch
from data.records import Job, JobKind, Lease, NewJob, Outcome, PendingBattle, Round, RoundState, Verdict
from data.records.retests import PendingAsking, sample_number
from data.store import Store
from judges.base import Judge, JudgeInput
from judges.spec import JudgeSpec

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
        total = await asyncio.to_thread(self.prepare, round_, lease)
        held_for = self.job_leases.lease
        claims = ClaimContext(
            lease_id=lease.id, round_id=round_.id, lease=held_for, shared=shared, seed=round_.seed
        )
        rule = await asyncio.to_thread(StopRule.of_round, self.store, round_)
        if rule is None or not await asyncio.to_thread(rule.look):
            async with self.open_judge(spec, round_, concurrency, stop, lease.id) as judge:
                await judge_pending(
                    self.store,
                    claims,
                    judge,
                    total=total,
                    concurrency=concurrency,
                    report=report,
                    stop=stop,
                    rule=rule,
                )
        if rule is not None and await asyncio.to_thread(rule.look):
            await asyncio.to_thread(self.store.holds.close, lease.id, round_.id, Outcome.SKIPPED, rule.detail)

    def prepare(self, round_: Round, lease: Lease) -> int:
        """Let the round run, with an account in order, and count what is pending."""
        if all(other.id == lease.id for other in self.store.leases.of_round(round_.id)):
            self.store.ledgers.release(round_.id)
        self.store.rounds.move(round_.name, to=RoundState.RUNNING, allowed=RESUMABLE)
        canaries = canary_results(self.store.canaries.of_round(round_.name))
        controls = self.store.controls.pending(round_.id)
        return self.store.rounds.counts(round_.name).pending + canaries.pending + controls

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
