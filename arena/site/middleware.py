"""Middleware of the site: allowed hosts, security headers, errors.

DNS rebinding: if the name of another site resolves to this machine, a browser treats its pages as ours.
Their requests have that name in `Host`, and so are refused.

Plain ASGI, so that responses are streamed. Headers that a route sets take precedence.
"""

import base64
import hashlib
import re
import socket
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from http import HTTPStatus
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import structlog
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket
from streamlit import file_util

from arena.api.dependencies import rate_key
from arena.api.errors import TITLES, internal_error, problem_response
from arena.html_pages import rendered
from arena.services.accounts.auth import SESSION_LIFETIME
from arena.settings import LOOPBACK, Settings
from data.errors import ArenaError

log = structlog.get_logger("arena.site")
FORWARDED = ("x-forwarded-for", "x-forwarded-proto")
REWRITTEN = 0
"""Client port once a trusted proxy's headers are applied."""
UNTRUSTED = (
    "a proxy that is not in ARENA_PROXIES forwards requests: its visitors share one rate limit, and cookies "
    "are not restricted to https"
)


class UntrustedPeers:
    """ASGI middleware: warn once about an untrusted proxy, before the headers of trusted ones are applied."""

    def __init__(self, app: ASGIApp, *, proxies: Sequence[str]) -> None:
        self._app = app
        self._trusted = [ip_network(proxy) for proxy in proxies]
        self._warned = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if not self._warned and scope["type"] in {"http", "websocket"} and self._is_untrusted(scope):
            self._warned = True
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


MAX_SOCKETS = 200  # each open page takes four file descriptors


class SocketLimit:
    """ASGI middleware: limit the open WebSockets of each address."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request or WebSocket."""
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        address = rate_key((scope.get("client") or ("", 0))[0])
        if self._open[address] >= MAX_SOCKETS:
            refusal = problem_response(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"{MAX_SOCKETS} pages are open from this address.",
                advice="Close some of them.",
            )
            await WebSocket(scope, receive, send).send_denial_response(refusal)
            return
        # asyncio does this only for sockets that name TCP; Streamlit's does not, and each run waits 40 ms.
        if (transport := getattr(getattr(send, "__self__", None), "transport", None)) is not None:
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._open[address] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._open[address] -= 1
            if not self._open[address]:
                del self._open[address]


class SiteMiddleware:
    """ASGI middleware of the whole site."""

    def __init__(self, app: ASGIApp, hosts: "ServedHosts", policy: str) -> None:
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
                _secure_cookies(scope, message)
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
                scope, 404, "There is nothing at this address.", advice="Start at the leaderboard."
            )
        if refusal is not None:
            await self._with_headers(refusal)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        requested = origin_of_request(scope)
        if requested is None:
            return refused(
                scope, 400, "The request has no valid host.", advice="Send one valid `Host` header."
            )
        if not self._hosts.serve(scope, requested):
            log.warning("host refused", host=requested.host)
            return refused(
                scope,
                HTTPStatus.MISDIRECTED_REQUEST,
                "The arena is not served under this name.",
                advice="Add the name to ARENA_HOSTS, or set ARENA_PUBLIC_URL.",
            )
        origin = Headers(scope=scope).get("origin")
        if scope["type"] == "websocket" and origin is not None and not self._hosts.own(scope, origin):
            log.warning("origin refused", origin=origin[:200], host=requested.host, port=requested.port)
            return problem_response(
                HTTPStatus.FORBIDDEN,
                "The request comes from another origin: scheme, host and port must match this site's.",
                advice="Behind a proxy, pass `Host` and `X-Forwarded-Proto` on, or set ARENA_PUBLIC_URL.",
            )
        return None

    def _with_headers(self, response: Response) -> Response:
        self._add(response.headers)
        return response

    def _add(self, headers: MutableHeaders) -> None:
        for name, value in self._headers.items():
            headers.setdefault(name, value)


STREAMLIT_COOKIE = re.compile(rb"\A_streamlit\w*=")
MAX_AGE = re.compile(rb"Max-Age=\d{6,}", re.IGNORECASE)


def _secure_cookies(scope: Scope, message: Message) -> None:
    """Restrict Streamlit's sign-in cookies to https and half a day."""
    if scope["scheme"] != "https":
        return
    for number, (name, value) in enumerate(message["headers"]):
        if name.lower() == b"set-cookie" and STREAMLIT_COOKIE.match(value):
            cookie = MAX_AGE.sub(f"Max-Age={int(SESSION_LIFETIME.total_seconds())}".encode(), value)
            message["headers"][number] = (name, cookie + b"; Secure")


def _is_bare_404(message: Message) -> bool:
    kind = Headers(raw=message["headers"]).get("content-type", "text/plain")
    return message["status"] == HTTPStatus.NOT_FOUND and kind.startswith("text/plain")


def _is_empty_shell(scope: Scope, message: Message) -> bool:
    """Detect Streamlit's own document, its response to every unknown path."""
    return isinstance(scope.get("endpoint"), StaticFiles) and _is_page(message)


OK, GONE = 200, 410


