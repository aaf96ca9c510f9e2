"""The loop that judges a round: battles are fed to a judge, and verdicts committed."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from arena.services.jobs.draining import commit_until, drained
from arena.services.jobs.heartbeats import heartbeats
from arena.services.judging.conduct import ConductGuard
from arena.services.judging.traffic import OpenedJudge, Traffic
from arena.services.rounds.question_feed import QuestionFeed
from arena.services.system.gc_tuning import rare_collections
from data.errors import LeaseLostError, StoppedError, StoreError
from data.progress import Progress, Report, Stopwatch, Work
from data.records import PendingBattle, Verdict
from data.store import Store
from judges.base import Judge, JudgeInput

COMMIT_EVERY = 0.25
BATCH = 500
LEAST_WORKERS = 256
LEAST_SHARE = 8
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimContext:
    """Where a run works from.

    Attributes:
        lease_id: The lease, which holds what is judged and fences off a run that was given up.
        lease: Seconds without a heartbeat after which the run counts as ended.
        shared: Whether others judge the same round, so that no more is held than is soon asked.
        seed: Of the order in which questions are judged.
    """

    lease_id: int
    round_id: int
    lease: float
    shared: bool = False
    seed: int = 0


@dataclass(slots=True, kw_only=True)
class JudgingLoop(ABC, Generic[T]):
    """A feed, workers that ask about what it gives, and a writer that commits what they settled.

    Attributes:
        lease_id: The lease under which all is done.
        lease: Seconds without a heartbeat after which it ends.
        stopping: Once it is set, what is in flight finishes and the rest stays pending.
    """

    store: Store
    lease_id: int
    lease: float
    total: int
    report: Report
    stopping: asyncio.Event
    watch: Stopwatch = field(default_factory=Stopwatch)
    done: int = 0
    finished: asyncio.Event = field(default_factory=asyncio.Event)
    failure: Exception | None = None
    settled: list[tuple[int, Verdict]] = field(default_factory=list)

    @abstractmethod
    def batches(self) -> Iterator[Sequence[T]]:
        """What is to be asked; each batch is taken in a thread."""

    @abstractmethod
    async def ask(self, item: T) -> None:
        """Have it judged, and put the verdict where `flush` takes it."""

    @abstractmethod
    async def flush(self) -> None:
        """Commit what was settled."""

    def work(self) -> Work | None:
        """How far the loop is, for whoever looks from another process."""
        return None

    def fail(self, error: Exception) -> None:
        """Keep the first error and stop: workers go on emptying the queue, so that nobody waits for ever."""
        self.failure = self.failure or error
        self.stopping.set()

    async def run(self, workers: int, waiting: int) -> None:
        """Ask until nothing is left or it is stopped; `waiting` is the length of the queue.

        Raises:
            LeaseLostError: The lease was given up; what was not committed is discarded.
            JudgeError: Judging cannot go on; what was decided until then is committed.
            StoreError: The database cannot be used; what could not be committed is pending.
        """
        queue: asyncio.Queue[T | None] = asyncio.Queue(maxsize=waiting)
        writer = asyncio.create_task(commit_until(self.finished, self._commit, every=COMMIT_EVERY))
        tasks = [asyncio.create_task(self._work(queue)) for _ in range(workers)]
        async with drained(tasks, writer, self.finished):
            with rare_collections():
                async with heartbeats(self.store, self.lease_id, self.lease, self, work=self.work):
                    await asyncio.gather(self._feed(queue, workers), *tasks)
        if self.failure is not None:
            raise self.failure

    async def _feed(self, queue: asyncio.Queue[T | None], workers: int) -> None:
        batches = self.batches()
        try:
            while not self.stopping.is_set():
                batch = await asyncio.to_thread(next, batches, None)
                if batch is None:
                    break
                for item in batch:
                    await queue.put(item)
        except (StoreError, LeaseLostError) as error:
            self.fail(error)
        for _ in range(workers):
            await queue.put(None)

    async def _work(self, queue: asyncio.Queue[T | None]) -> None:
        while (item := await queue.get()) is not None:
            if self.stopping.is_set():
                continue
            try:
                await self.ask(item)
            except StoppedError:
                # It stays pending, for the next run.
                continue
            except Exception as error:  # noqa: BLE001 - raised to the caller once the run has stopped
                self.fail(error)
                continue
            # An embedded judge never waits, so it would starve the writer.
            await asyncio.sleep(0)

    async def _commit(self) -> None:
        try:
            await self.flush()
        except (StoreError, LeaseLostError) as error:
            # What could not be committed stays pending in the store; replies that were paid for are cached.
            self.fail(error)


@dataclass(slots=True, kw_only=True)
class _RoundLoop(JudgingLoop[PendingBattle]):
    """Judge what is pending of a round."""

    claims: ClaimContext
    judge: Judge
    share: int
    traffic: Traffic | None = None
    guard: ConductGuard | None = None
    requests: int = 0

    def batches(self) -> Iterator[Sequence[PendingBattle]]:
        """Batches of battles in the random order of their questions."""
        claims = self.claims
        feed = QuestionFeed(self.store, claims.lease_id, claims.round_id, claims.seed, self.share)
        while battles := feed.take():
            yield battles

    async def ask(self, item: PendingBattle) -> None:
        """Judge a battle, and stop where the judge's replies are of no use."""
        verdict = await self.judge.judge(contest(item))
        self.requests += sum(judgment.calls for judgment in verdict.judgments)
        if self.guard is not None and (error := self.guard.look(verdict)) is not None:
            self.fail(error)
        self.settled.append((item.id, verdict))

    def work(self) -> Work | None:
        """How far the run is; None of embedded judges."""
        if self.traffic is None:
            return None
        work = Work("judging", watch=self.watch)
        work.follow(_progress(self))
        return work

    async def flush(self) -> None:
        """Commit what was settled, and look at the judge's conduct."""
        batch, self.settled = self.settled, []
        if batch:
            await asyncio.to_thread(self.store.verdicts.record, batch, lease_id=self.claims.lease_id)
            self.done += len(batch)
        if batch or self.traffic is not None:
            self.report(_progress(self))


