"""Rounds on a Ray cluster: as many tasks as workers, each judging under its own lease on one job.

Tasks take battles by lease, commit their own verdicts, and draw on the round's account in the database,
as workers of the queue do; Ray only starts them, spreads them, and says when one was lost. A lost one's
lease is given up at once and its task is restarted. Every node reads its own environment, so that no
key travels; it must name the same database.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from contextlib import suppress
from types import ModuleType
from typing import Any

import structlog

from arena.container import Arena
from arena.services.jobs.cancellation import stopping_on_interrupt
from arena.services.jobs.job_leases import JobLeases
from arena.services.jobs.worker_identity import this_worker
from arena.services.judging.llm_overrides import LlmOverrides
from arena.workers.ray_cluster import connected, load_ray, open_on_node
from data.errors import ArenaError, JudgeError
from data.progress import Progress, Report, Stopwatch
from data.records import Job, Lease, RoundCounts, RoundState
from data.records.rounds import RESUMABLE

MOST_TASKS = 64
POLL_EVERY = 0.5
LOSSES_PER_TASK = 3


def judge_on_ray(
    arena: Arena,
    name: str,
    *,
    concurrency: int,
    report: Report,
    workers: int | None = None,
    reaching: LlmOverrides | None = None,
) -> RoundCounts:
    """Judge what is pending in a round on a Ray cluster.

    A cluster is looked for as Ray does (`RAY_ADDRESS`, else a local one that runs); where there is none, one
    is started on this machine for the time of the round. `concurrency` is of all tasks together. By default
    there is a task for each processor of the cluster, at most 64. `reaching` goes before the settings of the
    nodes.

    Raises:
        ConflictError: The round has ended, or somebody else judges it.
        JudgeError: Ray is not there, tasks were lost again and again, or judging cannot go on.
    """
    ray = load_ray()
    round_ = arena.store.rounds.get(name)
    arena.rounds.spec_of(round_)
    with connected(ray):
        count = workers or max(1, min(MOST_TASKS, concurrency, int(ray.cluster_resources().get("CPU", 1))))
        job, lease = arena.rounds.runner.begin(round_, workers=count + 1)
        with arena.job_leases.held(lease):
            arena.store.rounds.move(name, to=RoundState.RUNNING, allowed=RESUMABLE)
            _Spread(ray, arena, job, count, concurrency, reaching or LlmOverrides(), report).run(name, lease)
    arena.notifier.round_ended(name)
    return arena.store.rounds.counts(name)


class _Spread:
    """Keeps tasks running until every battle of the round is claimed."""

    def __init__(
        self,
        ray: ModuleType,
        arena: Arena,
        job: Job,
        count: int,
        concurrency: int,
        reaching: LlmOverrides,
        report: Report,
    ) -> None:
        self._ray, self._arena, self._job, self._report = ray, arena, job, report
        self._shares = [_share(concurrency, count, number) for number in range(count)]
        self._reaching = reaching
        self._task = ray.remote(num_cpus=1, max_retries=0, scheduling_strategy="SPREAD")(judge_share)
        self._watch = Stopwatch()
        self._log = structlog.get_logger("arena.workers.ray").bind(job=job.id)

    def run(self, name: str, lease: Lease) -> None:
        """Judge until the end; `lease` is that of this process, which only watches."""
        total = self._arena.store.rounds.counts(name).pending
        running = {self._start(name, number): number for number in range(len(self._shares))}
        losses = 0
        stop = _Interrupt()
        with stop:
            while running:
                ended, _ = self._ray.wait(list(running), num_returns=1, timeout=POLL_EVERY)
                for reference in ended:
                    number = running.pop(reference)
                    if self._collect(reference, number) or self._unwanted(lease, stop):
                        continue
                    losses += 1
                    if losses > LOSSES_PER_TASK * len(self._shares):
                        message = f"{losses} Ray tasks were lost, and the round was given up."
                        raise JudgeError(message, advice="Check the nodes, then resume the round.")
                    running[self._start(name, number)] = number
                if self._unwanted(lease, stop):
                    self._arena.store.jobs.withdraw(self._job.round_id or 0, "It was stopped.")
                counts = self._arena.store.rounds.counts(name)
                left = counts.pending
                self._report(Progress(total - left, total, self._watch.seconds))
        if stop.asked:
            with suppress(ArenaError):
                self._arena.rounds.pause(name)

    def _start(self, name: str, number: int) -> object:
        job = self._job
        reference: object = self._task.remote(
            name, job.id, job.owner, self._worker_name(number), self._shares[number], self._reaching
        )
        return reference

    def _worker_name(self, number: int) -> str:
        return f"ray-{self._job.id}-{number}"

    def _collect(self, reference: object, number: int) -> bool:
        """Take the result of a task; False where its process or node was lost.

        Raises:
            JudgeError: It cannot go on.
        """
        exceptions = self._ray.exceptions
        try:
            error = self._ray.get(reference)
        except (exceptions.RayTaskError, exceptions.RuntimeEnvSetupError) as failure:
            message = str(failure).strip().splitlines()[-1]
            raise JudgeError(f"A Ray task failed: {message}.", advice="See the node's log.") from failure
        except exceptions.RayError as failure:
            self._log.warning("task.lost", task=number, reason=type(failure).__name__)
            named = self._worker_name(number)
            self._arena.store.leases.give_up(lambda worker: worker.name == named)
            return False
        if error:
            raise JudgeError(f"On a node of the cluster: {error}")
        return True

    def _unwanted(self, lease: Lease, stop: _Interrupt) -> bool:
        seconds = self._arena.settings.lease
        return stop.asked or not self._arena.store.leases.beat(lease.id, lease=seconds).wanted


def judge_share(
    name: str, job_id: int, owner: str, worker_name: str, concurrency: int, reaching: LlmOverrides
) -> str:
    """Judge under one lease on a node, until nothing is free.

    Returns:
        What went wrong, empty where nothing did.
    """
    arena = open_on_node().reaching(reaching)
    try:
        job = arena.store.jobs.get(job_id)
        if (job.owner, job.round_name) != (owner, name):
            return "it uses another database; set ARENA_DATABASE_URL alike on every node."
        job_leases = JobLeases(arena.store, this_worker(worker_name), arena.settings.lease)
        job_and_lease = job_leases.take(owner=owner, job_id=job_id)
        if job_and_lease is None:
            return ""
        _, lease = job_and_lease
        with job_leases.held(lease, attempts=job.attempts):
            asyncio.run(_judge(arena, name, lease, concurrency))
    except ArenaError as error:
        return str(error)
    finally:
        arena.close()
    return ""


async def _judge(arena: Arena, name: str, lease: Lease, concurrency: int) -> None:
    stop = asyncio.Event()
    with stopping_on_interrupt(stop):
        await arena.rounds.judge(name, lease, concurrency=concurrency, report=_quiet, stop=stop, shared=True)


def _quiet(_progress: Progress) -> None:
    """Progress is read from the database by the process that started the tasks."""


class _Interrupt:
    """Ctrl-C and SIGTERM as a request to stop in order, outside of an event loop."""

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            for signum in (signal.SIGINT, signal.SIGTERM):
                self._before[signum] = signal.signal(signum, self._ask)

    def __exit__(self, *_: object) -> None:
        for signum, before in self._before.items():
            signal.signal(signum, before)

    def _ask(self, *_: object) -> None:
        self.asked = True


def _share(concurrency: int, count: int, number: int) -> int:
    """The calls in flight that one of so many tasks may have; together they have all of them."""
    return max(1, concurrency // count + (number < concurrency % count))
