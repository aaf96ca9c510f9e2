"""Ctrl-C, SIGTERM and the end of a job as a wish to stop in order."""

from __future__ import annotations

import asyncio
import platform
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from data.errors import StoppedError

Halt = threading.Event
"""Set by another thread where what is being done is no longer wanted."""
LOOK_EVERY = 0.2


@contextmanager
def stopping_on_interrupt(stop: asyncio.Event) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM set an event instead of breaking off.

    Only a main thread is told of signals, and Windows' loops take no handlers; without, they end the run.
    """
    loop = asyncio.get_running_loop()
    told = threading.current_thread() is threading.main_thread() and platform.system() != "Windows"
    signals = (signal.SIGINT, signal.SIGTERM) if told else ()
    for one in signals:
        loop.add_signal_handler(one, stop.set)
    try:
        yield
    finally:
        for one in signals:
            loop.remove_signal_handler(one)


def heed(halt: Halt | None) -> None:
    """Go on only where that is still wanted.

    Raises:
        StoppedError: It is not.
    """
    if halt is not None and halt.is_set():
        raise StoppedError("It was stopped before its end.", advice="Ask for it again.")


@asynccontextmanager
async def stopping_on_halt(halt: Halt | None, stop: asyncio.Event) -> AsyncIterator[None]:
    """Let an event of another thread set one of this loop."""
    follow = None if halt is None else asyncio.create_task(_follow(halt, stop))
    try:
        yield
    finally:
        if follow is not None:
            follow.cancel()


async def _follow(halt: Halt, stop: asyncio.Event) -> None:
    while not halt.is_set():  # noqa: ASYNC110 - set by another thread; a thread that waits cannot be cancelled
        await asyncio.sleep(LOOK_EVERY)
    stop.set()
