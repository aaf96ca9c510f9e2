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
from judges.llm.requests import Asker, Request
from judges.llm.settings import AccessSettings

GATHER_SECONDS = 0.05


class StoredReplies:
    """The store as a reply cache; `put` returns once the reply is committed."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: list[Reply] = []
        self._commit: asyncio.Task[None] | None = None

    async def get_many(self, keys: Sequence[str]) -> Mapping[str, Reply]:
        """The replies that are there, by key."""
        return await asyncio.to_thread(self._store.replies.get_many, keys)

    async def put(self, request: Request, reply: Reply) -> None:
        """Keep a reply under the key of its request."""
        if reply.key != request.key:
            raise ValueError("A reply bears the key of another request.")
        self._waiting.append(reply)
        if self._commit is None:
            self._commit = asyncio.create_task(self._gather())
        await asyncio.shield(self._commit)

    async def _gather(self) -> None:
        await asyncio.sleep(GATHER_SECONDS)
        # From here on, replies that arrive begin a commit of their own.
        batch, self._waiting, self._commit = self._waiting, [], None
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
        first_concurrency=min(16, concurrency),
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
) -> AsyncIterator[Asker]:
    """Open LLM access over the store's replies, and over a round's account where it has a cap."""
    ledger = None if round_id is None or cap is None else StoredLedger(store, round_id, cap)
    access = access_settings(settings, concurrency=concurrency)
    async with open_asker(access, StoredReplies(store), ledger) as asker:
        yield asker
