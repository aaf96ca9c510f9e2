"""Pickers of a board, kept in the address."""

from collections.abc import Mapping, Sequence

import streamlit as st

from arena.html_pages import macro
from arena.models.boards import OVERALL, BoardView
from arena.site.auth import present
from arena.site.queries import board_named, labels_of_boards, refuse_retracted
from arena.site.services import address
from arena.site.ui.html import anchor, link, name_page, page_heading, paragraph, put_html
from arena.site.ui.messages import PageEndedError
from data.errors import NotFoundError


def boards() -> Mapping[str, str]:
    """Names of the published boards to their labels, newest first."""
    wanted = address().get("board", "")
    titles = labels_of_boards(wanted)
    if wanted and wanted not in titles:
        refuse_retracted(wanted)
    if not titles:
        page_heading("Nothing is published yet")
        st.markdown("A board appears here when its organisers publish a judged round.")
        if present().organiser:
            paths = (anchor("Import a question set", "admin-data"), anchor("plan a round", "admin-rounds"))
            paragraph(paths[0], ", then ", paths[1], ".")
        raise PageEndedError
    return titles


def titled_board(title: str, page: str) -> BoardView:
    """Head and name a page, with links to the same page of other boards; the board that it shows."""
    titles = boards()
    view = addressed_board(titles)
    put_html(title_of_page(title, page, titles))
    name_page(title, view.full_title)
    return view


def title_of_page(title: str, page: str, titles: Mapping[str, str]) -> str:
    """Return the title of a board's page, and links to the same page of other boards, as HTML."""
    chosen = address().get("board", next(iter(titles)))
    links = [(label, link(page, board=name), name == chosen) for name, label in titles.items()]
    return macro("titled", title, [(f"Board: {titles[chosen]}", links)])


def addressed_board(titles: Mapping[str, str] | None = None) -> BoardView:
    """Return the board that the address names, of all `boards()`; by default the newest."""
    names = tuple(boards() if titles is None else titles)
    _require_known("board", names, "The board of this address is not published here.")
    return board_named(address().get("board", names[0]))


def chosen_system(view: BoardView) -> str:
    """Return the system that the address names; by default the first."""
    _require_known("id", view.systems, "The board has no system of this name.")
    return address().get("id", view.systems[0])


def chosen_opponent(view: BoardView, system: str) -> str:
    """Return the system that the address holds another against; empty where it names none."""
    _require_known("against", view.systems, "The board has no system of this name.")
    wanted = address().get("against", "")
    return "" if wanted == system else wanted


def chosen_domain(view: BoardView) -> str:
    """Return the domain that the address names; by default all together."""
    wanted = address().get("domain", OVERALL)
    return wanted if wanted in view.domains else OVERALL


def domain_warning(view: BoardView) -> str:
    """Return a warning on an unknown domain in the address; empty where the board has it."""
    wanted = address().get("domain", OVERALL)
    if wanted == OVERALL or wanted in view.domains:
        return ""
    return "The board has no domain of this name. All domains are shown."


def _require_known(name: str, options: Sequence[str], message: str) -> None:
    wanted = address().get(name)
    if wanted is not None and wanted not in options:
        raise NotFoundError(message, advice="Choose one on the leaderboard page.")
