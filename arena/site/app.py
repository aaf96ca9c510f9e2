"""The ASGI application: Streamlit's pages and our own routes in one server."""

import gc
import hmac
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from itertools import islice
from pathlib import Path
from xml.sax.saxutils import escape

import streamlit as st
import structlog
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import env_util, file_util
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from arena.api.dependencies import Rates, client_of, too_many
from arena.api.errors import problem_response
from arena.container import Arena, open_arena
from arena.services.system import metrics_of
from arena.settings import MetricsAccess, Settings
from arena.site.first_view import FirstView, opened_row
from arena.site.middleware import (
    RetractedStatus,
    ServedHosts,
    SiteMiddleware,
    SocketLimit,
    UntrustedPeers,
    page_policy,
    refused,
)
from arena.site.pages import OWN, added_pages, pages
from arena.site.services import arena_of, as_secrets
from arena.site.sign_in import SignIn
from arena.site.ui.html import digest
from arena.site.ui.messages import public_error
from arena.site.uploads import SignedInUploads
from data.errors import ArenaError, NotFoundError
from data.store.boards import is_called


def metrics_route(arena: Arena) -> Route:
    """Return the `/metrics` route; it requires the bearer token of the settings, unless they open it."""

    async def metrics(request: Request) -> Response:
        refusal = metrics_refusal(arena.settings, request.headers)
        if refusal is not None:
            return refusal
        try:
            body = await run_in_threadpool(metrics_of, arena.store)
        except ArenaError as error:
            return problem_response(503, str(public_error(error)))
        return Response(body, media_type=CONTENT_TYPE_LATEST)

    return Route("/metrics", metrics)


def metrics_refusal(settings: Settings, headers: Mapping[str, str]) -> Response | None:
    """Return the refusal of a request for metrics, ours or Streamlit's; None if it is allowed."""
    token, authorization = settings.metrics_token, headers.get("authorization", "")
    if settings.metrics_access is not MetricsAccess.TOKEN:
        return None
    if token and hmac.compare_digest(authorization.encode(), f"Bearer {token}".encode()):
        return None
    message, advice = "The token is missing or wrong.", "Send `Authorization: Bearer …`."
    if token is None:
        message = "No token for /metrics is configured."
        advice = "Set ARENA_METRICS_TOKEN, or ARENA_METRICS=open for public access."
    return problem_response(401, message, advice=advice, headers={"WWW-Authenticate": "Bearer"})


log = structlog.get_logger("arena.site")
SCRIPT = Path(__file__).parent / "main.py"
ASSETS = Path(__file__).parent / "assets"
TITLE = re.compile(r"<title>[^<]*</title>")
HEAD = '<title>{title} – Answer Arena</title>\n    <script src="./site.js?{version}"></script>{preloads}'
PRELOAD = '\n    <link {kind} crossorigin href="./static/{path}" />'
COMPONENT = "Html"
"""Streamlit component of every page; preloaded, because Streamlit loads it on demand."""
IMPORTED = re.compile(r"""(?:from|import)\s*["']\./([\w.-]+\.js)["']""")
ROOT = '<div id="root"></div>'
# After Streamlit's own styles, which its script adds to the head.
STYLED = f'<link rel="stylesheet" href="./style.css?{{version}}" />\n    {ROOT}'
FACES = {"Source Sans": "SourceSansVF-Upright", "Source Serif": "SourceSerifVariable-Roman"}
FACE = (
    '@font-face {{ font-family: "{family}"; src: url("./static/media/{name}") format("woff2"); '
    "font-weight: 200 900; font-display: swap; }}\n"
)
NO_CACHE = {"Cache-Control": "no-cache"}
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
UNAVAILABLE = 503
UNLIMITED_PATHS = frozenset({"/healthz", "/metrics", "/site.js", "/style.css", "/favicon.png"})
PRELOADED_SERVICES = (
    *("evidence", "question_lists", "systems", "weaknesses"),
    *("sets", "rounds", "submissions"),
)


