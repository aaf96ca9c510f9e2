"""Engine protocol, and orderly shutdown on Ctrl-C, SIGTERM and cancelled jobs."""

import asyncio
import platform
import signal
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from typing import Any, Protocol

from arena.settings import EngineKind
from data.errors import StoppedError
from data.models import RoundCounts
from data.parallel import Spread
from data.progress import Report

StopEvent = threading.Event
"""Set by another thread to stop the work."""
POLL_EVERY = 0.2


@contextmanager
def stopping_on_interrupt(stop: asyncio.Event) -> Iterator[None]:
    """Set an event on Ctrl-C and SIGTERM, where the event loop supports handlers."""
    loop = asyncio.get_running_loop()
    can_handle = threading.current_thread() is threading.main_thread() and platform.system() != "Windows"
    signals = (signal.SIGINT, signal.SIGTERM) if can_handle else ()
    for signum in signals:
        loop.add_signal_handler(signum, stop.set)
    try:
        yield
    finally:
        for signum in signals:
            loop.remove_signal_handler(signum)


def raise_if_stopped(stop_event: StopEvent | None) -> None:
    """Raise StoppedError once the event is set."""
    if stop_event is not None and stop_event.is_set():
        raise StoppedError("The work was stopped before it finished.", advice="Start it again.")


@asynccontextmanager
async def alongside(work: Coroutine[object, object, None]) -> AsyncIterator[None]:
    """Run a task until the block ends, which cancels it."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()


@asynccontextmanager
async def forward_stop(stop_event: StopEvent | None, stop: asyncio.Event) -> AsyncIterator[None]:
    """Set this loop's event once another thread sets its own."""

    async def follow(event: StopEvent) -> None:
        while not event.is_set():  # noqa: ASYNC110 - set by another thread; a thread that waits cannot be cancelled
            await asyncio.sleep(POLL_EVERY)
        stop.set()

    async with nullcontext() if stop_event is None else alongside(follow(stop_event)):
        yield


@asynccontextmanager
async def call_when_set(stop: asyncio.Event | None, then: Callable[[], object]) -> AsyncIterator[None]:
    """Call a function once an event is set."""

    async def call(event: asyncio.Event) -> None:
        await event.wait()
        then()

    async with nullcontext() if stop is None else alongside(call(stop)):
        yield


class Engine(Protocol):
    """Runner of long tasks; with the same seed, every engine gives the same bytes."""

    @property
    def kind(self) -> EngineKind:
        """The engine."""
        ...

    def parallel(self) -> AbstractContextManager[Spread]:
        """Run `data.parallel.parallel_map` on this engine within the block."""
        ...

    def judge(
        self,
        name: str,
        *,
        concurrency: int,
        report: Report,
        workers: int | None = None,
        reaching: Mapping[str, Any] | None = None,
    ) -> RoundCounts:
        """Judge the pending battles of a round.

        `concurrency` is the total over at most `workers` workers; `reaching` are their settings
        (`LlmOverrides.to_json`).
        """
        ...
