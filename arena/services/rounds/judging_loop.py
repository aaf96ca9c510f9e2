"""Judging of a round's pending battles."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from hashlib import sha256

from arena.services.jobs.cancellation import StopEvent, forward_stop, stopping_on_interrupt
from arena.services.jobs.queue import JobLeases, heartbeats
from arena.services.judging.traffic import ConductGuard, OpenedJudge
from arena.services.system import rare_collections
from data.errors import LeaseLostError, StoppedError, StoreError
from data.models import Lease, PendingBattle, Round, RoundState, Verdict
from data.models.rounds import RESUMABLE, require_resumable
from data.progress import Progress, Report, Stopwatch, Work
from data.store import Store
from judges.base import JudgeInput
from judges.spec import JudgeSpec

MIN_CHUNK = 1


def in_random_order(questions: Iterable[tuple[int, str]], seed: int) -> list[int]:
    """Shuffle questions (number, id) by seed, and return their numbers."""
    ranked = sorted((sha256(f"{seed}:{key}".encode()).digest(), number) for number, key in questions)
    return [number for _, number in ranked]


@dataclass(slots=True)
class QuestionFeed:
    """Assigns a round's pending battles to a lease, a few questions at a time in random order."""

    store: Store
    lease_id: int
    round_id: int
    seed: int
    limit: int
    chunk: int = MIN_CHUNK
    _order: list[int] = field(default_factory=list)
    _places: dict[str, int] = field(default_factory=dict)
    _at: int = 0

    def take(self) -> list[PendingBattle]:
        """Return the next battles, or none if no battle is free."""
        fresh = False
        while True:
            if self._at >= len(self._order):
                # Read again at the end, since other workers may have released claims.
                if fresh or not self._read():
                    return []
                fresh = True
            among = self._order[self._at : self._at + self.chunk]
            battles = self.store.claims.battles(self.lease_id, self.round_id, limit=self.limit, among=among)
            if len(battles) < self.limit:
                self._at += self.chunk
            if battles:
                return sorted(battles, key=lambda battle: self._places[battle.question.id])

    def _read(self) -> bool:
        free = self.store.claims.questions(self.round_id)
        self._order = in_random_order(free, self.seed)
        keys = dict(free)
        self._places = {keys[number]: place for place, number in enumerate(self._order)}
        pending = self.store.claims.pending(self.round_id)
        per_question = max(1, pending // max(1, len(self._order)))
        self._at, self.chunk = 0, max(MIN_CHUNK, self.limit // per_question)
        return bool(self._order)


COMMIT_EVERY = 0.25
BATCH = 500
MIN_WORKERS = 256
MIN_BATCH = 8


@dataclass(slots=True, kw_only=True)
class JudgingLoop:
    """Judge under a lease until no battle is free or `stopping` is set.

    Attributes:
        lease_id: Lease that claims battles; an expired one commits nothing.
        lease: Seconds without a heartbeat after which it expires.
        seed: Seed of the order of questions.
        shared: True if other workers judge the same round, so that few battles are claimed ahead.
        stopping: Once set, battles in flight finish and the rest stays pending.
        guard: Detects an unfit judge.
    """

    store: Store
    opened: OpenedJudge
    lease_id: int
    lease: float
    round_id: int
    seed: int
    shared: bool
    total: int
    report: Report
    stopping: asyncio.Event
    guard: ConductGuard | None = None
    watch: Stopwatch = field(default_factory=Stopwatch)
    done: int = 0
    requests: int = 0
    failure: Exception | None = None
    settled: list[tuple[int, Verdict]] = field(default_factory=list)

    async def run(self, concurrency: int) -> None:
        """Judge with `concurrency` battles at once, or at least 256 where a judge computes locally.

        Both orders of a battle are judged before the next battle, so an abort leaves no half-judged battle.

        Raises:
            LeaseLostError: The lease expired; uncommitted verdicts are discarded.
            JudgeError: Judging cannot continue; earlier verdicts are committed.
            StoreError: The database is unavailable; uncommitted battles stay pending.
        """
        count = concurrency if self.shared or self.opened.waits else max(concurrency, MIN_WORKERS)
        feed = QuestionFeed(
            self.store,
            self.lease_id,
            self.round_id,
            self.seed,
            min(BATCH, max(count, MIN_BATCH)) if self.shared else BATCH,
        )
        queue: asyncio.Queue[PendingBattle | None] = asyncio.Queue(count if self.shared else 2 * count)
        finished, loop = asyncio.Event(), asyncio.get_running_loop()

        def threadsafe(function: Callable[..., object]) -> Callable[..., object]:
            return lambda *arguments: loop.call_soon_threadsafe(function, *arguments)

        beats = heartbeats(
            self.store,
            self.lease_id,
            self.lease,
            unwanted=threadsafe(self.stopping.set),
            failed=threadsafe(self._fail),
            work=self._work,
        )
        writer = asyncio.create_task(self._write(finished))
        workers = [asyncio.create_task(self._judge(queue)) for _ in range(count)]
        try:
            with rare_collections(), beats:
                await asyncio.gather(self._feed(queue, feed, count), *workers)
        finally:
            for task in workers:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            # Let the writer finish, since a cancelled commit would lose its batch.
            finished.set()
            await writer
        if self.failure is not None:
            raise self.failure

    def _fail(self, error: Exception) -> None:
        """Store the first error and stop; workers still drain the queue, so that the feed ends."""
        self.failure = self.failure or error
        self.stopping.set()

    async def _feed(self, queue: asyncio.Queue[PendingBattle | None], feed: QuestionFeed, count: int) -> None:
        try:
            while not self.stopping.is_set() and (battles := await asyncio.to_thread(feed.take)):
                for battle in battles:
                    await queue.put(battle)
        except (StoreError, LeaseLostError) as error:
            self._fail(error)
        for _ in range(count):
            await queue.put(None)

    async def _judge(self, queue: asyncio.Queue[PendingBattle | None]) -> None:
        while (battle := await queue.get()) is not None:
            if self.stopping.is_set():
                continue
            try:
                verdict = await self.opened.judge.judge(contest(battle))
            except StoppedError:
                # The battle stays pending for the next run.
                continue
            except Exception as error:  # noqa: BLE001 - raised to the caller once the run has stopped
                self._fail(error)
                continue
            self.requests += sum(judgment.calls for judgment in verdict.judgments)
            if self.guard is not None and (unfit := self.guard.look(verdict)) is not None:
                self._fail(unfit)
            self.settled.append((battle.id, verdict))
            # An embedded judge never awaits, which would starve the writer.
            await asyncio.sleep(0)

    async def _write(self, finished: asyncio.Event) -> None:
        while not finished.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(finished.wait(), COMMIT_EVERY)
            await self._commit()
        await self._commit()

    async def _commit(self) -> None:
        batch, self.settled = self.settled, []
        try:
            if batch:
                await asyncio.to_thread(self.store.verdicts.record, batch, lease_id=self.lease_id)
                self.done += len(batch)
        except (StoreError, LeaseLostError) as error:
            # Uncommitted battles stay pending; paid replies are cached.
            self._fail(error)
            return
        if batch or self.opened.traffic is not None:
            self.report(self._progress())

    def _work(self) -> Work | None:
        """Return the progress for other processes; None for embedded judges."""
        if self.opened.traffic is None:
            return None
        work = Work("judging", watch=self.watch)
        work.follow(self._progress())
        return work

    def _progress(self) -> Progress:
        traffic = self.opened.traffic
        if traffic is None:
            return Progress(self.done, self.total, self.watch.seconds)
        # Count uncommitted verdicts too, which matter in small rounds.
        settled = self.done + len(self.settled)
        return Progress(
            self.done,
            self.total,
            self.watch.seconds,
            requests=traffic.requests,
            left=traffic.seconds_left(max(0, self.total - settled), settled, self.requests),
            note=traffic.waiting,
            cost_usd=traffic.scheduler.usage.cost_usd,
        )


def contest(battle: PendingBattle) -> JudgeInput:
    """Return a battle as a judge's input."""
    return JudgeInput(
        battle_id=battle.key,
        question=battle.question,
        answer_a=battle.answer_a,
        answer_b=battle.answer_b,
        reference_side=battle.reference_side,
    )


OpenJudge = Callable[[JudgeSpec, Round, int, asyncio.Event, int], AbstractAsyncContextManager[OpenedJudge]]


@dataclass(frozen=True, slots=True)
class RoundRunner:
    """Runs rounds under leases."""

    store: Store
    job_leases: JobLeases
    open_judge: OpenJudge

    def run_alone(
        self, round_: Round, spec: JudgeSpec, *, concurrency: int, report: Report, halt: StopEvent | None
    ) -> None:
        """Judge the pending battles in this process only, until the end or an interrupt."""
        require_resumable(round_)
        job, lease = self.job_leases.begin(round_.id)
        with self.job_leases.held(lease, attempts=job.attempts):
            asyncio.run(self._until_interrupted(round_, spec, lease, concurrency, report, halt))

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
        """Judge under a lease until no battle is free, the job is cancelled or `stop` is set."""
        total = await asyncio.to_thread(self.prepare, round_, lease)
        async with self.open_judge(spec, round_, concurrency, stop, lease.id) as opened:
            loop = JudgingLoop(
                store=self.store,
                opened=opened,
                lease_id=lease.id,
                lease=self.job_leases.lease,
                round_id=round_.id,
                seed=round_.seed,
                shared=shared,
                total=total,
                report=report,
                stopping=stop,
                guard=ConductGuard.of_round(round_),
            )
            await loop.run(concurrency)

    def prepare(self, round_: Round, lease: Lease) -> int:
        """Mark the round as running, release stale reservations, and count pending battles."""
        if all(other.id == lease.id for other in self.store.leases.all(round_id=round_.id)):
            self.store.ledgers.release(round_.id)
        self.store.rounds.move(round_.name, to=RoundState.RUNNING, allowed=RESUMABLE)
        return self.store.rounds.counts(round_.name).pending

    async def _until_interrupted(
        self,
        round_: Round,
        spec: JudgeSpec,
        lease: Lease,
        concurrency: int,
        report: Report,
        halt: StopEvent | None,
    ) -> None:
        stop = asyncio.Event()
        with stopping_on_interrupt(stop):
            async with forward_stop(halt, stop):
                await self.judge(
                    round_, spec, lease, concurrency=concurrency, report=report, stop=stop, shared=False
                )
