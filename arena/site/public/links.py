"""Addresses of a board outside the pages, for those who read, cite or embed it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote, urlencode, urlsplit
from xml.etree.ElementTree import Element, SubElement, tostring

import streamlit as st

from arena.site.boards.view_model import BoardView
from arena.site.ui.markup import as_html, element
from data.store.boards.boards import BoardHead


def site_address() -> str:
    """Where the reader found the site, without a slash at the end."""
    url = urlsplit(st.context.url or "")
    return f"{url.scheme}://{url.netloc}" if url.netloc else ""


def addresses(view: BoardView) -> tuple[tuple[str, str], ...]:
    """Addresses of a board, and what each gives."""
    named = urlencode({"board": view.name})
    return (
        (f"/leaderboard.html?{named}", "The board as one page without scripts, also for search engines"),
        (f"/embed/{quote(view.name)}", "The first systems as a small table for a frame"),
        (f"/og/{quote(view.name)}.png", "The picture that links to the board are shown with"),
        (f"/s/{view.content_hash[:12]}", "A short permalink: it names exactly these standings"),
        ("/sitemap.xml", "Every page, board and system"),
    )


def embed_snippet(view: BoardView, site: str) -> str:
    """What another site pastes to show the board."""
    frame = element(
        "iframe",
        src=f"{site}/embed/{quote(view.name)}",
        title=f"{view.title}, Answer Arena",
        width="100%",
        height="640",
        style="border:0",
        loading="lazy",
    )
    return as_html(frame)


PAGES = ("", "leaderboard.html", "rounds", "methodology")
OF_A_BOARD = ("leaderboard.html", "compare", "matrix", "questions", "trust", "data")
SPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
MOST = 50_000
"""Addresses that one site map may hold."""


def site_map(base: str, heads: Sequence[BoardHead], systems: Mapping[str, Sequence[str]]) -> str:
    """The site map as XML.

    Args:
        base: The site's address, with a slash at the end.
        heads: Every published board.
        systems: Names of each board's systems.

    Source: sitemaps.org, protocol 0.9.
    """
    root = Element("urlset", {"xmlns": SPACE})
    for at, (path, day) in enumerate(_places(heads, systems)):
        if at >= MOST:
            break
        entry = SubElement(root, "url")
        SubElement(entry, "loc").text = f"{base}{path}"
        if day:
            SubElement(entry, "lastmod").text = day
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _places(heads: Sequence[BoardHead], systems: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    yield from ((page, "") for page in PAGES)
    for head in heads:
        day = head.published_at.date().isoformat()
        yield from ((f"{page}?{urlencode({'board': head.name})}", day) for page in OF_A_BOARD)
        for system in systems.get(head.name, ()):
            yield f"system?{urlencode({'board': head.name, 'id': system})}", day
