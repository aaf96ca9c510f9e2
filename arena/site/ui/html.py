"""HTML of the pages: rendered by macros of `arena/templates`, displayed by `st.html`."""

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from markupsafe import Markup

from arena.html_pages import Parts, macro, rendered, unbroken

SITE = "Answer Arena"
LOGO = Path(__file__).parents[1] / "assets" / "logo.svg"
OPENED = "opened-page"
BEGUN = "arena_begun"
FOOTED = "footed"
BARS = 6


@dataclass(frozen=True, slots=True)
class Cell:
    """Text in a table or paragraph: optionally a link, with a definition, flags, and small type below."""

    text: str
    sub: str | Sequence[str] = ""
    href: str = ""
    class_: str = ""
    meaning: str = ""
    title: str = ""
    flags: Sequence[str] = ()
    target: str = "_self"


Child = Cell | str
Column = tuple[Child, str]
"""The heading of a column, and the classes of its cells."""


@dataclass(frozen=True, slots=True)
class _Whole:
    """HTML that Streamlit takes unchanged; it would scan a string for indentation, line by line."""

    html: str

    def _repr_html_(self) -> str:
        return self.html


def put_html(html: str) -> None:
    """Show rendered HTML."""
    if html.strip():
        st.html(_Whole(unbroken(html)))


def put(name: str, *values: object, **options: Any) -> None:  # noqa: ANN401 - of any macro
    """Render and show a macro."""
    put_html(macro(name, *values, **options))


def put_part(parts: Parts, block: str) -> None:
    """Show a block of a page's template; if the document already contains it, show only a placeholder."""
    html = parts.part(block)
    begun, st.session_state[BEGUN] = _begun(), (view := digest(html))
    if not (has := begun == view):
        put_html(html)
    else:
        # Our script moves the document's first view there. An element of HTML would load its component.
        st.container(key=f"view-{view}").text("")
    st.session_state[FOOTED] = has


def _begun() -> str:
    """Return the digest of the page in the document; empty once anything has replaced it."""
    # Our script set the cookie. Streamlit's page tests run without a browser, where cookies are not texts.
    cookie: object = st.context.cookies.get(BEGUN)
    return cookie if isinstance(cookie, str) and BEGUN not in st.session_state else ""


def digest(html: str) -> str:
    """Return a short hash of HTML."""
    return sha256(html.encode()).hexdigest()[:16]


def link(page: str, **query: str) -> str:
    """Return a permalink to a page, relative to the site's root."""
    return f"./{page}?{urlencode(query)}" if query else f"./{page}"


def anchor(text: str, page: str, **query: str) -> Cell:
    """Return a link to a page, in the same tab."""
    return Cell(text, href=link(page, **query))


def paragraph(*parts: Child, class_: str = "", role: str = "") -> None:
    """Show texts and links in one paragraph."""
    class_ = class_ or ("aa-single" if len(parts) == 1 and isinstance(parts[0], Cell) else "")
    put("paragraph", parts, class_, role)


def figures_table(
    header: Sequence[str], rows: Iterable[Sequence[Child]], *, spare: int = 0, scrolls: bool = False
) -> Markup:
    """Return a table of figures; phones hide the last `spare` columns."""
    columns = _columns(header, "", spare)
    return macro("table", [(header[0], "aa-left"), *columns[1:]], rows, scrolls=scrolls)


def words_table(
    header: Sequence[str],
    rows: Iterable[Sequence[Child]],
    *,
    caption: str = "",
    spare: int = 0,
    classes: str = "",
    scrolls: bool = False,
) -> Markup:
    """Return a left-aligned table of words; phones hide the last `spare` columns."""
    columns = _columns(header, "aa-left aa-words", spare)
    return macro("table", columns, rows, caption, classes, scrolls=scrolls)


def _columns(header: Sequence[str], class_: str, spare: int) -> list[Column]:
    primary = len(header) - spare
    return [
        (name, class_ if at < primary else f"{class_} aa-second".strip()) for at, name in enumerate(header)
    ]


def name_page(*parts: str) -> None:
    """Set the page's title in the browser: its content, then the site."""
    st.set_page_config(page_title=" – ".join((*parts, SITE)))


def page_heading(text: str) -> None:
    """Show the heading of the page."""
    # Streamlit's headings go through its Markdown reader, which takes a browser ten times as long.
    put("heading", 1, text)


def heading(text: str, *, anchor: str = "") -> None:
    """Show the heading of a section, to which `#anchor` in an address links."""
    put("heading", 2, text, anchor)


def subheading(text: str, *, anchor: str = "") -> None:
    """Show the heading of a subsection."""
    put("heading", 3, text, anchor)


def offer(label: str, content: str | Callable[[], str | bytes], name: str, mime: str, key: str = "") -> None:
    """Offer a file to download; a callable `content` runs on demand."""
    st.download_button(
        label, content, name, mime, icon=":material/download:", on_click="ignore", key=key or None
    )


def strip(facts: Iterable[tuple[str, str]]) -> None:
    """Show a few figures in a row, each with its label."""
    put("strip", facts)


def lead(text: str) -> None:
    """Show the lead sentence of a page."""
    put("lead", text)


def note(text: str) -> None:
    """Show a side note in small type, commands between backticks."""
    put("note", text)


def verbatim(text: str) -> None:
    """Show text to copy, such as commands; a click selects all of it."""
    # Streamlit's own code box loads a highlighter of 1.5 MB.
    put("verbatim", text)


@cache
def logo() -> str:
    """Return the logo as a data URL; Streamlit would read its file at every rerun."""
    return f"data:image/svg+xml;base64,{b64encode(LOGO.read_bytes()).decode()}"


@contextmanager
def skeleton(page: str, who: str = "") -> Iterator[None]:
    """Show placeholder bars until a page is complete, then the footer with the visitor's name."""
    opens, begun = st.session_state.get(OPENED) != page, _begun()
    st.session_state[OPENED] = page
    # The bars are at the bottom, so nothing moves when they go; the style sheet delays them.
    body, below = (nullcontext(), None) if begun else (st.container(), st.empty())
    if opens and below:
        below.html(str(macro("bones", BARS)))
    try:
        with body:
            yield
    finally:
        if opens and below:
            below.empty()
        if not st.session_state.pop(FOOTED, False):
            st.html(rendered("footer.html", up="./", who=who))
