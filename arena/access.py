"""What LLM access needs of the store: its replies and a round's account, for an event loop.

The store's calls block, so they run in threads; replies that arrive together are committed together.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from arena.settings import Settings
from data.records import Reply
from data.store import Store
from judges.llm.budget import Balance
from judges.llm.opening import open_asker
from judges.llm.requests import Request
from judges.llm.scheduler import Scheduler
from judges.llm.settings import AccessSettings

GATHER_SECONDS = 0.05


class StoredReplies:
    """The store as a reply cache: replies that arrive together are committed together, at once.

    `put` does not wait for the commit, so that a call's place is free for the next one; a commit that
    fails is raised by the next `put`, or by `close`.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: list[Reply] = []
        self._commits: asyncio.Task[None] | None = None

    async def get_many(self, keys: Sequence[str]) -> Mapping[str, Reply]:
        """The replies that are there, by key."""
        return await asyncio.to_thread(self._store.replies.get_many, keys)

    async def put(self, request: Request, reply: Reply) -> None:
        """Keep a reply under the key of its request; committed within a fraction of a second."""
        if reply.key != request.key:
            raise ValueError("A reply bears the key of another request.")
        self._waiting.append(reply)
        if self._commits is None or self._commits.done():
            await self.close()
            self._commits = asyncio.create_task(self._commit())

    async def close(self) -> None:
        """Wait until everything is committed.

        Raises:
            StoreError: A commit failed.
        """
        if self._commits is not None:
            commits, self._commits = self._commits, None
            await commits

    async def _commit(self) -> None:
        while self._waiting:
            await asyncio.sleep(GATHER_SECONDS)
            batch, self._waiting = self._waiting, []
            await asyncio.to_thread(self._store.replies.put, batch)


class StoredLedger:
    """A round's account in the store, which workers share."""

    def __init__(self, store: Store, round_id: int, cap: float) -> None:
        self._store, self._round_id, self._cap = store, round_id, cap

    async def draw(self, least: float, wished: float) -> float:
        """Take between `least` and `wished` USD out of what is left; 0 where less than `least` is."""
        return await asyncio.to_thread(self._store.ledgers.draw, self._round_id, least, wished)

    async def settle(self, *, spent: float, returned: float) -> None:
        """Of what was drawn, `spent` USD were paid and `returned` USD are free again."""
        await asyncio.to_thread(self._store.ledgers.settle, self._round_id, spent=spent, returned=returned)

    async def balance(self) -> Balance:
        """The state now."""
        found = await asyncio.to_thread(self._store.ledgers.account, self._round_id)
        return Balance(cap=self._cap, spent=found.spent, drawn=found.drawn)


def access_settings(settings: Settings, *, concurrency: int) -> AccessSettings:
    """How this installation reaches LLMs."""
    return AccessSettings(
        api_key=settings.api_key or "",
        concurrency=concurrency,
        prices=settings.prices_file if settings.prices_file.is_file() else None,
    )


@asynccontextmanager
async def open_access(
    store: Store,
    settings: Settings,
    *,
    concurrency: int,
    round_id: int | None = None,
    cap: float | None = None,
    stop: asyncio.Event | None = None,
) -> AsyncIterator[Scheduler]:
    """Open LLM access over the store's replies, and over a round's account where it has a cap.

    Once `stop` is set, nothing new is asked; calls in flight finish and are kept.
    """
    ledger = None if round_id is None or cap is None else StoredLedger(store, round_id, cap)
    replies = StoredReplies(store)
    try:
        async with open_asker(
            access_settings(settings, concurrency=concurrency), replies, ledger
        ) as scheduler:
            watcher = asyncio.create_task(_stop_with(scheduler, stop or asyncio.Event()))
            try:
                yield scheduler
            finally:
                watcher.cancel()
    finally:
        await replies.close()


async def _stop_with(scheduler: Scheduler, stop: asyncio.Event) -> None:
    await stop.wait()
    scheduler.stop()
