from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from arena.services.judging.traffic import Traffic
from data.models import Reply


class Scheduler:
    """Scheduler that replies at once, from endpoint or cache."""

    waiting = None

    async def ask(self, request: Any) -> Reply:  # noqa: ANN401 - any request
        return Reply(key=str(request), endpoint="e", model="m", text="t", cached=request == "cached")


def test_time_left_follows_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    traffic: Any = Traffic(Scheduler())  # type: ignore[arg-type]  # one method will do
    clock = iter(range(100))
    monkeypatch.setattr("arena.services.judging.traffic.time", SimpleNamespace(monotonic=lambda: next(clock)))
    assert traffic.seconds_left(3, 2, 4) is None
    for request in ("one", "cached", "two", "three", "four", "five"):
        asyncio.run(traffic.ask(request))
    assert (traffic.requests, traffic.rate) == (5, 1.0)
    assert traffic.seconds_left(3, 2, 4) == 5.0
