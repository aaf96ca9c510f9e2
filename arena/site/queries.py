"""Cached reads of pages through the services: a published board never changes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import streamlit as st

from arena.container import Arena
from arena.models.boards import BoardView, board_label, snapshot_label
from arena.services.accounts.auth import PUBLIC, Caller
from arena.services.boards.reader import HistoryEntry, withdrawn_marks
from arena.services.boards.snapshot import read_board
from arena.services.evidence.question_lists import Order, QuestionFilter, QuestionList
from arena.services.evidence.questions import QuestionView
from arena.services.evidence.systems import Comparison, SystemProfile
from arena.services.evidence.weaknesses import Weaknesses
from arena.site.auth import present
from arena.site.services import arena
from data.errors import RetractedError
from data.models import Board, SetSummary
from data.store.boards import SNAPSHOT, is_called, snapshot_of
from data.store.question_stats import BattleResult, QuestionRecord, QuestionStats

FRESH = 15
LONG = 60
MOST_BOARDS = 32
Asked = ParamSpec("Asked")
Value = TypeVar("Value")
Query = Callable[Concatenate[Arena, Asked], Value]
ReaderQuery = Callable[Concatenate[Arena, Caller, BoardView, Asked], Value]

# Everything here is public, and cached until anything is changed that readers may notice: a text that was
# withheld is withheld from the next request on, in every process.
BY_STATE: dict[str | type, Callable[[Any], object]] = {
    Arena: lambda source: (source.settings.database_url, source.store.changes()),
    BoardView: lambda view: f"{view.round_name} {view.content_hash} {dict(view.marks)}",
    Board: lambda head: f"{head.name} {head.content_hash} {head.notice}",
}
# A published board never changes: what is made of it alone, and holds no text of its set, outlasts changes.
BY_CONTENT = {**BY_STATE, Arena: lambda source: source.settings.database_url}


def _cached(
    *, most: int, seconds: int | None = None, spinner: str | bool = False, of_board_alone: bool = False
) -> Callable[[Query[Asked, Value]], Callable[Asked, Value]]:
    """Let a query of the application be asked without naming it, and cache its result."""
    # It is cached for `seconds`, until the next change at most; what is `of_board_alone` over changes too.
    # What is cached must not be changed, as all readers share it.
    named_by = BY_CONTENT if of_board_alone else BY_STATE

    def cache_query(query: Query[Asked, Value]) -> Callable[Asked, Value]:
        cached: Query[Asked, Value] = st.cache_resource(
            ttl=seconds, max_entries=most, show_spinner=spinner, hash_funcs=named_by
        )(query)

        @wraps(query)
        def asked(*args: Asked.args, **options: Asked.kwargs) -> Value:
            return cached(arena(), *args, **options)

        return asked

    return cache_query


@_cached(seconds=FRESH, most=64)
def texts_kept_back(source: Arena, view: BoardView) -> str:
    """Return the notice on texts of a judged board that are not public; empty where all are."""
    return "" if view.round_name is None else source.evidence.notice(view.round_name)


def _cached_for_public(
    *, most: int, seconds: int | None = None, spinner: str | bool = False, copied: bool = False
) -> Callable[[ReaderQuery[Asked, Value]], Callable[Concatenate[BoardView, Asked], Value]]:
    """As `_cached`, for what holds texts: while these are not public, who signed in is read for afresh."""
    cache = st.cache_data if copied else st.cache_resource

    def cache_query(query: ReaderQuery[Asked, Value]) -> Callable[Concatenate[BoardView, Asked], Value]:
        # A cache is known by the name and source of its function, so it needs those of the query.
        @wraps(query)
        def for_public(
            source: Arena, _kept: str, view: BoardView, *args: Asked.args, **options: Asked.kwargs
        ) -> Value:
            return query(source, PUBLIC, view, *args, **options)

        cached = cache(ttl=seconds, max_entries=most, show_spinner=spinner, hash_funcs=BY_STATE)(for_public)

        @wraps(query)
        def asked(view: BoardView, /, *args: Asked.args, **options: Asked.kwargs) -> Value:
            kept = texts_kept_back(view)
            caller = present() if kept else PUBLIC
            if caller.signed_in:
                return query(arena(), caller, view, *args, **options)
            return cached(arena(), kept, view, *args, **options)

        return asked

    return cache_query


@_cached(seconds=FRESH, most=4)
def _heads(source: Arena) -> tuple[Board, ...]:
    return source.boards.heads()


@_cached(most=MOST_BOARDS, of_board_alone=True)
def _view(source: Arena, head: Board) -> BoardView:
    return read_board(source.boards.get(snapshot_of(head)))


@_cached(seconds=FRESH, most=4)
def _former(source: Arena) -> tuple[Board, ...]:
    return source.boards.former()


def labels_of_boards(wanted: str = "") -> dict[str, str]:
    """Names of the published boards to what readers choose them by, newest first."""
    labels = {head.name: board_label(head) for head in _heads()}
    if SNAPSHOT in wanted:
        for head in (*_former(), *_heads()):
            if is_called(head, wanted):
                labels[wanted] = snapshot_label(head)
    return labels


def board_named(name: str) -> BoardView:
    """Return a published board, read."""
    # Former boards are read where none that stands has the name.
    head = _called(name, _heads()) or _called(name, _former())
    if head is None:
        raise RetractedError(name, arena().boards.get(name).notice)
    view = _view(head)
    # What was withdrawn stays so: the view, which outlasts changes, lacks only what came later.
    return replace(view, marks={**view.marks, **_withdrawn(head)})


@_cached(most=MOST_BOARDS)
def _withdrawn(source: Arena, head: Board) -> Mapping[str, str]:
    return {} if head.round_name is None else withdrawn_marks(source.store, head.round_name)


def _called(name: str, heads: Sequence[Board]) -> Board | None:
    return next((head for head in heads if is_called(head, name)), None)


def refuse_retracted(name: str) -> None:
    """Say of a board that was taken down why."""
    for head in arena().boards.retracted():
        if is_called(head, name):
            raise RetractedError(name, head.notice)


@_cached(seconds=FRESH, most=64)
def notices_of(source: Arena, view: BoardView) -> tuple[str, ...]:
    """Sentences about systems that were withdrawn from a judged board."""
    return () if view.round_name is None else source.boards.notices(view.round_name)


@_cached_for_public(seconds=LONG, most=64, spinner="Counting battles …")
def profile_of(source: Arena, caller: Caller, view: BoardView, system: str) -> SystemProfile:
    """Return the question-by-question results of a system on a judged board."""
    return source.systems.profile(str(view.round_name), system, caller=caller)


@_cached_for_public(seconds=LONG, most=64)
def lost_questions(
    source: Arena, caller: Caller, view: BoardView, system: str, most: int
) -> tuple[QuestionRecord, ...]:
    """Return the questions that a system of a judged board lost most clearly."""
    return source.systems.lost(view.round_name, system, most, caller=caller) if view.round_name else ()


@_cached_for_public(seconds=LONG, most=64, spinner="Reading scores …")
def weaknesses_of(source: Arena, caller: Caller, view: BoardView, system: str) -> Weaknesses:
    """Return the weaknesses of a system's answers, on a judged board."""
    return source.weaknesses.of(str(view.round_name), system, caller=caller)


