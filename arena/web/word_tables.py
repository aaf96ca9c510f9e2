"""Tables of words: what people and programs called things, as texts that wrap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element

from arena.web.markup import element


def word_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, spare: int = 0) -> Element:
    """A table whose first column is the row's heading, all of it left-aligned.

    Args:
        header: Names of the columns.
        rows: As many texts each.
        spare: How many of the last columns give way on a phone.
    """
    kept = len(header) - spare
    hidden = ["" if at < kept else " aa-second" for at in range(len(header))]
    heads = [
        element("th", name, scope="col", class_=f"aa-left{hidden[at]}") for at, name in enumerate(header)
    ]
    body = [
        element(
            "tr",
            element("th", row[0], scope="row"),
            *(element("td", text, class_=f"aa-words{hidden[at]}") for at, text in enumerate(row) if at),
        )
        for row in rows
    ]
    head = element("thead", element("tr", *heads))
    table = element("table", head, element("tbody", *body), class_="aa-board aa-list")
    return element("div", table, class_="aa-wrap")
