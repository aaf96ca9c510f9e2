"""What visitors choose of a board, kept in the address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import streamlit as st

from arena.site.boards.view_model import OVERALL, BoardView
from arena.site.queries import board_named, labels_of_boards, refuse_retracted
from arena.site.services import address, is_public_visit
from arena.site.ui.components import page_heading
from arena.site.ui.errors import PageEndedError
from arena.site.ui.url_state import _from_address, choose_one, choose_segment
from data.errors import NotFoundError


def boards() -> Mapping[str, str]:
    """Names of the published boards to their labels, newest first.

    Where nothing is published the page says what to do, and ends.

    Raises:
        PageEndedError: Nothing is published.
        RetractedError: The address names a board that was taken down.
    """
    wanted = address().get("board", "")
    titles = labels_of_boards(wanted)
    if wanted and wanted not in titles:
        refuse_retracted(wanted)
    if not titles and is_public_visit():
        raise PageEndedError
    if not titles:
        page_heading("Nothing is published yet")
        st.markdown("A board appears here when its organisers publish a judged round.")
        raise PageEndedError
    return titles


def choose_board(*, width: int | Literal["stretch"] = "stretch") -> BoardView:
    """The board that the address names, or that the reader picks; by default the newest.

    Raises:
        NotFoundError: The address names a board that is not published.
    """
    return board_named(offer_boards(width=width))


def offer_boards(*, width: int | Literal["stretch"] = "stretch") -> str:
    """Let readers pick a board; the name of the one that they picked, or that the address names.

    Raises:
        NotFoundError: The address names a board that is not published.
    """
    titles = boards()
    names = tuple(titles)
    _require_known("board", names, "The board of this address is not published here.")
    key = _from_address("board", names, names[0])
    chosen = st.selectbox(
        "Board",
        names,
        key=key,
        format_func=titles.__getitem__,
        width=width,
        on_change=_other_board,
        args=(key,),
    )
    return str(chosen)


def addressed_board() -> BoardView:
    """The board that the address names; by default the newest.

    Raises:
        NotFoundError: The address names a board that is not published.
    """
    names = tuple(boards())
    _require_known("board", names, "The board of this address is not published here.")
    return board_named(address().get("board", names[0]))


def addressed_label() -> str:
    """What readers choose the addressed board by."""
    labels = boards()
    return labels[address().get("board", next(iter(labels)))]


def chosen_system(view: BoardView) -> str:
    """The system that the address names; by default the first.

    Raises:
        NotFoundError: The address names a system that the board does not have.
    """
    _require_known("id", view.systems, "The board has no system of this name.")
    return address().get("id", view.systems[0])


def choose_system(view: BoardView) -> None:
    """Offer the systems of a board; `chosen_system` reads which."""
    choose_one("id", "System", {name: name for name in view.systems}, width=360)


def choose_domain(view: BoardView) -> str:
    """The domain that the address names, or that the reader picks; by default all together."""
    labels = {domain: view.label(domain) for domain in (OVERALL, *view.domains)}
    return choose_segment("domain", "Domain", labels, wrap=True)


def chosen_domain(view: BoardView) -> str:
    """The domain that the address names; by default all together."""
    wanted = address().get("domain", OVERALL)
    return wanted if wanted in view.domains else OVERALL


def domain_warning(view: BoardView) -> str:
    """That the address names a domain that the board does not have; empty where it has it."""
    wanted = address().get("domain", OVERALL)
    if wanted == OVERALL or wanted in view.domains:
        return ""
    return "The board has no domain of this name. All domains are shown."


def _other_board(key: str) -> None:
    """Another board has other domains, systems and questions."""
    st.query_params.from_dict({"board": st.session_state[key]})


def _require_known(name: str, options: Sequence[str], message: str) -> None:
    wanted = address().get(name)
    if wanted is not None and wanted not in options:
        raise NotFoundError(message, advice="Choose one on the leaderboard page.")
