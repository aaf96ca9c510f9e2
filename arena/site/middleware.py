"""Middleware of the site: allowed hosts, headers of every answer, errors.

Plain ASGI, so that answers are streamed. Routes that need other headers set them, and those win.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from http import HTTPStatus
from ipaddress import ip_address, ip_network

import structlog
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from arena.api.errors import internal_error, problem_response
from arena.site.hosts import ServedHosts, origin_of_request
from arena.site.plain_pages import refused
from arena.site.security_policy import ALWAYS
from data.errors import ArenaError

log = structlog.get_logger("arena.site")
FORWARDED = ("x-forwarded-for", "x-forwarded-proto")
REWRITTEN = 0
"""The port of a visitor whose address a trusted proxy has told."""
UNTRUSTED = (
    "a proxy that ARENA_PROXIES does not name forwards requests: all its visitors count as one, and cookies "
    "are not for https alone"
)


class UntrustedPeers:
    """Says once where somebody forwards requests whose word on visitors is not taken.

    It stands behind the server, which has rewritten the requests of proxies on this machine, and before what
    rewrites those of other proxies.
    """

    def __init__(self, app: ASGIApp, *, proxies: Sequence[str]) -> None:
        self._app = app
        self._trusted = [ip_network(proxy) for proxy in proxies]
        self._said = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if not self._said and scope["type"] in {"http", "websocket"} and self._is_untrusted(scope):
            self._said = True
            log.warning(UNTRUSTED, peer=scope["client"][0])
        await self._app(scope, receive, send)

    def _is_untrusted(self, scope: Scope) -> bool:
        headers, (host, port) = Headers(scope=scope), scope.get("client") or ("", 0)
        if port == REWRITTEN or not any(name in headers for name in FORWARDED):
            return False
        try:
            peer = ip_address(host)
        except ValueError:
            return True
        return not (peer.is_loopback or any(peer in network for network in self._trusted))


class SiteMiddleware:
    """ASGI middleware of the whole site.

    `policy` is the Content-Security-Policy of everything that has none of its own.
    """

    def __init__(self, app: ASGIApp, hosts: ServedHosts, policy: str) -> None:
        self._app = app
        self._hosts = hosts
        self._headers = {**ALWAYS, "Content-Security-Policy": policy}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or WebSocket."""
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "websocket" and (refusal := self._refusal(scope)) is not None:
            await WebSocket(scope, receive, send).send_denial_response(self._with_headers(refusal))
        else:
            await self._app(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = missing = False

        async def checked(message: Message) -> None:
            nonlocal started, missing
            if message["type"] == "http.response.start":
                missing = _is_bare_404(message) or _is_empty_shell(scope, message)
                started = not missing
                self._add(MutableHeaders(scope=message))
            if not missing:
                await send(message)

        refusal = self._refusal(scope)
        if refusal is None:
            try:
                await self._app(scope, receive, checked)
            except Exception as error:
                if started:
                    raise
                refusal, missing = internal_error(error), False
        if missing:
            refusal = refused(
                scope, 404, "There is nothing at this address.", advice="Begin at the leaderboard."
            )
        if refusal is not None:
            await self._with_headers(refusal)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        """Return the refusal of a request; None where it is served."""
        asked = origin_of_request(scope)
        if asked is None:
            return refused(scope, 400, "The request names no host.", advice="Send one usable `Host`.")
        if not self._hosts.serve(scope, asked):
            log.warning("host refused", host=asked.host)
            return refused(
                scope,
                HTTPStatus.MISDIRECTED_REQUEST,
                "The arena is not served under this name.",
                advice="Organisers list its names in ARENA_HOSTS, or set ARENA_PUBLIC_URL.",
            )
        origin = Headers(scope=scope).get("origin")
        if scope["type"] == "websocket" and origin is not None and not self._hosts.own(scope, origin):
            log.warning("origin refused", origin=origin[:200], host=asked.host, port=asked.port)
            return problem_response(
                HTTPStatus.FORBIDDEN,
                "The page that asks is of another origin: scheme, host and port must be this site's.",
                advice="Behind a proxy, pass `Host` and `X-Forwarded-Proto` on, or set ARENA_PUBLIC_URL.",
            )
        return None

    def _with_headers(self, response: Response) -> Response:
        self._add(response.headers)
        return response

    def _add(self, headers: MutableHeaders) -> None:
        for name, value in self._headers.items():
            headers.setdefault(name, value)


def _is_bare_404(message: Message) -> bool:
    """Return whether a response is a bare 404, in no format for programs or readers."""
    kind = Headers(raw=message["headers"]).get("content-type", "text/plain")
    return message["status"] == HTTPStatus.NOT_FOUND and kind.startswith("text/plain")


def _is_empty_shell(scope: Scope, message: Message) -> bool:
    """Return whether Streamlit answers with its own document, as it does for every unknown address."""
    return isinstance(scope.get("endpoint"), StaticFiles) and _is_page(message)


OK, GONE = 200, 410


class RetractedStatus:
    """Answers 410 for pages whose address names a retracted board; browsers show the page all the same."""

    def __init__(self, app: ASGIApp, *, retracted: Callable[[str], bool]) -> None:
        self._app = app
        self._retracted = retracted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; for a page, check the board in its address first."""
        board = _board_of(scope)
        if not board or not await run_in_threadpool(self._is_retracted, board):
            await self._app(scope, receive, send)
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_page(message):
                message["status"] = GONE
            await send(message)

        await self._app(scope, receive, sent)

    def _is_retracted(self, board: str) -> bool:
        try:
            return self._retracted(board)
        except ArenaError as error:
            # The page itself says so; its status stays as it is.
            log.warning("retractions not known", error=str(error))
            return False


def _board_of(scope: Scope) -> str:
    if scope["type"] != "http" or scope["method"] not in {"GET", "HEAD"}:
        return ""
    return QueryParams(scope["query_string"]).get("board", "")


def _is_page(message: Message) -> bool:
    kind = Headers(raw=message["headers"]).get("content-type", "")
    return message["status"] in {OK, HTTPStatus.NOT_FOUND} and kind.startswith("text/html")