async def judge_pending(
    store: Store,
    claims: ClaimContext,
    opened: OpenedJudge,
    *,
    total: int,
    concurrency: int,
    report: Report,
    stop: asyncio.Event,
    guard: ConductGuard | None = None,
) -> None:
    """Judge what is pending of a running round until nothing is free or `stop` is set.

    Where a judge waits for replies, `concurrency` battles are in work: a battle is asked in both orders
    before the next one begins, so that whatever ends a run leaves whole battles. Other judges compute, and
    get at least 256 battles together. Once `stop` is set, battles in flight finish and the rest stays
    pending.

    Raises:
        LeaseLostError: The lease was given up; what was not committed is discarded.
        JudgeError: Judging cannot go on; what was decided until then is committed.
        UnfitJudgeError: The judge's replies give no usable verdicts, and `guard` looks for that.
        StoreError: The database cannot be used; what could not be committed is pending.
    """
    count = concurrency if claims.shared or opened.waits else max(concurrency, LEAST_WORKERS)
    loop = _RoundLoop(
        store=store,
        lease_id=claims.lease_id,
        lease=claims.lease,
        total=total,
        report=report,
        stopping=stop,
        claims=claims,
        judge=opened.judge,
        share=min(BATCH, max(count, LEAST_SHARE)) if claims.shared else BATCH,
        traffic=opened.traffic,
        guard=guard,
    )
    await loop.run(count, count if claims.shared else 2 * count)


def contest(battle: PendingBattle) -> JudgeInput:
    """A battle as its judge sees it."""
    return JudgeInput(
        battle_id=battle.key,
        question=battle.question,
        answer_a=battle.answer_a,
        answer_b=battle.answer_b,
        reference_side=battle.reference_side,
        sample=_sample(battle),
    )


def _sample(battle: PendingBattle) -> int:
    """Where the numbers of requests begin: anew where a reply that is cached gave no verdict.

    Rounds number the samples of a request from 0, one for each vote, of which there are at most 99.
    """
    return 100 * (1 + int(battle.key[:12], 16)) if battle.unread else 0


def _progress(run: _RoundLoop) -> Progress:
    """How far the run is, by battles and requests, with the time left from replies."""
    traffic = run.traffic
    if traffic is None:
        return Progress(run.done, run.total, run.watch.seconds)
    # What is settled and not committed yet counts, or few battles would be misjudged.
    settled = run.done + len(run.settled)
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