class RetractedStatus:
    """ASGI middleware: respond 410 for pages of a retracted board; browsers still show the page."""

    def __init__(self, app: ASGIApp, *, retracted: Callable[[str], bool]) -> None:
        self._app = app
        self._retracted = retracted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; for a page, check the board in its address first."""
        board = _board_of(scope)
        if not board or not await run_in_threadpool(self._is_retracted, board):
            await self._app(scope, receive, send)
            return

        async def send_gone(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_page(message):
                message["status"] = GONE
            await send(message)

        await self._app(scope, receive, send_gone)

    def _is_retracted(self, board: str) -> bool:
        try:
            return self._retracted(board)
        except ArenaError as error:
            # The page itself reports the error.
            log.warning("retractions unknown", error=str(error))
            return False


def _board_of(scope: Scope) -> str:
    if scope["type"] != "http" or scope["method"] not in {"GET", "HEAD"}:
        return ""
    return QueryParams(scope["query_string"]).get("board", "")


def _is_page(message: Message) -> bool:
    kind = Headers(raw=message["headers"]).get("content-type", "")
    return message["status"] in {OK, HTTPStatus.NOT_FOUND} and kind.startswith("text/html")


PORTS = {"http": 80, "https": 443}


class Origin(NamedTuple):
    """Origin as browsers define it: scheme, host and port."""

    scheme: str
    host: str
    port: int


def origin_of(address: str) -> Origin | None:
    """Return the origin of a URL; None if it has none, such as `null`."""
    try:
        parts = urlsplit(address)
        port = parts.port or PORTS.get(parts.scheme)
    except ValueError:
        return None
    if port is None or not parts.hostname:
        return None
    return Origin(parts.scheme, parts.hostname.rstrip("."), port)


def origin_of_request(scope: Scope) -> Origin | None:
    """Return the origin of a request, from its `Host` and scheme; None if `Host` is invalid."""
    host = Headers(scope=scope).get("host", "")
    if not host or any(sign in host for sign in "/?#@\\ "):
        return None
    scheme = {"ws": "http", "wss": "https"}.get(scope["scheme"], scope["scheme"])
    return origin_of(f"{scheme}://{host}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedHosts:
    """Host names to serve, in lower case, and the public origin, if one is set."""

    names: frozenset[str]
    public: Origin | None = None

    @classmethod
    def of(cls, settings: Settings, host: str = "") -> "ServedHosts":
        """Collect the hosts of the settings, the listening address and this machine."""
        public = origin_of(settings.public_url)
        listed = (name.strip("[]") for name in (*settings.hosts, host.lower(), public.host if public else ""))
        return cls(names=LOOPBACK | {name for name in listed if name}, public=public)

    def serve(self, scope: Scope, requested: Origin) -> bool:
        """Check that a request's host is served; the address that received it always is."""
        local = scope.get("server") or ("", None)
        return requested.host in self.names or requested.host == str(local[0]).lower()

    def own(self, scope: Scope, origin: str) -> bool:
        """Check that an `Origin` is this site: the request's own origin, or the public one."""
        parsed = origin_of(origin)
        return parsed is not None and parsed in {origin_of_request(scope), self.public}


ALWAYS: Mapping[str, str] = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"}
PAGES = (
    "default-src 'self'",
    # 'wasm-unsafe-eval' allows WebAssembly but no eval; without it, Streamlit's Protobuf decoder reports a
    # violation on each page.
    "script-src 'self' 'wasm-unsafe-eval'{hashes}",
    # Streamlit's components write their styles into the page as they are drawn.
    "style-src 'self' 'unsafe-inline'",
    # Charts and icons are data URLs; downloads of charts are blobs.
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
)


def page_policy(framers: Sequence[str]) -> str:
    """Return the Content Security Policy of Streamlit's pages: only scripts of this server.

    The document's inline script is allowed by its hash; Vega's interpreter draws charts without eval.
    """
    document = Path(file_util.get_static_dir()) / "index.html"
    hashes = "".join(f" '{digest}'" for digest in script_hashes(document.read_text(encoding="utf-8")))
    frames = " ".join(("frame-ancestors 'self'", *framers))
    return "; ".join((*PAGES, frames)).format(hashes=hashes)


def script_hashes(document: str) -> tuple[str, ...]:
    """Return the hashes of a document's inline scripts, as a policy lists them.

    Source: W3C, Content Security Policy Level 3, section 2.3.1 (hash-source).
    """
    parser = _Scripts()
    parser.feed(document)
    digests = (hashlib.sha256(text.encode()).digest() for text in parser.texts)
    return tuple(f"sha256-{base64.b64encode(digest).decode()}" for digest in digests)


class _Scripts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag == "script" and "src" not in dict(attrs)
        if self._inside:
            self.texts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "script"

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.texts[-1] += data


STYLE = Path(__file__).parent / "assets" / "sign_in.css"
HEADERS = {
    **ALWAYS,
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
}


def plain_page(
    title: str,
    *texts: str,
    alert: str = "",
    form: str = "",
    leave: str = "",
    status: int = 200,
    home: str = "../",
) -> HTMLResponse:
    """Return a page with a heading, texts, an error, and a form to sign in or out."""
    style = STYLE.read_text(encoding="utf-8")
    words = {"title": title, "texts": texts, "alert": alert, "form": form, "leave": leave}
    page = rendered("plain.html", **words, home=home, style=style)
    return HTMLResponse(page, status, headers=HEADERS)


def refused(request: Request | Scope, status: int, message: str, *, advice: str = "") -> Response:
    """Render a refusal: a page for browsers, else a problem as the API reports it."""
    scope = request.scope if isinstance(request, Request) else request
    if "text/html" not in Headers(scope=scope).get("accept", ""):
        return problem_response(status, message, advice=advice)
    title = TITLES.get(status) or HTTPStatus(status).phrase
    home = "../" * (scope["path"].count("/") - 1) or "./"
    return plain_page(title, *filter(None, (message, advice)), status=status, home=home)
