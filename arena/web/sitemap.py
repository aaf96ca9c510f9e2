"""The site map: every address that a search engine should know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlencode
from xml.etree.ElementTree import Element, SubElement, tostring

from data.store.boards import BoardHead

PAGES = ("", "leaderboard.html", "rounds", "methodology")
OF_A_BOARD = ("leaderboard.html", "compare", "matrix", "questions", "data")
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
        place = SubElement(root, "url")
        SubElement(place, "loc").text = f"{base}{path}"
        if day:
            SubElement(place, "lastmod").text = day
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _places(heads: Sequence[BoardHead], systems: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    yield from ((page, "") for page in PAGES)
    for head in heads:
        day = head.published_at.date().isoformat()
        yield from ((f"{page}?{urlencode({'board': head.name})}", day) for page in OF_A_BOARD)
        for system in systems.get(head.name, ()):
            yield f"system?{urlencode({'board': head.name, 'id': system})}", day