@_cached_for_public(most=8, spinner="Reading questions …")
def questions_of(source: Arena, caller: Caller, view: BoardView) -> QuestionList:
    """Return the questions of a judged board."""
    return source.question_lists.of(str(view.round_name), caller=caller)


def questions_found(
    view: BoardView, question_filter: QuestionFilter, order: Order
) -> tuple[QuestionStats, ...]:
    """Return the questions of a judged board that a reader looks for."""
    system = question_filter.system
    endings = () if system is None else _endings(view, system, question_filter.opponent)
    return questions_of(view).matching(question_filter, endings=endings, order=order)


@_cached(most=MOST_BOARDS)
def set_of(source: Arena, view: BoardView) -> SetSummary | None:
    """Return the question set of a judged board; None for published counts, and where it is gone."""
    if view.round_name is None:
        return None
    return source.sets.summary(source.rounds.get(view.round_name, caller=PUBLIC).set_name)


def change_of(view: BoardView) -> HistoryEntry | None:
    """Return the board in the history; None where no board of its set stands before it."""
    found = next((entry for entry in history() if entry.board.name == view.name), None)
    return None if found is None or found.changes is None else found


@_cached(most=4, spinner="Reading boards …")
def history(source: Arena) -> tuple[HistoryEntry, ...]:
    """Every board that was ever published, the newest first."""
    return source.boards.history()


@_cached(seconds=LONG, most=64, spinner="Looking up battles …")
def _endings(source: Arena, view: BoardView, system: str, opponent: str | None) -> tuple[BattleResult, ...]:
    return source.question_lists.endings(str(view.round_name), system, opponent)


@_cached_for_public(seconds=LONG, most=64, spinner="Comparing battles …")
def comparison_of(source: Arena, caller: Caller, view: BoardView, systems: tuple[str, ...]) -> Comparison:
    """Systems of a judged board against each other."""
    return source.systems.compare(str(view.round_name), systems, caller=caller)


@_cached_for_public(seconds=FRESH, most=256, copied=True)
def evidence_of(source: Arena, caller: Caller, view: BoardView, question_id: str) -> QuestionView:
    """Everything about one question of a judged board."""
    return source.evidence.question(str(view.round_name), question_id, caller=caller)
