"""Addresses of a board outside the pages, for those who read, cite or embed it."""

from __future__ import annotations

from urllib.parse import quote, urlencode, urlsplit

import streamlit as st

from arena.web.markup import as_html, element
from arena.web.views import BoardView


def site_address() -> str:
    """Where the reader found the site, without a slash at the end."""
    found = urlsplit(st.context.url or "")
    return f"{found.scheme}://{found.netloc}" if found.netloc else ""


def addresses(view: BoardView) -> tuple[tuple[str, str], ...]:
    """Addresses of a board, and what each gives."""
    named = urlencode({"board": view.name})
    return (
        (
            f"/leaderboard.html?{named}",
            "The board as one page without scripts, also for search engines",
        ),
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
