"""What the reader chose: board and domain, kept in the address so that it can be passed on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import streamlit as st

from arena.bootstrap import Arena
from arena.services.evidence import QuestionLine, QuestionView
from arena.services.profiles import SystemProfile
from arena.services.weaknesses import Weaknesses
from arena.web.standings_json import read_board, title_of
from arena.web.views import OVERALL, BoardView
from arena.web.wiring import arena
from data.errors import NotFoundError

FRESH = 15
LONG = 600
MOST_BOARDS = 32


def boards() -> Mapping[str, str]:
    """Names of the published boards to their titles, newest first.

    Stops the page with what to do where nothing is published.
    """
    titles = _titles(arena())
    if not titles:
        st.title("Nothing is published yet")
        st.markdown(
            "A board appears here when a judged round is published.\n\n"
            "- `arena demo` judges and publishes the bundled question set.\n"
            "- `arena rounds publish ROUND` publishes a round of your own."
        )
        st.stop()
    return titles


def choose_board(*, width: int | Literal["stretch"] = "stretch") -> BoardView:
    """The board that the address names, or that the reader picks; by default the newest.

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
    return board_named(str(chosen))


def addressed_board() -> BoardView:
    """The board that the address names; by default the newest.

    Raises:
        NotFoundError: The address names a board that is not published.
    """
    names = tuple(boards())
    _require_known("board", names, "The board of this address is not published here.")
    return board_named(st.query_params.get("board", names[0]))


def board_named(name: str) -> BoardView:
    """A published board, read.

    Raises:
        NotFoundError: There is none of this name.
    """
    return _view(arena(), name)


def choose_system(view: BoardView) -> str:
    """The system that the address names, or that the reader picks; by default the first.

    Raises:
        NotFoundError: The address names a system that the board does not have.
    """
    _require_known("id", view.systems, "The board has no system of this name.")
    key = _from_address("id", view.systems, view.systems[0])
    chosen = st.selectbox(
        "System", view.systems, key=key, width=360, on_change=_into_address, args=("id", key)
    )
    return str(chosen)


def choose_words() -> str:
    """What the reader looks for."""
    key = "choice-words"
    st.session_state[key] = st.query_params.get("words", "")
    words = st.text_input(
        "Search in questions",
        key=key,
        icon=":material/search:",
        width=480,
        on_change=_into_address,
        args=("words", key),
    )
    return words or ""


def choose_domain(view: BoardView) -> str:
    """The domain that the address names, or that the reader picks; by default all together."""
    options = (OVERALL, *view.domains)
    key = _from_address("domain", options, OVERALL)
    chosen = st.segmented_control(
        "Domain",
        options,
        required=True,
        format_func=view.label,
        key=key,
        wrap=True,
        on_change=_into_address,
        args=("domain", key),
    )
    return str(chosen or OVERALL)


def choose_one(name: str, label: str, options: Mapping[str, str]) -> str:
    """One of several things that the address may name.

    Args:
        name: In the address.
        label: Of the choice.
        options: Values in the address to what the reader sees; the first is the default.
    """
    key = _from_address(name, tuple(options), next(iter(options)))
    chosen = st.selectbox(
        label,
        tuple(options),
        key=key,
        format_func=options.__getitem__,
        on_change=_into_address,
        args=(name, key),
    )
    return str(chosen)


def _from_address(name: str, options: Sequence[str], default: str) -> str:
    """Set a widget to what the address says, and return the widget's key.

    Streamlit's own binding puts labels into the address; permalinks need ids, which stay.
    """
    key = f"choice-{name}"
    wanted = st.query_params.get(name)
    st.session_state[key] = wanted if wanted in options else default
    return key


def _into_address(name: str, key: str) -> None:
    chosen = st.session_state[key]
    if chosen:
        st.query_params[name] = chosen
    else:
        st.query_params.pop(name, None)


def _other_board(key: str) -> None:
    """Another board has other domains, systems and questions."""
    st.query_params.from_dict({"board": st.session_state[key]})


def _require_known(name: str, options: Sequence[str], message: str) -> None:
    wanted = st.query_params.get(name)
    if wanted is not None and wanted not in options:
        raise NotFoundError(message, advice="Choose one on the leaderboard page.")


def profile_of(view: BoardView, system: str) -> SystemProfile:
    """How a system of a judged board fared, question by question."""
    return _profile(arena(), view, system)


def weaknesses_of(view: BoardView, system: str) -> Weaknesses:
    """What a system's answers lack, on a judged board."""
    return _weaknesses(arena(), view, system)


def questions_of(view: BoardView) -> tuple[QuestionLine, ...]:
    """The questions of a judged board."""
    return _questions(arena(), view)


def evidence_of(view: BoardView, question_id: str) -> QuestionView:
    """Everything about one question of a judged board.

    Raises:
        NotFoundError: The set has no such question.
    """
    return _evidence(arena(), view, question_id)


# Everything below is public. A published board never changes, so what hangs on it is kept by its hash.
def _of_database(source: Arena) -> str:
    return source.settings.database_url


def _of_content(view: BoardView) -> str:
    return f"{view.round_name} {view.content_hash}"


BY_CONTENT: dict[str | type, Callable[[Any], Any]] = {Arena: _of_database, BoardView: _of_content}


@st.cache_data(ttl=FRESH, max_entries=4, show_spinner=False, hash_funcs=BY_CONTENT)
def _titles(source: Arena) -> dict[str, str]:
    return {board.name: title_of(board) for board in source.boards.published()}


@st.cache_data(ttl=FRESH, max_entries=MOST_BOARDS, show_spinner=False, hash_funcs=BY_CONTENT)
def _view(source: Arena, name: str) -> BoardView:
    board = source.boards.get(name)
    if board.retracted:
        raise NotFoundError(f"The board {name} was retracted.", advice=board.notice)
    return read_board(board)


@st.cache_data(ttl=LONG, max_entries=64, show_spinner="Counting battles …", hash_funcs=BY_CONTENT)
def _profile(source: Arena, view: BoardView, system: str) -> SystemProfile:
    return source.profiles.of(str(view.round_name), system)


@st.cache_data(ttl=LONG, max_entries=64, show_spinner="Reading scores …", hash_funcs=BY_CONTENT)
def _weaknesses(source: Arena, view: BoardView, system: str) -> Weaknesses:
    return source.weaknesses.of(str(view.round_name), system)


@st.cache_data(ttl=LONG, max_entries=8, show_spinner="Reading questions …", hash_funcs=BY_CONTENT)
def _questions(source: Arena, view: BoardView) -> tuple[QuestionLine, ...]:
    return source.evidence.questions(str(view.round_name))


@st.cache_data(ttl=LONG, max_entries=256, show_spinner=False, hash_funcs=BY_CONTENT)
def _evidence(source: Arena, view: BoardView, question_id: str) -> QuestionView:
    return source.evidence.question(str(view.round_name), question_id)
