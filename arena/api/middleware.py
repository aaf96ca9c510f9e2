"""ASGI middleware of the API: limits on bodies, response headers and a fallback error handler.

A body is refused by its announced length, or as soon as it is too long or too slow (Slowloris).
"""

import asyncio
import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.api.errors import RefusedRequestError, internal_error, problem_response

MIN_RATE = 4_096
"""Minimum average bytes per second of a body after `patience`."""
TOO_LARGE = 413
MAX_DRAINED, DRAIN_SECONDS = 8 * 1024 * 1024, 2.0
CLOSING = {"Connection": "close"}
ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}
LIMIT_HEADERS = "arena_limit_headers"


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyLimits:
    """Limits on reading a body."""

    file_bytes: int
    patience: float
    other_bytes: int = 256 * 1024


class Envelope:
    """Middleware of the whole API."""

    def __init__(self, app: ASGIApp, limits: BodyLimits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        started, head = False, scope["method"] == "HEAD"
        if head:
            # HEAD works wherever GET does, with the same headers and no body (RFC 9110, 9.3.2).
            scope = {**scope, "method": "GET"}

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                _add(MutableHeaders(scope=message), {**ALWAYS, **state.get(LIMIT_HEADERS, {})})
            elif head:
                message = {**message, "body": b""}
            await send(message)

        max_bytes = self._max_bytes(scope)
        announced = Headers(scope=scope).get("content-length", "")
        try:
            if announced.isdecimal() and int(announced) > max_bytes:
                raise _too_long(max_bytes)
            body = LimitedBody(receive, max_bytes, self._limits.patience)
            await self._app(scope, body.receive, send_with_headers)
        except RefusedRequestError as refused:
            await _drain(receive, refused)
            response = problem_response(
                refused.status_code, refused.detail, advice=refused.advice, headers=refused.headers
            )
            await response(scope, receive, send_with_headers)
        except Exception as error:
            if started:
                raise
            await internal_error(error)(scope, receive, send_with_headers)

    def _max_bytes(self, scope: Scope) -> int:
        path: str = scope["path"]
        takes_files = path.endswith(("/check", "/submissions"))
        return self._limits.file_bytes if takes_files else self._limits.other_bytes


class LimitedBody:
    """Body of up to `max_bytes`, which may not stall for `patience` seconds or trickle."""

    def __init__(self, receive: Receive, max_bytes: int, patience: float) -> None:
        self._receive = receive
        self._max_bytes = max_bytes
        self._patience = patience
        self._read = 0
        self._begun = time.monotonic()
        self._ended = False

    async def receive(self) -> Message:
        """Receive the next part; raise RefusedRequestError if the body is too slow or too long."""
        if self._ended:
            return await self._receive()
        due = self._begun + self._patience + self._read / MIN_RATE
        wait = min(self._patience, due - time.monotonic())
        try:
            async with asyncio.timeout(max(wait, 0.001)):
                message = await self._receive()
        except TimeoutError as error:
            raise RefusedRequestError(
                408,
                f"The body arrived too slowly: {self._read:,} bytes so far.",
                advice="Send it again.",
                headers=CLOSING,
            ) from error
        self._read += len(message.get("body", b""))
        self._ended = not message.get("more_body", False)
        if self._read > self._max_bytes:
            raise _too_long(self._max_bytes)
        return message


async def _drain(receive: Receive, refused: RefusedRequestError) -> None:
    """Read the rest of a body that is too long, since unread bytes would reset the connection."""
    left = MAX_DRAINED if refused.status_code == TOO_LARGE else 0
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            while left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


def _too_long(max_bytes: int) -> RefusedRequestError:
    return RefusedRequestError(
        TOO_LARGE,
        f"The body is longer than {max_bytes:,} bytes.",
        advice="Send less; answer files may be gzipped.",
        headers=CLOSING,
    )


def _add(headers: MutableHeaders, extra: Mapping[str, str]) -> None:
    for name, value in extra.items():
        headers.setdefault(name, value)
