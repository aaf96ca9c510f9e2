"""HTML from elements, never from strings, so that no text can become markup.

What people wrote goes through `st.text`, which shows text as it is, but where it has to be marked or to be a
link (`marked_text`, lists of questions); there it is text of an element, escaped like every other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from xml.etree.ElementTree import Element

import streamlit as st

from arena.html_pages import Parts, as_html

Child = Element | str


def element(tag: str, *children: Child, **attributes: str) -> Element:
    """Make an element; `class_` and `for_` lose their underscore, `aria_label` becomes `aria-label`."""
    node = Element(tag, {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()})
    for child in children:
        if isinstance(child, str):
            _append_text(node, child)
        else:
            node.append(child)
    return node


def explained(text: str, meaning: str, *, class_: str = "") -> Element:
    """Return a word with its meaning, which is shown on hover, tap or focus."""
    return explain(element("span", text, class_=class_), meaning)


def explain(node: Element, meaning: str) -> Element:
    """Give an element its meaning, which is shown on hover, tap or focus."""
    node.append(element("span", meaning, class_="aa-tip", role="tooltip", aria_hidden="true"))
    classes = f"aa-term {node.get('class', '')}".strip()
    node.attrib.update({"class": classes, "tabindex": "0", "aria-description": meaning})
    return node


def folded(title: str, inside: Element, *, is_open: bool = False) -> Element:
    """Render a block that unfolds below its title, without a script."""
    opened = {"open": "open"} if is_open else {}
    return element("details", element("summary", title), inside, class_="aa-folded", **opened)


def row(tag: str, cells: Iterable[Element], **attributes: str) -> Element:
    """Make an element of many children."""
    return element(tag, *cells, **attributes)


@dataclass(frozen=True, slots=True)
class _Whole:
    """HTML that is taken as it is: Streamlit would look through a string for indentation, line by line."""

    html: str

    def _repr_html_(self) -> str:
        return self.html


_JOINED: ContextVar[list[str] | None] = ContextVar("joined", default=None)


def put(root: Element) -> None:
    """Show an element on the page."""
    put_html(as_html(root))


def put_part(parts: Parts, block: str) -> None:
    """Show a block of a page's template."""
    put_html(parts.part(block))


def put_html(html: str) -> None:
    """Show what `as_html` or a template made."""
    waiting = _JOINED.get()
    if waiting is not None:
        waiting.append(html)
    elif html.strip():
        st.html(_Whole(html))


@contextmanager
def joined() -> Iterator[None]:
    """Show all HTML that is put meanwhile as one element of Streamlit; nothing else may be shown.

    Each element takes a browser as long as a table of fifty cells does.
    """
    if _JOINED.get() is not None:
        yield
        return
    waiting: list[str] = []
    token = _JOINED.set(waiting)
    try:
        yield
    finally:
        _JOINED.reset(token)
        put_html(as_flow(waiting))


def html_put_by(show: Callable[[], None]) -> str:
    """Return the HTML of a part of a page that puts nothing else."""
    waiting: list[str] = []
    token = _JOINED.set(waiting)
    try:
        show()
    finally:
        _JOINED.reset(token)
    return "".join(waiting)


def as_flow(htmls: Iterable[str]) -> str:
    """HTML one below the other, as far apart as elements of Streamlit."""
    pieces = [html for html in htmls if html]
    return "".join(pieces) if len(pieces) < 2 else f'<div class="aa-flow">{"".join(pieces)}</div>'  # noqa: PLR2004 - one needs no box


def _append_text(parent: Element, text: str) -> None:
    children = list(parent)
    if children:
        children[-1].tail = (children[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text