def make_app(settings: Settings, *, host: str = "", on_ready: Callable[[], None] | None = None) -> st.App:
    """Build the application."""
    routes = _Routes(settings)

    @asynccontextmanager
    async def lifespan(_app: st.App) -> AsyncIterator[None]:
        await run_in_threadpool(routes.warm)
        if on_ready is not None:
            on_ready()
        yield

    return st.App(
        SCRIPT,
        secrets=as_secrets(settings),
        routes=routes.all(),
        middleware=middleware_of(settings, routes, host),
        lifespan=lifespan,
    )


def middleware_of(settings: Settings, routes: "_Routes", host: str = "") -> list[Middleware]:
    """Build the middleware, the outermost first: the caller, then hosts and headers, then the rest."""
    return [
        Middleware(UntrustedPeers, proxies=settings.proxies),
        Middleware(ProxyHeadersMiddleware, trusted_hosts=list(settings.proxies)),
        Middleware(
            SiteMiddleware, hosts=ServedHosts.of(settings, host), policy=page_policy(settings.framers)
        ),
        Middleware(SocketLimit),
        Middleware(StreamlitMetrics, settings=settings),
        Middleware(SignedInUploads, source=routes.arena),
        Middleware(RetractedStatus, retracted=routes.retracted),
    ]


def _guarded(route: Route, rates: Rates) -> Route:
    """Wrap a route: report errors as pages do, and apply the API's rate limit."""
    answer: Callable[[Request], Awaitable[Response]] = route.endpoint

    async def guarded(request: Request) -> Response:
        if route.path not in UNLIMITED_PATHS:
            allowed, limits = rates.request(f"address {client_of(request)}")
            if not allowed:
                refusal = too_many(limits)
                response = refused(request, refusal.status_code, refusal.detail, advice=refusal.advice)
                response.headers.update({**limits, **(refusal.headers or {})})
                return response
        try:
            return await answer(request)
        except ArenaError as error:
            return refused(request, UNAVAILABLE, str(public_error(error)))

    return Route(route.path, guarded, methods=route.methods)


