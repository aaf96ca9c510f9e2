"""What pages read through the services, kept where it can be: a published board never changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from arena.bootstrap import Arena
from arena.services.comparisons import Comparison
from arena.services.evidence import QuestionView
from arena.services.history import Appearance, Entry
from arena.services.profiles import SystemProfile
from arena.services.question_lists import QuestionFilter, QuestionList, Trait
from arena.services.weaknesses import Weaknesses
from arena.web.standings_json import read_board
from arena.web.views import BoardView
from arena.web.wiring import arena
from data.errors import NotFoundError
from data.store.boards import BoardHead
from data.store.digests import Ending, QuestionDigest

FRESH = 15
LONG = 60
MOST_BOARDS = 32


def titles_of_boards() -> dict[str, str]:
    """Names of the published boards to their titles, newest first."""
    return {head.name: head.title for head in _heads(arena())}


def board_named(name: str) -> BoardView:
    """A published board, read.

    Raises:
        NotFoundError: There is none of this name.
    """
    return _board(arena(), name)


def profile_of(view: BoardView, system: str) -> SystemProfile:
    """How a system of a judged board fared, question by question."""
    return _profile(arena(), view, system)


def weaknesses_of(view: BoardView, system: str) -> Weaknesses:
    """What a system's answers lack, on a judged board."""
    return _weaknesses(arena(), view, system)


def questions_of(view: BoardView) -> QuestionList:
    """The questions of a judged board."""
    return _questions(arena(), view)


def questions_found(view: BoardView, wanted: QuestionFilter) -> tuple[QuestionDigest, ...]:
    """The questions of a judged board that a reader looks for, in the set's order."""
    endings = () if wanted.system is None else endings_of(view, wanted.system, wanted.opponent)
    reported = frozenset[str]()
    if wanted.trait is Trait.REPORTED:
        reported = arena().question_lists.reported(str(view.round_name))
    answered = answers_with(view, wanted)
    return questions_of(view).matching(wanted, endings=endings, reported=reported, answered=answered)


def answers_with(view: BoardView, wanted: QuestionFilter) -> Mapping[str, str]:
    """Where the answers of the wanted system have the wanted words, by question id."""
    if wanted.system is None or not wanted.words.strip():
        return {}
    return _answers_with(arena(), view, wanted.system, wanted.words)


def history() -> tuple[Entry, ...]:
    """Every board that was ever published, the newest first."""
    return _history(arena())


def history_of(view: BoardView, system: str) -> tuple[Appearance, ...]:
    """A system on every standing board of the same question set, the oldest first."""
    return _history_of(arena(), view, system)


def endings_of(view: BoardView, system: str, opponent: str | None) -> tuple[Ending, ...]:
    """How a system's battles (against one opponent) ended on a judged board."""
    return _endings(arena(), view, system, opponent)


def comparison_of(view: BoardView, systems: tuple[str, ...]) -> Comparison:
    """Systems of a judged board against each other.

    Raises:
        InputError: Fewer than two systems, or more than four.
    """
    return _comparison(arena(), view, systems)


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


def _of_head(head: BoardHead) -> str:
    return f"{head.name} {head.content_hash} {head.notice}"


BY_CONTENT: dict[str | type, Callable[[Any], Any]] = {
    Arena: _of_database,
    BoardView: _of_content,
    BoardHead: _of_head,
}


@st.cache_data(ttl=FRESH, max_entries=4, show_spinner=False, hash_funcs=BY_CONTENT)
def _heads(source: Arena) -> tuple[BoardHead, ...]:
    return source.boards.heads()


def _board(source: Arena, name: str) -> BoardView:
    head = next((head for head in _heads(source) if head.name == name), None)
    if head is None:
        board = source.boards.get(name)
        raise NotFoundError(f"The board {name} was retracted.", advice=board.notice)
    return _view(source, head)


@st.cache_resource(max_entries=MOST_BOARDS, show_spinner=False, hash_funcs=BY_CONTENT)
def _view(source: Arena, head: BoardHead) -> BoardView:
    return read_board(source.boards.get(head.name))


@st.cache_data(ttl=LONG, max_entries=64, show_spinner="Counting battles …", hash_funcs=BY_CONTENT)
def _profile(source: Arena, view: BoardView, system: str) -> SystemProfile:
    return source.profiles.of(str(view.round_name), system)


@st.cache_data(ttl=LONG, max_entries=64, show_spinner="Reading scores …", hash_funcs=BY_CONTENT)
def _weaknesses(source: Arena, view: BoardView, system: str) -> Weaknesses:
    return source.weaknesses.of(str(view.round_name), system)


@st.cache_resource(max_entries=8, show_spinner="Reading questions …", hash_funcs=BY_CONTENT)
def _questions(source: Arena, view: BoardView) -> QuestionList:
    return source.question_lists.of(str(view.round_name))


@st.cache_resource(ttl=FRESH, max_entries=4, show_spinner="Reading boards …", hash_funcs=BY_CONTENT)
def _history(source: Arena) -> tuple[Entry, ...]:
    return source.history.entries()


@st.cache_resource(ttl=FRESH, max_entries=64, show_spinner=False, hash_funcs=BY_CONTENT)
def _history_of(source: Arena, view: BoardView, system: str) -> tuple[Appearance, ...]:
    return source.history.of_system(view.name, system)


@st.cache_resource(ttl=LONG, max_entries=64, show_spinner="Looking up battles …", hash_funcs=BY_CONTENT)
def _endings(source: Arena, view: BoardView, system: str, opponent: str | None) -> tuple[Ending, ...]:
    return source.question_lists.endings(str(view.round_name), system, opponent)


@st.cache_resource(ttl=FRESH, max_entries=64, show_spinner="Reading answers …", hash_funcs=BY_CONTENT)
def _answers_with(source: Arena, view: BoardView, system: str, words: str) -> Mapping[str, str]:
    return source.question_lists.answers_with(str(view.round_name), system, words)


@st.cache_resource(ttl=LONG, max_entries=64, show_spinner="Comparing battles …", hash_funcs=BY_CONTENT)
def _comparison(source: Arena, view: BoardView, systems: tuple[str, ...]) -> Comparison:
    return source.comparisons.of(str(view.round_name), systems)


@st.cache_data(ttl=FRESH, max_entries=256, show_spinner=False, hash_funcs=BY_CONTENT)
def _evidence(source: Arena, view: BoardView, question_id: str) -> QuestionView:
    return source.evidence.question(str(view.round_name), question_id)
