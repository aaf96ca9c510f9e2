"""Parts that several pages share."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from xml.etree.ElementTree import Element

import streamlit as st

from arena.html_pages import as_html, rendered
from arena.site.ui.markup import element, put


def notice_of(text: str) -> Element:
    """Return a notice as people wrote it, set apart from our own words."""
    return element(
        "p", element("strong", "Notice of the organisers: "), text, class_="aa-notice", role="note"
    )


def retracted(board: str, notice: str) -> Element:
    """Return the page at every address of a retracted board."""
    destinations = (("Every board that was ever published", "./rounds"), ("The published boards", "./"))
    links = [element("li", element("a", text, href=href, target="_self")) for text, href in destinations]
    why = notice_of(notice) if notice else element("p", "No notice says why.", class_="aa-notice")
    return element(
        "section",
        element("h1", f"The board {board} was retracted"),
        element("p", "Its numbers are not shown any more.", class_="aa-lead"),
        why,
        element("ul", *links),
    )


SITE = "Answer Arena"


def name_page(*parts: str) -> None:
    """Name the page in the browser's tab and history: what it shows, then the site."""
    st.set_page_config(page_title=" – ".join((*parts, SITE)))


def page_heading(text: str) -> None:
    """Show the heading of the page.

    Streamlit's own headings go through its Markdown reader, which takes a browser ten times as long.
    """
    put(element("h1", text))


def heading(text: str, *, anchor: str | None = None) -> None:
    """Show the heading of a part of the page; an address ending in `#` and `anchor` leads to it."""
    put(_anchored("h2", text, anchor))


def subheading(text: str, *, anchor: str | None = None) -> None:
    """Show the heading of a part of a part."""
    put(_anchored("h3", text, anchor))


def _anchored(tag: str, text: str, anchor: str | None) -> Element:
    return element(tag, text, **({} if anchor is None else {"id": anchor}))


def strip(facts: Iterable[tuple[str, str]]) -> None:
    """Show a few figures in a row, each with what it is."""
    pairs = [element("div", element("dt", label), element("dd", value)) for label, value in facts]
    put(element("dl", *pairs, class_="aa-strip"))


def lead(text: str) -> None:
    """Show the one sentence that a page is about; for our own words and validated names."""
    put(element("p", text, class_="aa-lead"))


def note(text: str) -> None:
    """Show a side note in small type, commands between backticks; for our own words and validated names."""
    parts = (element("code", part) if at % 2 else part for at, part in enumerate(text.split("`")))
    put(element("p", *parts, class_="aa-note"))


def verbatim(text: str) -> None:
    """Show text to copy, such as commands; a click selects all of it.

    Streamlit's own box would make every reader load its highlighter of 1.5 MB.
    """
    put(element("pre", text, class_="aa-verbatim"))


LOGO = Path(__file__).parents[1] / "assets" / "logo.svg"


@cache
def logo() -> str:
    """Return the logo as an address; Streamlit would read its file for every visitor's every choice."""
    return f"data:image/svg+xml;base64,{b64encode(LOGO.read_bytes()).decode()}"


OPENED = "opened-page"
BARS = 6


@contextmanager
def skeleton(page: str, who: str = "") -> Iterator[None]:
    """Show bars until the page is whole; only where it is opened, not where something on it is chosen.

    They are below everything else, so nothing moves when they go. A page that is quick is whole before the
    style sheet lets them be seen. The footer comes last, whatever becomes of the page; it names `who` is
    signed in.
    """
    body, below, end = st.container(), st.empty(), st.container()
    opens = st.session_state.get(OPENED) != page
    if opens:
        st.session_state[OPENED] = page
        below.html(_bars())
    try:
        with body:
            yield
    finally:
        if opens:
            below.empty()
        end.html(rendered("footer.html", up="./", who=who))


@cache
def _bars() -> str:
    words = element("span", "Loading this page", class_="aa-unseen")
    return as_html(
        element("div", words, *(element("i") for _ in range(BARS)), role="status", class_="aa-bones")
    )
