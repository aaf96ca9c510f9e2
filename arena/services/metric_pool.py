"""Embedded metrics over several processes: each answer is scored in one of them, this one keeps the books.

Processes are spawned, so that they share neither locks nor database connections with this one. They
ignore Ctrl-C, which this process turns into an end in order, and end with it whatever ends it.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from multiprocessing.connection import wait
from types import TracebackType
from typing import Self

from data.errors import JudgeError, SpecError
from data.records import MetricItem, Outcome, Score, unscored
from judges.metrics import Metric, build_metric

LEAST_ANSWERS = 500
"""Fewer answers are scored before the processes have started."""
IN_FLIGHT = 2
"""Answers a process has at hand, so that it never waits for the next."""


class ScoringPool:
    """Processes that score answers, started when first needed; a context that ends them.

    Args:
        processes: How many; None: as many as this process may use processors.
        least: So many answers must be waiting.
    """

    def __init__(self, processes: int | None = None, *, least: int = LEAST_ANSWERS) -> None:
        self.processes = processes or _processors()
        self._least = least
        self._executor: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
            self._executor = None

    @property
    def in_flight(self) -> int:
        """Answers to have at hand at once."""
        return IN_FLIGHT * self.processes

    def spread(self, metric: Metric, answers: int) -> Metric:
        """The embedded metric of this name with its default constants, in processes where that is quicker."""
        if self.processes == 1 or answers < self._least:
            return metric
        return PooledMetric(metric.name, self)

    async def score(self, name: str, item: MetricItem) -> Score:
        """Score one answer in some process.

        Raises:
            JudgeError: A process ended before it was done.
        """
        if self._executor is None:
            self._executor = ProcessPoolExecutor(
                self.processes, mp_context=multiprocessing.get_context("spawn"), initializer=_prepare
            )
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, _score, name, item)
        except BrokenProcessPool as error:
            message = f"A process that scored by {name} ended before it was done; memory may have run out."
            raise JudgeError(message, advice="Set ARENA_PROCESSES to 1 and run it again to go on.") from error


class PooledMetric:
    """An embedded metric whose answers are scored in other processes."""

    def __init__(self, name: str, pool: ScoringPool) -> None:
        self._name = name
        self._pool = pool

    @property
    def name(self) -> str:
        """The metric's name."""
        return self._name

    async def score(self, item: MetricItem) -> Score:
        """Score one answer.

        Raises:
            JudgeError: A process ended before it was done.
        """
        return await self._pool.score(self._name, item)


async def scored(metric: Metric, item: MetricItem) -> Score:
    """Score one answer; where the metric breaks on it, that is this answer's outcome and no other's."""
    try:
        return await metric.score(item)
    except (JudgeError, SpecError):
        raise
    except Exception as error:  # noqa: BLE001 - counted as failed, with its reason; others go on
        reason = f"The metric broke on this answer ({type(error).__name__}: {error})."
        return unscored(item, metric.name, Outcome.FAILED, reason)


def _processors() -> int:
    """Processors that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def _prepare() -> None:
    """Make a new process leave Ctrl-C to its parent, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


@lru_cache(maxsize=16)
def _metric(name: str) -> Metric:
    return build_metric(name)


def _score(name: str, item: MetricItem) -> Score:
    return asyncio.run(scored(_metric(name), item))
