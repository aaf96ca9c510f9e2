"""The ASGI application: Streamlit's pages and our own routes in one server."""

from __future__ import annotations

import gc
import hmac
import importlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from xml.sax.saxutils import escape

import streamlit as st
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from streamlit import env_util, file_util

from arena.api.app import make_api
from arena.api.errors import problem_response
from arena.container import Arena, open_arena
from arena.services.accounts.mail import mailer_of
from arena.services.system.prometheus import metrics_of
from arena.settings import MetricsAccess, Settings
from arena.site.browser_uploads import BrowserUploads
from arena.site.hosts import ServedHosts
from arena.site.middleware import RetractedStatus, SiteMiddleware
from arena.site.plain_pages import refused
from arena.site.public.routes import board_routes
from arena.site.public.votes import VoteRoutes
from arena.site.security_policy import page_policy
from arena.site.services import as_secrets
from arena.site.sign_in import SignIn
from arena.site.ui.errors import public_error
from arena.site.ui.help_texts import PAGES
from data.errors import ArenaError
from data.store.boards.boards import is_called


def metrics_route(arena: Arena) -> Route:
    """The route; it asks for the bearer token of the settings, unless they open it to everybody."""
    metrics_token = arena.settings.metrics_token
    closed = arena.settings.metrics_access is MetricsAccess.TOKEN

    async def metrics(request: Request) -> Response:
        header = request.headers.get("authorization", "")
        if closed and not (
            metrics_token and hmac.compare_digest(header.encode(), f"Bearer {metrics_token}".encode())
        ):
            return _challenge(configured=metrics_token is not None)
        try:
            body = await run_in_threadpool(metrics_of, arena.store)
        except ArenaError as error:
            return problem_response(503, str(public_error(error)))
        return Response(body, media_type=CONTENT_TYPE_LATEST)

    return Route("/metrics", metrics)


def _challenge(*, configured: bool) -> Response:
    """The answer to a request without the right token; where none is configured, to every request."""
    message, advice = "The token is missing or wrong.", "Send `Authorization: Bearer …`."
    if not configured:
        message = "No token for /metrics is configured."
        advice = "Organisers set ARENA_METRICS_TOKEN, or ARENA_METRICS=open to let everybody read it."
    return problem_response(401, message, advice=advice, headers={"WWW-Authenticate": "Bearer"})


SCRIPT = Path(__file__).parent / "main.py"
SITE_SCRIPT = Path(__file__).parent / "assets" / "site.js"
TITLE = re.compile(r"<title>[^<]*</title>")
HEAD = (
    "<title>{title} – Answer Arena</title>\n"
    '    <link rel="alternate" type="application/atom+xml" title="Boards" href="./feed.atom" />\n'
    '    <script src="./site.js"></script>'
)
NO_CACHE = {"Cache-Control": "no-cache"}
UNAVAILABLE = 503
WARMED = ("arena.site.shown", "pandas", "pyarrow.parquet", "PIL.Image")
"""Modules that the first readers of pages, charts and files would wait for."""
ASKED_FOR = (
    *("evidence", "question_lists", "question_search", "profiles", "weaknesses", "fixes", "versions"),
    *("comparisons", "history", "file_descriptions", "set_statistics", "rounds", "submissions"),
)
"""Services of the public pages, whose modules load when they are first asked for."""


def make_app(settings: Settings, *, host: str = "", on_ready: Callable[[], None] | None = None) -> st.App:
    """Build the application.

    The site is served under the name of `host`, which is listened on; `on_ready` is called once it has
    started.
    """
    routes = _Routes(settings)

    @asynccontextmanager
    async def lifespan(_app: st.App) -> AsyncIterator[None]:
        await run_in_threadpool(routes.warm)
        if on_ready is not None:
            on_ready()
        yield

    around = Middleware(
        SiteMiddleware, hosts=ServedHosts.of(settings, host), policy=page_policy(settings.framers)
    )
    uploads = Middleware(BrowserUploads, files=routes.browser_files)
    return st.App(
        SCRIPT,
        secrets=as_secrets(settings),
        routes=routes.all(),
        middleware=[around, uploads, Middleware(RetractedStatus, retracted=routes.retracted)],
        lifespan=lifespan,
    )


def _guarded(route: Route) -> Route:
    """The route with errors in a sentence, as pages show them."""
    answer: Callable[[Request], Awaitable[Response]] = route.endpoint

    async def guarded(request: Request) -> Response:
        try:
            return await answer(request)
        except ArenaError as error:
            return refused(request, UNAVAILABLE, str(public_error(error)))

    return Route(route.path, guarded, methods=route.methods)


class _Routes:
    """What is served besides the pages."""

    def __init__(self, settings: Settings) -> None:
        self._arena = open_arena(settings)
        # Settings that mail could not be sent with end the start, not somebody's application.
        mailer_of(settings)
        self.browser_files = self._arena.browser_files

    def all(self) -> list[BaseRoute]:
        plain = [
            *SignIn(self._arena).routes(),
            Route("/healthz", self.healthz),
            metrics_route(self._arena),
            *board_routes(self._arena),
            *VoteRoutes(self._arena).routes(),
            *shell_routes(PAGES),
            Route("/leaderboard", _to_the_leaderboard),
        ]
        return [Mount("/api/v1", app=make_api(self._arena)), *map(_guarded, plain)]

    def retracted(self, board: str) -> bool:
        """Whether a board was taken down."""
        return any(is_called(head, board) for head in self._arena.boards.retracted())

    def warm(self) -> None:
        """Load what the first reader would wait for: the charts' and the boards' libraries."""
        for name in WARMED:
            importlib.import_module(name)
        for name in ASKED_FOR:
            getattr(self._arena, name)
        self._arena.boards.heads()
        # Streamlit asks this at the first element; Python then looks up the file of every module.
        env_util.is_repl()
        # What exists now stays until the server ends, so the garbage collector need not scan it.
        gc.collect()
        gc.freeze()

    async def healthz(self, _request: Request) -> Response:
        """200 where the database answers, else 503; the log has the reason."""
        try:
            boards = await run_in_threadpool(self._arena.boards.heads)
        except ArenaError as error:
            return JSONResponse(
                {"status": "unavailable", "message": str(public_error(error))}, status_code=UNAVAILABLE
            )
        return JSONResponse({"status": "ok", "boards": len(boards)})


def shell_routes(titles: Mapping[str, str]) -> list[Route]:
    """The documents that Streamlit's script draws the pages into, each with its page's title and our script.

    Titles are by address, without the slash.
    """
    document = (Path(file_util.get_static_dir()) / "index.html").read_text(encoding="utf-8")
    before, after = TITLE.split(document, maxsplit=1)
    routes = [Route("/site.js", _unchanging(SITE_SCRIPT.read_text(encoding="utf-8"), "text/javascript"))]
    for path, title in titles.items():
        text = f"{before}{HEAD.format(title=escape(title))}{after}"
        routes.append(Route(f"/{path}", _unchanging(text, "text/html")))
    return routes


async def _to_the_leaderboard(request: Request) -> Response:
    """The leaderboard is at the root; its name as an address leads there."""
    return RedirectResponse(f"./?{request.url.query}" if request.url.query else "./")


def _unchanging(text: str, kind: str) -> Callable[[Request], Awaitable[Response]]:
    async def answer(_request: Request) -> Response:
        return Response(text, media_type=kind, headers=NO_CACHE)

    return answer
