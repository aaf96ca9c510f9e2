"""Boards for those without scripts: a static page, a small table to embed, a picture, the site map."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from arena.bootstrap import Arena
from arena.web.documents import as_document, embedded_page, static_page
from arena.web.picture import board_picture
from arena.web.sitemap import site_map
from arena.web.standings_json import read_board
from arena.web.views import BoardView
from data.store.boards import BoardHead, hash_of

ROBOTS = "User-agent: *\nAllow: /\nDisallow: /_stcore/\nDisallow: /media/\nSitemap: {base}sitemap.xml\n"
NOT_THERE = "No board of this name is published here. The site map at /sitemap.xml lists those that are.\n"
PLAIN = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; base-uri 'none'; form-action 'none'"
HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"}
A_MINUTE = "public, max-age=60"
KEPT = 64


def board_routes(arena: Arena) -> list[Route]:
    """The routes of the published boards."""
    routes = _BoardRoutes(arena)
    return [
        Route("/leaderboard.html", routes.static),
        Route("/embed/{board}", routes.embed),
        Route("/og/{board}.png", routes.picture),
        Route("/sitemap.xml", routes.sitemap),
        Route("/robots.txt", routes.robots),
    ]


class _BoardRoutes:
    """Each answer is made once for the content of a board and kept."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._view = lru_cache(KEPT)(self._read)
        self._picture = lru_cache(KEPT)(self._draw)

    async def static(self, request: Request) -> Response:
        """A board as one accessible page; the newest where none is named."""
        base = str(request.base_url)

        def page(head: BoardHead, heads: tuple[BoardHead, ...]) -> str:
            return as_document(static_page(self._view(head), [(one.name, one.title) for one in heads], base))

        return await self._answer(request.query_params.get("board"), page, f"{PLAIN}; frame-ancestors 'self'")

    async def embed(self, request: Request) -> Response:
        """A small table that other sites may show in a frame."""
        domain = request.query_params.get("domain", "")

        def page(head: BoardHead, _heads: tuple[BoardHead, ...]) -> str:
            return as_document(embedded_page(self._view(head), domain))

        return await self._answer(request.path_params["board"], page, f"{PLAIN}; frame-ancestors *")

    async def picture(self, request: Request) -> Response:
        """The picture that links to a board are shown with."""
        head, _ = await run_in_threadpool(self._find, request.path_params["board"])
        if head is None:
            return PlainTextResponse(NOT_THERE, status_code=404)
        picture = await run_in_threadpool(self._picture, head)
        return Response(picture, media_type="image/png", headers={**HEADERS, "Cache-Control": A_MINUTE})

    async def sitemap(self, request: Request) -> Response:
        """Every address that a search engine should know."""
        heads = await run_in_threadpool(self._arena.boards.heads)
        systems = {head.name: (await run_in_threadpool(self._view, head)).systems for head in heads}
        text = site_map(str(request.base_url), heads, systems)
        return Response(text, media_type="application/xml", headers={"Cache-Control": A_MINUTE})

    async def robots(self, request: Request) -> Response:
        """What robots may read."""
        return PlainTextResponse(ROBOTS.format(base=request.base_url))

    async def _answer(
        self, name: str | None, page: Callable[[BoardHead, tuple[BoardHead, ...]], str], policy: str
    ) -> Response:
        head, heads = await run_in_threadpool(self._find, name)
        if head is None:
            return PlainTextResponse(NOT_THERE, status_code=404)
        text = await run_in_threadpool(page, head, heads)
        headers = {**HEADERS, "Content-Security-Policy": policy, "Cache-Control": A_MINUTE}
        return HTMLResponse(text, headers={**headers, "ETag": f'"{_tag(head)}"'})

    def _find(self, name: str | None) -> tuple[BoardHead | None, tuple[BoardHead, ...]]:
        heads = self._arena.boards.heads()
        return next((head for head in heads if name in {None, head.name}), None), heads

    def _read(self, head: BoardHead) -> BoardView:
        return read_board(self._arena.boards.get(head.name))

    def _draw(self, head: BoardHead) -> bytes:
        return board_picture(self._view(head))


def _tag(head: BoardHead) -> str:
    """Names an answer: a board keeps its standings, and may get another notice."""
    return (
        quote(head.content_hash)
        if not head.notice
        else hash_of({"content": head.content_hash, "notice": head.notice})
    )
