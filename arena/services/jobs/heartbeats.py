"""Heartbeats of a lease, sent from a thread while an event loop works."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Protocol

from data.errors import LeaseLostError, StoreError
from data.progress import Work
from data.store import Store

STATE_EVERY = 1.0
LookAtWork = Callable[[], Work | None]


class Stoppable(Protocol):
    """Work of an event loop that can be stopped."""

    @property
    def stopping(self) -> asyncio.Event:
        """Set where nothing new is to begin."""
        ...

    def fail(self, error: Exception) -> None:
        """Keep the first error and stop."""
        ...


@asynccontextmanager
async def heartbeats(
    store: Store, lease_id: int, lease: float, run: Stoppable, *, work: LookAtWork = lambda: None
) -> AsyncIterator[None]:
    """Send heartbeats from a thread, whatever the event loop is doing (A4).

    The run is stopped where its job is no longer wanted, and fails where the lease is lost.

    Args:
        store: Where the lease is.
        lease_id: The lease.
        lease: Seconds without a heartbeat after which it expires.
        run: What is done under it.
        work: Tells how far it is, for whoever looks from another process.
    """
    over, loop = threading.Event(), asyncio.get_running_loop()
    watcher = threading.Thread(
        target=_watch, args=(store, lease_id, lease, run, loop, over, work), name="heartbeats", daemon=True
    )
    watcher.start()
    try:
        yield
    finally:
        over.set()
        await asyncio.to_thread(watcher.join)


def _watch(
    store: Store,
    lease_id: int,
    lease: float,
    run: Stoppable,
    loop: asyncio.AbstractEventLoop,
    over: threading.Event,
    work: LookAtWork,
) -> None:
    while not over.wait(STATE_EVERY):
        try:
            beat = store.leases.beat(lease_id, lease=lease, work=work())
        except (StoreError, LeaseLostError) as error:
            loop.call_soon_threadsafe(run.fail, error)
            return
        if not beat.wanted:
            loop.call_soon_threadsafe(run.stopping.set)
