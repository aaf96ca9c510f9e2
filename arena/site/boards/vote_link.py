"""The way from a board to the page on which visitors judge its systems blindly."""

from __future__ import annotations

from urllib.parse import quote

from arena.site.boards.view_model import BoardView
from arena.site.queries import voted_set
from arena.site.ui.markup import element, put


def invite_to_vote(view: BoardView) -> None:
    """Lead to the blind pairs of a board's set; nothing where votes are not open."""
    name = voted_set(view)
    if name:
        way = element("a", "Judge a blind pair of answers", href=f"./vote/{quote(name)}", target="_self")
        put(element("p", way, class_="aa-note"))
