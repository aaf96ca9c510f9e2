"""HTML from elements, never from strings, so that no text can become markup.

What people wrote goes through `st.text`, which shows text as it is, but where it has to be marked or to be a
link (`marked_text`, lists of questions); there it is text of an element, escaped like every other.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, tostring

import streamlit as st

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


def put(root: Element) -> None:
    """Show an element on the page."""
    st.html(as_html(root))


def _append_text(parent: Element, text: str) -> None:
    children = list(parent)
    if children:
        children[-1].tail = (children[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text
