"""The ASGI application: Streamlit's pages and our own routes in one server."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from arena.bootstrap import open_arena
from arena.settings import Settings
from arena.web.wiring import as_secrets
from data.errors import ArenaError

SCRIPT = Path(__file__).parent / "script" / "main.py"
ROBOTS = "User-agent: *\nAllow: /\nDisallow: /_stcore/\nDisallow: /media/\n"
SHORTEST_HASH = 8


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


class _Routes:
    """What is served beside the pages."""

    def __init__(self, settings: Settings) -> None:
        self._arena = open_arena(settings)

    def all(self) -> list[Route]:
        return [
            Route("/healthz", self.healthz),
            Route("/robots.txt", self.robots),
            Route("/s/{content_hash}", self.short),
        ]

    def warm(self) -> None:
        """Load what the first reader would wait for: the charts' and the boards' libraries."""
        importlib.import_module("arena.web.pages.leaderboard")
        self._arena.boards.published()

    async def healthz(self, _request: Request) -> Response:
        """200 where the database answers, else 503 with one line that says what to do."""
        try:
            boards = await run_in_threadpool(self._arena.boards.published)
        except ArenaError as error:
            return JSONResponse({"status": "unavailable", "message": str(error)}, status_code=503)
        return JSONResponse({"status": "ok", "boards": len(boards)})

    async def robots(self, _request: Request) -> Response:
        return PlainTextResponse(ROBOTS)

    async def short(self, request: Request) -> Response:
        """Lead from a board's hash, or its first eight characters, to the board."""
        wanted = request.path_params["content_hash"]
        boards = await run_in_threadpool(self._arena.boards.published)
        for board in boards:
            if len(wanted) >= SHORTEST_HASH and board.content_hash.startswith(wanted):
                return RedirectResponse(f"../?{urlencode({'board': board.name})}")
        return PlainTextResponse("No published board has this hash.\n", status_code=404)
