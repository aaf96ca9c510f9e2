from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

import pytest

from judges.llm.client import open_client
from judges.llm.settings import AccessSettings
from judges.llm.tasks import TaskRunner

T = TypeVar("T")


class WithRunner(Protocol):
    """Runs something with a `TaskRunner` at an endpoint."""

    def __call__(self, url: str, use: Callable[[TaskRunner], Awaitable[T]]) -> T: ...


@pytest.fixture
def with_runner() -> WithRunner:
    def run(url: str, use: Callable[[TaskRunner], Awaitable[T]]) -> T:
        async def once() -> T:
            async with open_client(AccessSettings(backoff=0.01)) as client:
                return await use(TaskRunner(client, endpoint=url, model="m"))

        return asyncio.run(once())

    return run
