"""What the reader chose: board and domain, kept in the address so that it can be passed on."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from arena.services.boards import BoardService
from arena.services.evidence import EvidenceService, QuestionLine, QuestionView
from arena.services.profiles import ProfileService, SystemProfile
from arena.web.standings_json import read_board
from arena.web.views import OVERALL, BoardView
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


def choose_board(*, width: int | Literal["stretch"] = "stretch") -> BoardView:
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
    name = st.selectbox(
        "Board", names, key="board", bind="query-params", format_func=_title, required=True, width=width
    )
    return board_named(str(name))


def board_named(name: str) -> BoardView:
    """A published board, read.

    Raises:
        NotFoundError: There is none of this name.
    """
    return _view(arena().boards, arena().settings.database_url, name)


def choose_system(view: BoardView, *, width: int | Literal["stretch"] = "stretch") -> str:
    """The system that the address names, or that the reader picks; by default the first.

    Raises:
        NotFoundError: The address names a system that the board does not have.
    """
    wanted = st.query_params.get("id")
    if wanted is not None and wanted not in view.systems:
        raise NotFoundError(
            "The board has no system of this name.", advice="Choose one on the leaderboard page."
        )
    chosen = st.selectbox("System", view.systems, key="id", bind="query-params", required=True, width=width)
    return str(chosen)


def choose_words() -> str:
    """What the reader looks for."""
    words = st.text_input("Search", key="words", bind="query-params", icon=":material/search:", width=480)
    return words or ""


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


def profile_of(view: BoardView, system: str) -> SystemProfile:
    """How a system of a judged board fared, question by question."""
    return _profile(arena().profiles, view.content_hash, str(view.round_name), system)


def questions_of(view: BoardView) -> tuple[QuestionLine, ...]:
    """The questions of a judged board."""
    return _questions(arena().evidence, view.content_hash, str(view.round_name))


def evidence_of(view: BoardView, question_id: str) -> QuestionView:
    """Everything about one question of a judged board.

    Raises:
        NotFoundError: The set has no such question.
    """
    return _evidence(arena().evidence, view.content_hash, str(view.round_name), question_id)


# A published round never changes, so its content hash is key enough.
@st.cache_data(ttl=600, max_entries=64, show_spinner="Counting battles …")
def _profile(_service: ProfileService, content_hash: str, round_name: str, system: str) -> SystemProfile:
    return _service.of(round_name, system)


@st.cache_data(ttl=600, max_entries=8, show_spinner="Reading questions …")
def _questions(_service: EvidenceService, content_hash: str, round_name: str) -> tuple[QuestionLine, ...]:
    return _service.questions(round_name)


@st.cache_data(ttl=600, max_entries=256, show_spinner=False)
def _evidence(
    _service: EvidenceService, content_hash: str, round_name: str, question_id: str
) -> QuestionView:
    return _service.question(round_name, question_id)
