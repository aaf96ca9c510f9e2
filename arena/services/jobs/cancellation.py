"""Protocol of engines, and requests to stop in order: Ctrl-C, SIGTERM and the end of a job."""

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
"""Set by another thread where what is being done is no longer wanted."""
POLL_EVERY = 0.2


@contextmanager
def stopping_on_interrupt(stop: asyncio.Event) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM set an event instead of breaking off.

    Only a main thread receives signals, and Windows' loops take no handlers; without, they end the run.
    """
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
    """Go on only where that is still wanted."""
    if stop_event is not None and stop_event.is_set():
        raise StoppedError("It was stopped before its end.", advice="Ask for it again.")


@asynccontextmanager
async def alongside(work: Coroutine[object, object, None]) -> AsyncIterator[None]:
    """Run something until the block ends, which cancels it."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()


@asynccontextmanager
async def stopping_on_halt(stop_event: StopEvent | None, stop: asyncio.Event) -> AsyncIterator[None]:
    """Let an event of another thread set one of this loop."""

    async def follow(event: StopEvent) -> None:
        while not event.is_set():  # noqa: ASYNC110 - set by another thread; a thread that waits cannot be cancelled
            await asyncio.sleep(POLL_EVERY)
        stop.set()

    async with nullcontext() if stop_event is None else alongside(follow(stop_event)):
        yield


@asynccontextmanager
async def telling(stop: asyncio.Event | None, then: Callable[[], object]) -> AsyncIterator[None]:
    """Call a function once an event is set."""

    async def call(event: asyncio.Event) -> None:
        await event.wait()
        then()

    async with nullcontext() if stop is None else alongside(call(stop)):
        yield


class Engine(Protocol):
    """Does long work; at one seed every engine gives the same bytes."""

    @property
    def kind(self) -> EngineKind:
        """The engine."""
        ...

    def parallel(self) -> AbstractContextManager[Spread]:
        """Do the parts of long work (`data.parallel.parallel_map`) by this engine within the block."""
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
        """Judge what is pending in a round.

        `concurrency` is of all who judge together, at most `workers`; `reaching` are their settings, as
        `LlmOverrides.to_json` has them.
        """
        ...
