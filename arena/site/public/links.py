"""Addresses of a board outside the pages, for those who read, cite or embed it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from urllib.parse import quote, urlencode, urlsplit
from uuid import NAMESPACE_URL, uuid5
from xml.etree.ElementTree import Element, SubElement, tostring

import streamlit as st

from arena.html_pages import as_html
from arena.services.boards.history import FeedEntry
from arena.site.boards.view_model import BoardView
from arena.site.ui.markup import element
from data.store.boards.boards import BoardHead
from leaderboard.export.tables import draws_pictures

PICTURE = "The picture that links to the board are shown with"


def site_address() -> str:
    """Where the reader found the site, without a slash at the end."""
    url = urlsplit(st.context.url or "")
    return f"{url.scheme}://{url.netloc}" if url.netloc else ""


def addresses(view: BoardView) -> tuple[tuple[Element, str], ...]:
    """Addresses of a board as links, and what each gives."""
    named = urlencode({"board": view.name})
    places = (
        (f"/api/v1/leaderboards/{quote(view.name)}", "The board for programs, as JSON"),
        (f"/leaderboard.html?{named}", "The board as one page without scripts, also for search engines"),
        (f"/embed/{quote(view.name)}", "The first systems as a small table for a frame"),
        *([(f"/og/{quote(view.name)}.png", PICTURE)] if draws_pictures() else []),
        (f"/s/{view.content_hash[:12]}", "A short permalink: it names exactly these standings"),
        ("/feed.atom", "An Atom feed: boards as they are published, corrected or retracted"),
        ("/sitemap.xml", "Every page, board and system"),
    )
    return tuple((element("a", path, href=f".{path}", target="_self"), about) for path, about in places)


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
NEVER = datetime.fromtimestamp(0, UTC)
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


ATOM = "http://www.w3.org/2005/Atom"


def atom_feed(base: str, entries: Sequence[FeedEntry]) -> str:
    """Boards as an Atom feed: an entry a board, under an id that stays when the board changes.

    Args:
        base: The site's address, with a slash at the end.
        entries: What changed last first.

    Source: RFC 4287.
    """
    root = Element("feed", {"xmlns": ATOM, "xml:lang": "en"})
    SubElement(root, "id").text = f"{base}feed.atom"
    SubElement(root, "title").text = "Answer Arena: boards"
    SubElement(root, "updated").text = (entries[0].updated if entries else NEVER).isoformat()
    SubElement(SubElement(root, "author"), "name").text = "Answer Arena"
    SubElement(root, "link", {"rel": "self", "type": "application/atom+xml", "href": f"{base}feed.atom"})
    SubElement(root, "link", {"rel": "alternate", "type": "text/html", "href": f"{base}rounds"})
    for entry in entries:
        root.append(_feed_entry(base, entry))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _feed_entry(base: str, entry: FeedEntry) -> Element:
    root = Element("entry")
    name = uuid5(NAMESPACE_URL, f"{entry.board} {entry.first_hash}")
    SubElement(root, "id").text = name.urn
    SubElement(root, "title").text = _printable(
        f"Retracted: {entry.title}" if entry.retracted else entry.title
    )
    SubElement(root, "published").text = entry.published.isoformat()
    SubElement(root, "updated").text = entry.updated.isoformat()
    address = f"{base}leaderboard.html?{urlencode({'board': entry.board})}"
    SubElement(root, "link", {"rel": "alternate", "type": "text/html", "href": address})
    said = (f"Judged by {entry.judge}." if entry.judge else "", entry.notice)
    SubElement(root, "summary").text = _printable(" ".join(filter(None, said)) or f"The board {entry.board}.")
    return root


def _printable(text: str) -> str:
    """A text without the characters that XML cannot hold."""
    return "".join(character for character in text if character.isprintable() or character in "\n\t")


def _places(heads: Sequence[BoardHead], systems: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    yield from ((page, "") for page in PAGES)
    for head in heads:
        day = head.published_at.date().isoformat()
        yield from ((f"{page}?{urlencode({'board': head.name})}", day) for page in OF_A_BOARD)
        for system in systems.get(head.name, ()):
            yield f"system?{urlencode({'board': head.name, 'id': system})}", day
