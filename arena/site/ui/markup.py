"""HTML from elements, never from strings, so that no text can become markup.

What people wrote goes through `st.text`, which shows text as it is, but where it has to be marked or to be a
link (`marked_text`, lists of questions); there it is text of an element, escaped like every other.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from xml.etree.ElementTree import Element, tostring

import streamlit as st
from streamlit.cursor import Cursor
from streamlit.delta_generator import DeltaGenerator
from streamlit.delta_generator_singletons import get_dg_singleton_instance

Child = Element | str
MOST_JOINED = 20_000
"""Characters that are shown as one at most: a long table is drawn while the rest is still made."""


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
    """A word with its meaning, which is shown on hover, tap or focus."""
    return explain(element("span", text, class_=class_), meaning)


def explain(node: Element, meaning: str) -> Element:
    """Give an element its meaning, which is shown on hover, tap or focus."""
    node.append(element("span", meaning, class_="aa-tip", role="tooltip", aria_hidden="true"))
    classes = f"aa-term {node.get('class', '')}".strip()
    node.attrib.update({"class": classes, "tabindex": "0", "aria-description": meaning})
    return node


def row(tag: str, cells: Iterable[Element], **attributes: str) -> Element:
    """Make an element of many children."""
    return element(tag, *cells, **attributes)


def as_html(root: Element) -> str:
    """The element as HTML, every text and attribute escaped."""
    return tostring(root, encoding="unicode", method="html")


@dataclass(frozen=True, slots=True)
class _Whole:
    """HTML that is taken as it is: Streamlit would look through a string for indentation, line by line."""

    html: str

    def _repr_html_(self) -> str:
        return self.html


@dataclass(frozen=True, slots=True)
class _Shown:
    """What was shown last: its HTML, and the place that follows it on the page."""

    html: str
    shown: DeltaGenerator
    cursor: Cursor
    following: int


_LAST: ContextVar[_Shown | None] = ContextVar("last", default=None)


def put(root: Element) -> None:
    """Show an element on the page."""
    put_html(as_html(root))


def put_html(html: str) -> None:
    """Show what `as_html` made.

    What follows directly on other HTML joins it as one element of Streamlit, since each element takes a
    browser as long as a table of fifty cells does.
    """
    cursor, last = _cursor(), _LAST.get()
    if last is None or not _follows(cursor, last) or len(last.html) + len(html) > MOST_JOINED:
        shown = st.html(_Whole(html))
        is_free = cursor is not None and not cursor.is_locked
        _LAST.set(_Shown(html, shown, cursor, cursor.index) if cursor is not None and is_free else None)
        return
    joined = f"{last.html}{html}"
    last.shown.html(_Whole(f'<div class="aa-flow">{joined}</div>'))
    _LAST.set(_Shown(joined, last.shown, last.cursor, last.following))


def _cursor() -> Cursor | None:
    """Where Streamlit shows what comes next; None outside a run of a page."""
    # Streamlit has no public way to ask whether two elements follow on each other.
    return get_dg_singleton_instance().main_dg._active_dg._cursor  # noqa: SLF001 - as said above


def _follows(cursor: Cursor | None, last: _Shown) -> bool:
    return cursor is last.cursor and cursor.index == last.following


def _append_text(parent: Element, text: str) -> None:
    children = list(parent)
    if children:
        children[-1].tail = (children[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text
