"""A round on a Ray cluster: as many tasks as workers, each judging from its own seat at one job.

Tasks take battles by lease, commit their own verdicts, and draw on the round's account in the database,
as workers of the queue do; Ray only starts them, spreads them, and says when one was lost. A lost one's
seat is given up at once and its task is started anew. Every node reads its own environment, so that no
key travels; it must name the same database.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from contextlib import contextmanager, suppress
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

import structlog

from arena.bootstrap import Arena, open_arena
from arena.identity import this_worker
from arena.reaching import Reaching
from arena.services.interrupts import stopping_on_interrupt
from arena.services.judging import RESUMABLE
from arena.services.running import Progress, Report, Stopwatch
from arena.services.seating import Seating, leaving_after
from data.errors import ArenaError, JudgeError, StoreError
from data.records import Job, RoundCounts, RoundState, Seat
from data.store.leaving import Leaving

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_TASKS = 64
LOOK_EVERY = 0.5
LOSSES_PER_TASK = 3
UNREACHED = "Check RAY_ADDRESS and `ray status`; without that variable, a cluster is started here."
ADVICE = "Install answer-arena[ray] here and on every node."


def judge_on_ray(
    arena: Arena,
    name: str,
    *,
    concurrency: int,
    report: Report,
    workers: int | None = None,
    reaching: Reaching | None = None,
) -> RoundCounts:
    """Judge what is pending in a round on a Ray cluster.

    A cluster is looked for as Ray does (`RAY_ADDRESS`, else a local one that runs); where there is none,
    one is started on this machine for the time of the round.

    Args:
        arena: The application here, whose database the nodes use.
        name: The round.
        concurrency: Calls in flight at most, over all tasks together.
        report: Called as verdicts are committed.
        workers: How many tasks; by default one for each processor of the cluster, at most 64.
        reaching: How LLMs are reached where it goes before the settings of the nodes.

    Raises:
        ConflictError: The round has ended, or somebody else judges it.
        JudgeError: Ray is not there, tasks were lost again and again, or judging cannot go on.
    """
    ray = _ray()
    found = arena.store.rounds.get(name)
    arena.rounds.spec_of(found)
    with _connected(ray):
        count = workers or max(1, min(MOST_TASKS, concurrency, int(ray.cluster_resources().get("CPU", 1))))
        job, seat = arena.rounds.runner.begin(found, workers=count + 1)
        failure: BaseException | None = None
        try:
            arena.store.rounds.move(name, to=RoundState.RUNNING, allowed=RESUMABLE)
            _Spread(ray, arena, job, count, concurrency, reaching or Reaching(), report).run(name, seat)
        except BaseException as error:
            failure = error
            raise
        finally:
            with suppress(StoreError):
                arena.seating.leave(seat, Leaving() if failure is None else leaving_after(failure, 0))
    return arena.store.rounds.counts(name)


class _Spread:
    """Keeps tasks running until the round has nothing free."""

    def __init__(
        self,
        ray: ModuleType,
        arena: Arena,
        job: Job,
        count: int,
        concurrency: int,
        reaching: Reaching,
        report: Report,
    ) -> None:
        self._ray, self._arena, self._job, self._report = ray, arena, job, report
        self._shares = [_share(concurrency, count, number) for number in range(count)]
        self._reaching = reaching
        self._task = ray.remote(num_cpus=1, max_retries=0, scheduling_strategy="SPREAD")(judge_share)
        self._watch = Stopwatch()
        self._log = structlog.get_logger("arena.cluster").bind(job=job.id)

    def run(self, name: str, seat: Seat) -> None:
        """Judge until the end; `seat` is that of this process, which only watches."""
        total = self._arena.store.rounds.counts(name).pending + self._arena.rounds.attacks(name).pending
        running = {self._start(name, number): number for number in range(len(self._shares))}
        losses = 0
        stop = _Interrupt()
        with stop:
            while running:
                ended, _ = self._ray.wait(list(running), num_returns=1, timeout=LOOK_EVERY)
                for reference in ended:
                    number = running.pop(reference)
                    if self._collect(reference, number) or self._unwanted(seat, stop):
                        continue
                    losses += 1
                    if losses > LOSSES_PER_TASK * len(self._shares):
                        message = f"{losses} Ray tasks were lost, and the round was given up."
                        raise JudgeError(message, advice="Look at the nodes, then resume the round.")
                    running[self._start(name, number)] = number
                if self._unwanted(seat, stop):
                    self._arena.store.jobs.withdraw(self._job.round_id or 0, "It was stopped.")
                counts = self._arena.store.rounds.counts(name)
                left = counts.pending + self._arena.rounds.attacks(name).pending
                self._report(Progress(total - left, total, self._watch.seconds))
        if stop.asked:
            with suppress(ArenaError):
                self._arena.rounds.pause(name)

    def _start(self, name: str, number: int) -> object:
        job = self._job
        reference: object = self._task.remote(
            name, job.id, job.owner, self._seat_name(number), self._shares[number], self._reaching
        )
        return reference

    def _seat_name(self, number: int) -> str:
        return f"ray-{self._job.id}-{number}"

    def _collect(self, reference: object, number: int) -> bool:
        """Take what a task brought; False where its process or node was lost.

        Raises:
            JudgeError: It cannot go on.
        """
        exceptions = self._ray.exceptions
        try:
            error = self._ray.get(reference)
        except (exceptions.RayTaskError, exceptions.RuntimeEnvSetupError) as found:
            said = str(found).strip().splitlines()[-1]
            raise JudgeError(f"A Ray task failed: {said}.", advice="See the node's log.") from found
        except exceptions.RayError as found:
            self._log.warning("task.lost", task=number, reason=type(found).__name__)
            named = self._seat_name(number)
            self._arena.store.seats.give_up(lambda worker: worker.name == named)
            return False
        if error:
            raise JudgeError(f"On a node of the cluster: {error}")
        return True

    def _unwanted(self, seat: Seat, stop: _Interrupt) -> bool:
        lease = self._arena.settings.lease
        return stop.asked or not self._arena.store.seats.beat(seat.id, lease=lease).wanted


def judge_share(
    name: str, job_id: int, owner: str, seat_name: str, concurrency: int, reaching: Reaching
) -> str:
    """Judge from one seat on a node, until nothing is free.

    Returns:
        What went wrong, empty where nothing did.
    """
    arena = open_arena().reaching(reaching)
    try:
        job = arena.store.jobs.get(job_id)
        if (job.owner, job.round_name) != (owner, name):
            return "it uses another database; set ARENA_DATABASE_URL alike on every node."
        seating = Seating(arena.store, this_worker(seat_name), arena.settings.lease)
        taken = seating.take(owner=owner, job_id=job_id)
        if taken is None:
            return ""
        _, seat = taken
        failure: BaseException | None = None
        try:
            asyncio.run(_judge(arena, name, seat, concurrency))
        except BaseException as error:
            failure = error
            raise
        finally:
            with suppress(StoreError):
                seating.leave(seat, Leaving() if failure is None else leaving_after(failure, job.attempts))
    except ArenaError as error:
        return str(error)
    finally:
        arena.close()
    return ""


async def _judge(arena: Arena, name: str, seat: Seat, concurrency: int) -> None:
    stop = asyncio.Event()
    with stopping_on_interrupt(stop):
        await arena.rounds.judge(name, seat, concurrency=concurrency, report=_quiet, stop=stop, shared=True)


def _quiet(_progress: Progress) -> None:
    """Progress is read from the database by whoever started the tasks."""


class _Interrupt:
    """Ctrl-C and SIGTERM as a wish to stop in order, outside of an event loop."""

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            for one in (signal.SIGINT, signal.SIGTERM):
                self._before[one] = signal.signal(one, self._ask)

    def __exit__(self, *_: object) -> None:
        for one, before in self._before.items():
            signal.signal(one, before)

    def _ask(self, *_: object) -> None:
        self.asked = True


def _share(concurrency: int, count: int, number: int) -> int:
    """The calls in flight that one of so many tasks may have; together they have all of them."""
    return max(1, concurrency // count + (number < concurrency % count))


def _ray() -> ModuleType:
    try:
        return import_module("ray")
    except ModuleNotFoundError as error:
        raise JudgeError("Ray is not installed.", advice=ADVICE) from error


@contextmanager
def _connected(ray: ModuleType) -> Iterator[None]:
    """A connection to a cluster: the one that is there, else one of our own that ends with the block."""
    if ray.is_initialized():
        yield
        return
    try:
        try:
            ray.init(address="auto", log_to_driver=False, configure_logging=False)
        except ConnectionError:
            ray.init(include_dashboard=False, log_to_driver=False, configure_logging=False)
    except (OSError, RuntimeError, ValueError) as error:
        said = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise JudgeError(f"No Ray cluster can be reached or started: {said}.", advice=UNREACHED) from error
    try:
        yield
    finally:
        ray.shutdown()
