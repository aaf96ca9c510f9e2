"""Ctrl-C and SIGTERM as a wish to stop in order."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def stopping_on_interrupt(stop: asyncio.Event) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM set an event instead of breaking off."""
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)
    try:
        for one in signals:
            loop.add_signal_handler(one, stop.set)
    except (NotImplementedError, RuntimeError, ValueError):
        # Not the main thread, or a platform without signal handlers: interrupts end the run as usual.
        yield
        return
    try:
        yield
    finally:
        for one in signals:
            loop.remove_signal_handler(one)
