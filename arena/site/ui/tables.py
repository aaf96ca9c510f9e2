"""HTML tables that a phone, a projector and a screen reader can all show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import urlencode
from xml.etree.ElementTree import Element

from arena.site.ui.markup import Child, element

SCROLLS = "aa-scroll"
"""The class of a box that is scrolled sideways where its table is too wide."""


def link(page: str, **query: str) -> str:
    """Return a permalink to a page, relative to the site's root."""
    return f"./{page}?{urlencode(query)}" if query else f"./{page}"


def anchor(text: str, page: str, *, class_: str = "", **query: str) -> Element:
    """Return a link to a page, which opens in place of this one."""
    node = element("a", text, href=link(page, **query), target="_self")
    if class_:
        node.set("class", class_)
    return node


def plain_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, spare: int = 0, wrap: str = ""
) -> Element:
    """Return a table of figures as texts; its first column is the row's heading.

    `spare` is how many of the last columns are hidden on a phone; `wrap` are the classes of the box around.
    """
    primary = len(header) - spare
    heads = [(name, _classes("" if at else "aa-left", at, primary)) for at, name in enumerate(header)]
    body = (_row(cells, "", primary) for cells in rows)
    return rows_table(heads, body, class_=f"aa-wrap {wrap}".strip())


def words_table(
    header: Sequence[str],
    rows: Iterable[Sequence[Child]],
    *,
    caption: str = "",
    spare: int = 0,
    classes: str = "",
    wrap: str = "",
) -> Element:
    """Return a table of words, all of it left-aligned; its first column is the row's heading.

    `spare` is how many of the last columns are hidden on a phone; `classes` are the table's, `wrap` those of
    the box around it.
    """
    primary = len(header) - spare
    heads = [(name, _classes("aa-left", at, primary)) for at, name in enumerate(header)]
    body = (_row(cells, "aa-words", primary) for cells in rows)
    return rows_table(heads, body, caption=caption, classes=classes, class_=f"aa-wrap {wrap}".strip())


def rows_table(
    header: Iterable[tuple[str, str] | Element],
    rows: Iterable[Element],
    *,
    caption: str = "",
    classes: str = "",
    class_: str = "aa-wrap",
    **wrap: str,
) -> Element:
    """Return a table of rows that were made elsewhere.

    The header has each column's name and classes, or its heading; `classes` are the table's, `class_` and
    all else belong to the box around it. A box that scrolls can be scrolled by keyboard, and has a name.
    """
    heads = [head if isinstance(head, Element) else _head(*head) for head in header]
    if SCROLLS in class_.split():
        named = next((head.text for head in heads if head.text), None) or "Table"
        wrap = {"tabindex": "0", "role": "region", "aria_label": caption or named, **wrap}
    parts = [element("caption", caption)] if caption else []
    table = element(
        "table",
        *parts,
        element("thead", element("tr", *heads)),
        element("tbody", *rows),
        class_=f"aa-board {classes}".strip(),
    )
    return element("div", table, class_=class_, **wrap)


def scrolled(root: Element) -> Element:
    """Return a table in a box that may have to scroll, which can be reached by keyboard."""
    caption = root.find("table/caption")
    label = "Table" if caption is None else str(caption.text)
    root.attrib.update({"tabindex": "0", "role": "region", "aria-label": label})
    return root


def _head(name: str, classes: str) -> Element:
    """Render the heading of a column; one without a name is a plain cell, for screen readers."""
    attributes = {"scope": "col"} if name else {}
    return element("th" if name else "td", name, **attributes, class_=classes)


def _row(cells: Sequence[Child], classes: str, primary: int) -> Element:
    first, *rest = cells
    others = (element("td", cell, class_=_classes(classes, at, primary)) for at, cell in enumerate(rest, 1))
    return element("tr", element("th", first, scope="row"), *others)


def _classes(own: str, at: int, primary: int) -> str:
    return own if at < primary else f"{own} aa-second".strip()
