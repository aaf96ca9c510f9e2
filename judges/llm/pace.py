"""How many calls may be in flight, and how many may start in a minute.

`Gate` is additive increase and multiplicative decrease (Chiu & Jain, 1989): the limit grows while
every place is taken, and shrinks when the endpoint says 429, once for all calls that were in flight
together. Other faults leave it alone, since fewer calls would not mend them.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable

CUT = 0.7
MINUTE = 60.0


class Gate:
    """Places for calls in flight, first come, first served.

    Args:
        first: Places at the start.
        most: Places at most.
    """

    def __init__(self, first: int, most: int) -> None:
        self.limit = float(min(first, most))
        self.in_use = 0
        self._most = most
        self._ramping = True
        self._last_cut = float("-inf")
        self._open_at = float("-inf")
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._closed: Callable[[], Exception] | None = None

    async def enter(self) -> None:
        """Take a place, waiting for one.

        Raises:
            Exception: What `close` was given, where the gate is closed.
        """
        if self._closed is not None:
            raise self._closed()
        if not self._waiting and self._free():
            self.in_use += 1
            return
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and future.exception() is None:
                self.leave()
            raise

    def leave(self) -> None:
        """Give a place back."""
        self.in_use -= 1
        self._admit()

    async def __aenter__(self) -> None:
        await self.enter()

    async def __aexit__(self, *_: object) -> None:
        self.leave()

    def succeed(self) -> None:
        """A call succeeded: grow if every place is taken.

        Until the first 429, one place for each success; after it, one for each round of successes.
        """
        if self.in_use >= int(self.limit):
            step = 1.0 if self._ramping else 1.0 / self.limit
            self.limit = min(float(self._most), self.limit + step)
            self._admit()

    def cut(self, started: float) -> None:
        """A call that began at `started` (monotonic seconds) met a 429: shrink, once for its generation."""
        if started < self._last_cut:
            return
        self._last_cut = time.monotonic()
        self._ramping = False
        self.limit = max(1.0, min(self.limit, float(self.in_use)) * CUT)

    def pause(self, seconds: float) -> None:
        """Let nobody in for a while."""
        until = time.monotonic() + seconds
        if until > self._open_at:
            self._open_at = until
            asyncio.get_running_loop().call_later(seconds, self._admit)

    def close(self, reason: Callable[[], Exception]) -> None:
        """Turn away everybody who waits or comes later; those inside finish."""
        self._closed = reason
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_exception(reason())

    def _free(self) -> bool:
        return self.in_use < int(self.limit) and time.monotonic() >= self._open_at

    def _admit(self) -> None:
        while self._waiting and self._free():
            future = self._waiting.popleft()
            if not future.done():
                self.in_use += 1
                future.set_result(None)


class Bucket:
    """So many units a minute, at most, in any minute.

    A second's worth may be spent at once; the rate is lowered by as much, so that no minute exceeds
    the limit. What is larger than a second's worth is let through alone and waited for afterwards.

    Args:
        per_minute: The limit.
        clock: Monotonic seconds.
    """

    def __init__(self, per_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._set(per_minute)
        self._level = self._burst
        self._at = clock()

    def delay(self, units: float) -> float:
        """Spend `units` and return how long to wait before using them, in seconds."""
        now = self._clock()
        self._level = min(self._burst, self._level + (now - self._at) * self._rate)
        self._at = now
        missing = min(units, self._burst) - self._level
        self._level -= units
        return max(0.0, missing / self._rate)

    def share(self, part: float) -> None:
        """Leave this process only a part (0-1) of the limit, since others use the rest."""
        self.delay(0.0)  # What came in until now came in at the old rate.
        self._set(self._per_minute * part)
        self._level = min(self._level, self._burst)

    def hold_back(self) -> None:
        """Begin a second's worth in debt, while those who share the limit do not know of it yet."""
        self._level = -self._burst

    def _set(self, per_minute: float) -> None:
        self._burst = max(1.0, per_minute / MINUTE)
        self._rate = max(per_minute - self._burst, per_minute / 2) / MINUTE
