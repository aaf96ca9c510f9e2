"""The organisers' notice on a board, such as an erratum."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from arena.web.markup import element


def notice_of(text: str) -> Element:
    """A notice as people wrote it, set apart from our own words."""
    return element(
        "p", element("strong", "Notice of the organisers: "), text, class_="aa-notice", role="note"
    )