class StreamlitMetrics:
    """ASGI middleware: require the token of `/metrics` for Streamlit's own metrics."""

    def __init__(self, app: ASGIApp, *, settings: Settings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and scope["path"].rstrip("/") == "/_stcore/metrics":
            refusal = metrics_refusal(self._settings, Headers(scope=scope))
            if refusal is not None:
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


class _LazyApi:
    """The API, created at its first request: its models take a third of the start-up time."""

    def __init__(self, arena: Arena, rates: Rates) -> None:
        self._arena, self._rates, self._lock = arena, rates, threading.Lock()
        self._api: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        api = await run_in_threadpool(self._create) if self._api is None else self._api
        await api(scope, receive, send)

    def _create(self) -> ASGIApp:
        from arena.api.app import make_api  # noqa: PLC0415 - as the class says

        with self._lock:
            if self._api is None:
                self._api = make_api(self._arena, self._rates)
            return self._api


class _Routes:
    def __init__(self, settings: Settings) -> None:
        self.arena, self._pages = open_arena(settings), arena_of(as_secrets(settings))

    def all(self) -> list[BaseRoute]:
        plain = [
            *SignIn(self.arena).routes(),
            Route("/healthz", self.healthz),
            metrics_route(self.arena),
            *shell_routes({name: page.title for name, page in pages().items()}, FirstView(self._pages)),
            Route("/leaderboard", _to_leaderboard),
            Route("/row", self.row),
        ]
        settings = self.arena.settings
        rates = Rates(requests=settings.api_rate, intakes=settings.intake_rate)
        api = Mount("/api/v1", app=_LazyApi(self.arena, rates))
        return [api, *(_guarded(route, rates) for route in plain)]

    def retracted(self, board: str) -> bool:
        return any(is_called(head, board) for head in self.arena.boards.retracted())

    def warm(self) -> None:
        """Preload pages and the newest board's questions, so that the first visitor does not wait.

        Libraries that the board does not need stay out of memory until a page needs them.
        """
        for page in OWN:
            page.load()
        for problem in added_pages().problems:
            log.warning("plugin", problem=problem)
        for name in PRELOADED_SERVICES:
            getattr(self.arena, name)
        judged = (head.round_name for head in self.arena.boards.heads() if head.round_name)
        for name in islice(judged, 1):
            # The questions page reports what cannot be read.
            with suppress(ArenaError):
                self._pages.question_lists.of(name)
        # Streamlit calls this at the first element, and it looks up the file of every module.
        env_util.is_repl()
        # These objects live until the server stops, so the garbage collector need not scan them.
        gc.collect()
        gc.freeze()

    async def row(self, request: Request) -> Response:
        """Serve the details of a row of the board."""
        try:
            html = await run_in_threadpool(opened_row, self._pages, request)
        except NotFoundError as error:
            return refused(request, HTTPStatus.NOT_FOUND, error.message, advice=error.advice)
        return Response(html, media_type="text/html", headers={"Cache-Control": "private, no-cache"})

    async def healthz(self, _request: Request) -> Response:
        """Return 200 if the database answers, else 503; the log has the reason."""
        try:
            boards = await run_in_threadpool(self.arena.boards.heads)
        except ArenaError as error:
            return JSONResponse(
                {"status": "unavailable", "message": str(public_error(error))}, status_code=UNAVAILABLE
            )
        return JSONResponse({"status": "ok", "boards": len(boards)})


def shell_routes(titles: Mapping[str, str], first_view: FirstView) -> list[Route]:
    """Build the documents of Streamlit's pages, each with its page's title and our script."""
    static = Path(file_util.get_static_dir())
    document = (static / "index.html").read_text(encoding="utf-8")
    modules = (('rel="modulepreload"', f"js/{name}") for name in _component_files(static, document))
    fonts = (('rel="preload" as="font"', f"media/{name}") for name in _faces(static).values())
    preloads = "".join(PRELOAD.format(kind=kind, path=path) for kind, path in (*modules, *fonts))
    faces = "".join(FACE.format(family=family, name=name) for family, name in _faces(static).items())
    style = f"{faces}{(ASSETS / 'style.css').read_text(encoding='utf-8')}"
    script = (ASSETS / "site.js").read_text(encoding="utf-8")
    # Browsers ask for neither again before they change.
    routes = [
        Route("/site.js", _constant(script, "text/javascript", FOREVER)),
        Route("/style.css", _constant(style, "text/css", FOREVER)),
        Route("/favicon.png", _constant((ASSETS / "favicon.png").read_bytes(), "image/png")),
    ]
    document = document.replace(ROOT, STYLED.format(version=digest(style)))
    before, after = TITLE.split(document, maxsplit=1)
    for path, title in titles.items():
        text = f"{before}{HEAD.format(title=escape(title), version=digest(script), preloads=preloads)}{after}"
        routes.append(
            Route(
                f"/{path}", _with_first_view(text, first_view) if not path else _constant(text, "text/html")
            )
        )
    return routes


def _with_first_view(document: str, first_view: FirstView) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        text = document.replace(ROOT, f"{await first_view.of(request)}{ROOT}")
        return Response(text, media_type="text/html", headers={**NO_CACHE, "Vary": "Cookie"})

    return answer


def _component_files(static: Path, document: str) -> list[str]:
    folder = static / "static" / "js"
    files = list(folder.glob(f"{COMPONENT}.*.js"))
    names = {path.name for path in files}
    for path in files:
        names.update(IMPORTED.findall(path.read_text(encoding="utf-8")))
    return sorted(name for name in names if name not in document)


def _faces(static: Path) -> Mapping[str, str]:
    """Return the theme's font files, which Streamlit adds only when its script runs."""
    media = static / "static" / "media"
    return {family: path.name for family, stem in FACES.items() for path in media.glob(f"{stem}.*.woff2")}


async def _to_leaderboard(request: Request) -> Response:
    return RedirectResponse(f"./?{request.url.query}" if request.url.query else "./")


def _constant(
    body: str | bytes, kind: str, headers: Mapping[str, str] = NO_CACHE
) -> Callable[[Request], Awaitable[Response]]:
    async def answer(_request: Request) -> Response:
        return Response(body, media_type=kind, headers=headers)

    return answer
