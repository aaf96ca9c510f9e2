"""Boards for those without scripts: a static page, a small table to embed, a picture, the site map."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote, urlencode
from xml.etree.ElementTree import Element

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from arena.api.caching import PUBLIC
from arena.container import Arena
from arena.html_pages import rendered
from arena.services.boards.metric_columns import column_meanings
from arena.site.boards.people_view import moves_table
from arena.site.boards.sentences import headline
from arena.site.boards.snapshot_reader import read_board
from arena.site.boards.standings_table import domain_sections, standings_table
from arena.site.boards.view_model import OVERALL, BoardView, board_label
from arena.site.plain_pages import refused
from arena.site.public.links import NEVER, atom_feed, site_map
from arena.site.public.social_card import board_picture, retracted_picture
from arena.site.security_policy import ALWAYS, PLAIN, framed_by
from arena.site.ui.components import retracted
from arena.site.ui.tables import scrolled, words_table
from data.store.boards.boards import SNAPSHOT, BoardHead, hash_of, is_called, snapshot_of
from leaderboard.export.tables import draws_pictures

HERE = Path(__file__).parents[1] / "assets"
EMBEDDED = ("Rating", "Win + tie")
MOST_EMBEDDED = 12


def static_page(view: BoardView, boards: Sequence[tuple[str, str]], base: str) -> str:
    """A board as one page: who leads, every domain's table, what the columns mean, where the data is.

    `boards` are names and labels of every board; `base` is the site's address, with a slash at its end.
    """
    return rendered(
        "board.html",
        pictures=draws_pictures(),
        view=view,
        boards=boards,
        base=base,
        up="./",
        sections=domain_sections(view, lambda domain: domain, scrolled),
        title=f"{view.title}: leaderboard",
        lead=headline(view, OVERALL),
        address=f"{base}leaderboard.html?{urlencode({'board': view.name})}",
        people=scrolled(moves_table(view)) if view.people else None,
        definitions=scrolled(words_table(("Column", "Meaning"), column_meanings().items())),
        style=_style(),
    )


def embedded_page(view: BoardView, domain: str) -> str:
    """The first systems of a board as a table for a frame; links open in the whole window."""
    shown_domain = domain if domain in view.domains else OVERALL
    every = view.competitors(shown_domain)
    lines = every[:MOST_EMBEDDED]
    table = standings_table(view, shown_domain, lines, chosen=EMBEDDED, count=len(every))
    return rendered(
        "embedded.html",
        view=view,
        domain=shown_domain,
        rest=len(every) - len(lines),
        table=scrolled(_led_up(table, "../")),
        title=f"{view.title}, {view.label(shown_domain)}",
        style=_style(),
    )


def retracted_page(name: str, notice: str, up: str) -> str:
    """The page at the addresses of a retracted board; links open in the whole window.

    `up` leads from the address to the site's root, such as `../`.
    """
    section = _led_up(retracted(name, notice), up)
    return rendered(
        "retracted.html", title=f"{name}, retracted", section=section, up=up, target="_top", style=_style()
    )


def _led_up(root: Element, up: str) -> Element:
    for anchor in root.iter("a"):
        anchor.attrib.update({"href": anchor.get("href", "").replace("./", up, 1), "target": "_top"})
    return root


@cache
def _style() -> str:
    texts = ((HERE / name).read_text(encoding="utf-8") for name in ("style.css", "document.css"))
    return "".join(texts)


ROBOTS = "User-agent: *\nAllow: /\nDisallow: /_stcore/\nDisallow: /media/\nSitemap: {base}sitemap.xml\n"
NOT_THERE = "No board of this name is published here."
WHERE = "The site map at /sitemap.xml lists those that are."
FRAMED_ANYWHERE = "frame-ancestors *"
MOST_CACHED = 64
GONE = 410
SHORTEST_HASH = 8


class BoardRoutes:
    """The routes of the published boards; each answer is made once for the content of a board."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._read_at = lru_cache(MOST_CACHED)(self._read)
        self._picture = lru_cache(MOST_CACHED)(self._draw)

    def routes(self) -> list[Route]:
        """Where each is served."""
        return [
            Route("/leaderboard.html", self.static),
            Route("/embed/{board}", self.embed),
            Route("/s/{content_hash}", self.short),
            *([Route("/og/{board}.png", self.picture)] if draws_pictures() else []),
            Route("/sitemap.xml", self.sitemap),
            Route("/feed.atom", self.feed),
            Route("/robots.txt", self.robots),
        ]

    async def static(self, request: Request) -> Response:
        """A board as one accessible page; the newest where none is named."""
        base = self._base(request)

        def page(head: BoardHead, heads: tuple[BoardHead, ...]) -> str:
            return static_page(self._view(head), [(board.name, board_label(board)) for board in heads], base)

        return await self._answer(
            request, request.query_params.get("board"), page, "./", framed_by(self._arena.settings.framers)
        )

    async def embed(self, request: Request) -> Response:
        """A small table that other sites may show in a frame."""
        domain = request.query_params.get("domain", "")

        def page(head: BoardHead, _heads: tuple[BoardHead, ...]) -> str:
            return embedded_page(self._view(head), domain)

        return await self._answer(request, request.path_params["board"], page, "../", FRAMED_ANYWHERE)

    async def picture(self, request: Request) -> Response:
        """The picture that links to a board are shown with."""
        head, _ = await run_in_threadpool(self._find, request.path_params["board"])
        if head is None:
            return await self._absent_picture(request)
        picture = await run_in_threadpool(self._picture, head)
        headers = {**ALWAYS, "Cache-Control": PUBLIC, "ETag": f'"{_tag(head)}"'}
        if _has(request, headers["ETag"]):
            return Response(status_code=304, headers=headers)
        return Response(picture, media_type="image/png", headers=headers)

    async def short(self, request: Request) -> Response:
        """Lead from a board's hash, or its first eight characters, to the board."""
        content_hash = request.path_params["content_hash"]
        if len(content_hash) >= SHORTEST_HASH:
            for head in await run_in_threadpool(self._every):
                if head.content_hash.startswith(content_hash):
                    return RedirectResponse(f"../?{urlencode({'board': head.name})}")
            for head in await run_in_threadpool(self._arena.boards.retracted):
                if head.content_hash.startswith(content_hash):
                    return _gone(head, "../", framed_by(self._arena.settings.framers))
        return refused(request, 404, "No published board has this hash.", page=True)

    async def sitemap(self, request: Request) -> Response:
        """Every address that a search engine should know."""
        heads = await run_in_threadpool(self._arena.boards.heads)
        systems = {head.name: (await run_in_threadpool(self._view, head)).systems for head in heads}
        text = site_map(self._base(request), heads, systems)
        return Response(text, media_type="application/xml", headers={"Cache-Control": PUBLIC})

    async def feed(self, request: Request) -> Response:
        """Boards for those who follow them; 304 for who has what stands there."""
        entries = await run_in_threadpool(self._arena.history.feed)
        text = atom_feed(self._base(request), entries)
        changed = max((entry.updated for entry in entries), default=NEVER)
        headers = {
            **ALWAYS,
            "Cache-Control": PUBLIC,
            "ETag": f'"{sha256(text.encode()).hexdigest()[:32]}"',
            "Last-Modified": format_datetime(changed.astimezone(UTC), usegmt=True),
        }
        if _has(request, headers["ETag"], changed):
            return Response(status_code=304, headers=headers)
        return Response(text, media_type="application/atom+xml", headers=headers)

    async def robots(self, request: Request) -> Response:
        """What robots may read."""
        return PlainTextResponse(ROBOTS.format(base=self._base(request)))

    async def _answer(
        self,
        request: Request,
        name: str | None,
        page: Callable[[BoardHead, tuple[BoardHead, ...]], str],
        up: str,
        framers: str,
    ) -> Response:
        headers = {**ALWAYS, "Content-Security-Policy": f"{PLAIN}; {framers}"}
        head, heads = await run_in_threadpool(self._find, name)
        if head is None:
            gone = await run_in_threadpool(self._retracted, name)
            if gone is not None:
                return _gone(gone, up, framers)
            answer = refused(request, 404, NOT_THERE, advice=WHERE, page=True)
            answer.headers.update(headers)
            return answer
        text = await run_in_threadpool(page, head, heads)
        headers |= {"Cache-Control": PUBLIC, "ETag": f'"{sha256(text.encode()).hexdigest()[:32]}"'}
        if _has(request, headers["ETag"]):
            return Response(status_code=304, headers=headers)
        return HTMLResponse(text, headers=headers)

    def _base(self, request: Request) -> str:
        """The site's address with a slash at its end: the public one, else that of the request."""
        public = self._arena.settings.public_url
        return f"{public}/" if public else str(request.base_url)

    async def _absent_picture(self, request: Request) -> Response:
        gone = await run_in_threadpool(self._retracted, request.path_params["board"])
        if gone is None:
            return refused(request, 404, NOT_THERE, advice=WHERE)
        picture = await run_in_threadpool(retracted_picture, gone.name, gone.notice)
        headers = {**ALWAYS, "Cache-Control": PUBLIC}
        return Response(picture, GONE, media_type="image/png", headers=headers)

    def _retracted(self, name: str | None) -> BoardHead | None:
        return next((head for head in self._arena.boards.retracted() if name and is_called(head, name)), None)

    def _find(self, name: str | None) -> tuple[BoardHead | None, tuple[BoardHead, ...]]:
        heads = self._arena.boards.heads()
        known = heads if name is None or SNAPSHOT not in name else (*heads, *self._arena.boards.former())
        return next((head for head in known if name is None or is_called(head, name)), None), heads

    def _every(self) -> tuple[BoardHead, ...]:
        """Boards that stand, and snapshots that others took the place of."""
        return (*self._arena.boards.heads(), *self._arena.boards.former())

    def _view(self, head: BoardHead) -> BoardView:
        return self._read_at(head, self._arena.store.audit.changes())

    def _read(self, head: BoardHead, _changes: tuple[int, ...]) -> BoardView:
        """A board with the marks of today, which the changes up to now name."""
        return read_board(self._arena.boards.get(snapshot_of(head)))

    def _draw(self, head: BoardHead) -> bytes:
        return board_picture(self._view(head))


def _gone(head: BoardHead, up: str, framers: str) -> HTMLResponse:
    """The notice of a board that was taken down."""
    text = retracted_page(head.name, head.notice, up)
    headers = {**ALWAYS, "Content-Security-Policy": f"{PLAIN}; {framers}", "Cache-Control": PUBLIC}
    return HTMLResponse(text, GONE, headers=headers)


def _has(request: Request, tag: str, changed: datetime | None = None) -> bool:
    """Whether the client has the answer of a tag, or else one of a moment that is not before `changed`."""
    known = request.headers.get("if-none-match")
    if known is not None:
        tags = {text.strip().removeprefix("W/") for text in known.split(",")}
        return bool(tags & {tag, "*"})
    if changed is None:
        return False
    try:
        since = parsedate_to_datetime(request.headers.get("if-modified-since", ""))
        return changed.replace(microsecond=0) <= since
    except (TypeError, ValueError):
        return False


def _tag(head: BoardHead) -> str:
    """Names an answer: a board keeps its standings, and may get another notice."""
    return (
        quote(head.content_hash)
        if not head.notice
        else hash_of({"content": head.content_hash, "notice": head.notice})
    )
