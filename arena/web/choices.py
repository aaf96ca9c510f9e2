"""What the reader chose: board and domain, kept in the address so that it can be passed on."""

from __future__ import annotations

import streamlit as st

from arena.services.boards import BoardService
from arena.web.views import OVERALL, BoardView, read_board
from arena.web.wiring import arena
from data.errors import NotFoundError
from data.records import Board

FRESH = 15
MOST_BOARDS = 32


def boards() -> tuple[str, ...]:
    """Names of the published boards, newest first.

    Stops the page with what to do where nothing is published.
    """
    names = _names(arena().boards, arena().settings.database_url)
    if not names:
        st.title("Nothing is published yet")
        st.markdown(
            "A board appears here when a judged round is published.\n\n"
            "- `arena demo` judges and publishes the bundled question set.\n"
            "- `arena rounds publish ROUND` publishes a round of your own."
        )
        st.stop()
    return names


def choose_board() -> BoardView:
    """The board that the address names, or that the reader picks; by default the newest.

    Raises:
        NotFoundError: The address names a board that is not published.
    """
    names = boards()
    wanted = st.query_params.get("board")
    if wanted is not None and wanted not in names:
        raise NotFoundError(
            "The board of this address is not published here.", advice="Choose one on the leaderboard page."
        )
    name = st.selectbox("Board", names, key="board", bind="query-params", format_func=_title)
    return board_named(str(name))


def board_named(name: str) -> BoardView:
    """A published board, read.

    Raises:
        NotFoundError: There is none of this name.
    """
    return _view(arena().boards, arena().settings.database_url, name)


def choose_domain(view: BoardView) -> str:
    """The domain that the address names, or that the reader picks; by default all together."""
    options = [OVERALL, *view.domains]
    chosen = st.segmented_control(
        "Domain",
        options,
        default=OVERALL,
        required=True,
        format_func=view.label,
        key="domain",
        bind="query-params",
        wrap=True,
    )
    return str(chosen or OVERALL)


def _title(name: str) -> str:
    return board_named(name).title


@st.cache_data(ttl=FRESH, max_entries=4, show_spinner=False)
def _names(_service: BoardService, _database: str) -> tuple[str, ...]:
    return tuple(board.name for board in _service.published())


@st.cache_data(ttl=FRESH, max_entries=MOST_BOARDS, show_spinner=False)
def _view(_service: BoardService, database: str, name: str) -> BoardView:
    return read_board(_published(_service, name))


def _published(service: BoardService, name: str) -> Board:
    board = service.get(name)
    if board.retracted:
        raise NotFoundError(f"The board {name} was retracted.", advice=board.notice)
    return board
