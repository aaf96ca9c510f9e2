"""The reply cache: what it must do, one in memory, and a reader that asks it for many keys at a time.

Keys are `Request.key`. Failures are never kept, so a retry always asks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Protocol

from data.models import Reply
from judges.llm.requests import Request

MOST_KEYS = 500


class ReplyCache(Protocol):
    """Replies by request key, kept once and verbatim."""

    async def get_many(self, keys: Sequence[str]) -> Mapping[str, Reply]:
        """The replies that are there, by key."""
        ...

    async def put(self, request: Request, reply: Reply) -> None:
        """Keep a reply; it must be committed within a second. A later one for the key replaces it."""
        ...


class CacheReader:
    """Turns look-ups that are made at one moment into one look-up of many keys."""

    def __init__(self, cache: ReplyCache) -> None:
        self._cache = cache
        self._waiting: dict[str, asyncio.Future[Reply | None]] = {}
        self._task: asyncio.Task[None] | None = None

    async def get(self, key: str) -> Reply | None:
        """The reply for a key, where there is one."""
        future = self._waiting.get(key)
        if future is None or future.cancelled():
            future = self._waiting[key] = asyncio.get_running_loop().create_future()
        if self._task is None:
            self._task = asyncio.create_task(self._read())
        return await future

    async def _read(self) -> None:
        try:
            while self._waiting:
                some = dict(list(self._waiting.items())[:MOST_KEYS])
                for key in some:
                    del self._waiting[key]
                await self._settle(some)
        finally:
            self._task = None

    async def _settle(self, some: Mapping[str, asyncio.Future[Reply | None]]) -> None:
        # Gathered, since whatever goes wrong belongs to those who wait.
        [replies] = await asyncio.gather(self._cache.get_many(list(some)), return_exceptions=True)
        for key, future in some.items():
            # Whoever waited may have been cancelled.
            if future.done():
                continue
            if isinstance(replies, BaseException):
                future.set_exception(replies)
            else:
                future.set_result(replies.get(key))
