"""How much one token or address may ask: counted in this process, by a sliding window."""

from __future__ import annotations

import math
import time

from limits import RateLimitItem, RateLimitItemPerHour, RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter


class Rates:
    """Counts requests.

    Requests are those a minute of one token or address; intakes are uploads, checks and submissions an hour
    of one token, together.
    """

    def __init__(self, *, requests: int, intakes: int) -> None:
        self._limiter = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._requests = RateLimitItemPerMinute(requests, namespace="request")
        self._intakes = RateLimitItemPerHour(intakes, namespace="intake")

    def request(self, key: str) -> tuple[bool, dict[str, str]]:
        """Count a request; whether it may go on, and the headers that say what is left."""
        return self._count(self._requests, key)

    def intake(self, key: str) -> tuple[bool, dict[str, str]]:
        """Count a file; whether it may be taken, and the headers that say what is left."""
        return self._count(self._intakes, key)

    def _count(self, item: RateLimitItem, key: str) -> tuple[bool, dict[str, str]]:
        passed = self._limiter.hit(item, key)
        stats = self._limiter.get_window_stats(item, key)
        return passed, {
            "RateLimit-Limit": str(item.amount),
            "RateLimit-Remaining": str(stats.remaining),
            "RateLimit-Reset": str(max(1, math.ceil(stats.reset_time - time.time()))),
        }
