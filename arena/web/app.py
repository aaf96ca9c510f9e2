"""The ASGI application: Streamlit's pages and our own routes in one server."""

from __future__ import annotations

import gc
import importlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from arena.bootstrap import open_arena
from arena.settings import Settings
from arena.web.api.app import make_api
from arena.web.routes.boards import board_routes
from arena.web.routes.metrics import metrics_route
from arena.web.sign_in import SignIn
from arena.web.told import told
from arena.web.wiring import as_secrets
from data.errors import ArenaError

SCRIPT = Path(__file__).parent / "script" / "main.py"
SHORTEST_HASH = 8
UNAVAILABLE = 503
PAGES = ("leaderboard", "compare", "system", "questions", "question", "submit", "team")
"""Modules whose imports bring everything along that pages need."""


def make_app(settings: Settings, *, on_ready: Callable[[], None] | None = None) -> st.App:
    """Build the application.

    Args:
        settings: Where the state lives; the pages read the same.
        on_ready: Called once the application has started.
    """
    routes = _Routes(settings)

    @asynccontextmanager
    async def lifespan(_app: st.App) -> AsyncIterator[None]:
        await run_in_threadpool(routes.warm)
        if on_ready is not None:
            on_ready()
        yield

    return st.App(SCRIPT, secrets=as_secrets(settings), routes=routes.all(), lifespan=lifespan)


def _guarded(route: Route) -> Route:
    """The route with errors told in a sentence, as pages tell them."""
    answer: Callable[[Request], Awaitable[Response]] = route.endpoint

    async def guarded(request: Request) -> Response:
        try:
            return await answer(request)
        except ArenaError as error:
            return PlainTextResponse(f"{told(error)}\n", status_code=UNAVAILABLE)

    return Route(route.path, guarded, methods=route.methods)


class _Routes:
    """What is served beside the pages."""

    def __init__(self, settings: Settings) -> None:
        self._arena = open_arena(settings)

    def all(self) -> list[BaseRoute]:
        plain = [
            *SignIn(self._arena).routes(),
            Route("/healthz", self.healthz),
            metrics_route(self._arena),
            Route("/s/{content_hash}", self.short),
            *board_routes(self._arena),
        ]
        return [Mount("/api/v1", app=make_api(self._arena)), *map(_guarded, plain)]

    def warm(self) -> None:
        """Load what the first reader would wait for: the charts' and the boards' libraries."""
        for name in PAGES:
            importlib.import_module(f"arena.web.pages.{name}")
        self._arena.boards.heads()
        # What stands now stays until the server ends, so collections of garbage need not look through it.
        gc.collect()
        gc.freeze()

    async def healthz(self, _request: Request) -> Response:
        """200 where the database answers, else 503; the log has the reason."""
        try:
            boards = await run_in_threadpool(self._arena.boards.heads)
        except ArenaError as error:
            return JSONResponse(
                {"status": "unavailable", "message": str(told(error))}, status_code=UNAVAILABLE
            )
        return JSONResponse({"status": "ok", "boards": len(boards)})

    async def short(self, request: Request) -> Response:
        """Lead from a board's hash, or its first eight characters, to the board."""
        wanted = request.path_params["content_hash"]
        boards = await run_in_threadpool(self._arena.boards.heads)
        for board in boards:
            if len(wanted) >= SHORTEST_HASH and board.content_hash.startswith(wanted):
                return RedirectResponse(f"../?{urlencode({'board': board.name})}")
        return PlainTextResponse("No published board has this hash.\n", status_code=404)
