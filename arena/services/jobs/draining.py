"""Workers that fill what a writer commits: how both end without losing a commit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress


@asynccontextmanager
async def drained(
    workers: Sequence[asyncio.Task[None]], writer: asyncio.Task[None], finished: asyncio.Event
) -> AsyncIterator[None]:
    """Cancel the workers at the end, however it comes, and let the writer commit what they left.

    The writer is asked to end by `finished`, not cancelled: a cancelled commit would lose the batch it holds.
    """
    try:
        yield
    finally:
        for task in workers:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        finished.set()
        await writer


async def commit_until(
    finished: asyncio.Event, commit: Callable[[], Awaitable[None]], *, every: float
) -> None:
    """Commit every so many seconds until `finished` is set, and once more: what the last commit missed."""
    while not finished.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(finished.wait(), every)
        await commit()
    await commit()
