"""What a judge's requests do at this moment: how many came back, how fast, and what they wait for."""

from __future__ import annotations

import time
from dataclasses import dataclass

from data.models import Reply
from judges.base import Judge
from judges.llm.client import Scheduler
from judges.llm.requests import CallFailure, Request


@dataclass(slots=True)
class Traffic:
    """Counts the requests of a run on their way to the scheduler; itself a client of LLMs."""

    scheduler: Scheduler
    requests: int = 0
    _first: float | None = None
    _last: float = 0.0

    async def ask(self, request: Request) -> Reply | CallFailure:
        """Ask, and count what no cache answered."""
        answered = await self.scheduler.ask(request)
        if not (isinstance(answered, Reply) and answered.cached):
            self.requests += 1
            self._last = time.monotonic()
            self._first = self._last if self._first is None else self._first
        return answered

    @property
    def rate(self) -> float | None:
        """Requests a second from the first that came back to the last; None before there are two."""
        if self._first is None or self._last <= self._first:
            return None
        return (self.requests - 1) / (self._last - self._first)

    @property
    def waiting(self) -> str:
        """What the endpoints make the requests wait for, as a sentence; empty where nothing."""
        wait = self.scheduler.waiting
        return "" if wait is None else str(wait)

    def seconds_left(self, battles_left: int, settled: int, settled_requests: int) -> float | None:
        """The time left in seconds, from the replies so far; None where nothing was asked yet.

        Args:
            battles_left: Battles without a verdict.
            settled: Battles that this run settled.
            settled_requests: Requests that those took.
        """
        if not (settled and settled_requests and self.rate):
            return None
        begun = self.requests - settled_requests
        expected = battles_left * settled_requests / settled - begun
        return max(0.0, expected) / self.rate


@dataclass(frozen=True, slots=True)
class OpenedJudge:
    """A judge for a run.

    Attributes:
        judge: The judge.
        traffic: Its requests; None of an embedded judge.
        waits: Whether its battles wait for replies, so that only so many are begun as calls are in flight.
    """

    judge: Judge
    traffic: Traffic | None = None
    waits: bool = False
