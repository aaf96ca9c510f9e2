from __future__ import annotations

from collections import Counter, deque
from typing import Any

from aiohttp import web


class Log:
    """Log of requests: per key, how often a call began and how often a reply was sent."""

    def __init__(self) -> None:
        self.started: Counter[str] = Counter()
        self.replied: Counter[str] = Counter()
        self.statuses: Counter[str] = Counter()
        self.times: deque[float] = deque(maxlen=100_000)
        self.bodies: deque[dict[str, Any]] = deque(maxlen=2_000)
        self.headers: deque[dict[str, str]] = deque(maxlen=100)
        self.in_flight = 0
        self.peak = 0

    @property
    def calls(self) -> int:
        """Calls that began."""
        return self.started.total()

    @property
    def asked_twice(self) -> dict[str, int]:
        """Return the keys of requests with several replies."""
        return {key: count for key, count in self.replied.items() if count > 1}


def error(status: int, code: str, message: str, *, retry_after: str | None = None) -> web.Response:
    """Return an error body in OpenAI's format."""
    headers = {"Retry-After": retry_after} if retry_after is not None else None
    body = {"error": {"message": message, "type": code, "code": code, "param": None}}
    return web.json_response(body, status=status, headers=headers)
