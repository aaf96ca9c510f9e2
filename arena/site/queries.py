"""Cached queries of pages to the services: a published board never changes."""

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
MAX_BOARDS = 32
Params = ParamSpec("Params")
Value = TypeVar("Value")
Query = Callable[Concatenate[Arena, Params], Value]
ReaderQuery = Callable[Concatenate[Arena, Caller, BoardView, Params], Value]

# Everything here is public, and cached until visible data change: a withheld text disappears at the next
# request, in every process.
BY_STATE: dict[str | type, Callable[[Any], object]] = {
    Arena: lambda source: (source.settings.database_url, source.store.changes()),
    BoardView: lambda view: f"{view.round_name} {view.content_hash} {dict(view.marks)}",
    Board: lambda head: f"{head.name} {head.content_hash} {head.notice}",
}
# A published board never changes, so results without texts of its set survive other changes.
BY_CONTENT = {**BY_STATE, Arena: lambda source: source.settings.database_url}


def _cached(
    *, most: int, seconds: int | None = None, spinner: str | bool = False, board_only: bool = False
) -> Callable[[Query[Params, Value]], Callable[Params, Value]]:
    # Results expire after `seconds` and at the next change, which `board_only` results survive. All visitors
    # share them, so callers must not modify them.
    hash_funcs = BY_CONTENT if board_only else BY_STATE

    def cache_query(query: Query[Params, Value]) -> Callable[Params, Value]:
        cached: Query[Params, Value] = st.cache_resource(
            ttl=seconds, max_entries=most, show_spinner=spinner, hash_funcs=hash_funcs
        )(query)

        @wraps(query)
        def call(*args: Params.args, **options: Params.kwargs) -> Value:
            return cached(arena(), *args, **options)

        return call

    return cache_query


@_cached(seconds=FRESH, most=64)
def texts_notice(source: Arena, view: BoardView) -> str:
    """Return the notice on a judged board's texts that are not public; empty if all are."""
    return "" if view.round_name is None else source.evidence.notice(view.round_name)


def _cached_for_public(
    *, most: int, seconds: int | None = None, spinner: str | bool = False, copied: bool = False
) -> Callable[[ReaderQuery[Params, Value]], Callable[Concatenate[BoardView, Params], Value]]:
    """Like `_cached`, but signed-in callers bypass the cache while some texts are not public."""
    cache = st.cache_data if copied else st.cache_resource

    def cache_query(query: ReaderQuery[Params, Value]) -> Callable[Concatenate[BoardView, Params], Value]:
        # Streamlit identifies a cache by its function's name and source, so these must be the query's.
        @wraps(query)
        def for_public(
            source: Arena, _notice: str, view: BoardView, *args: Params.args, **options: Params.kwargs
        ) -> Value:
            return query(source, PUBLIC, view, *args, **options)

        cached = cache(ttl=seconds, max_entries=most, show_spinner=spinner, hash_funcs=BY_STATE)(for_public)

        @wraps(query)
        def call(view: BoardView, /, *args: Params.args, **options: Params.kwargs) -> Value:
            notice = texts_notice(view)
            caller = present() if notice else PUBLIC
            if caller.signed_in:
                return query(arena(), caller, view, *args, **options)
            return cached(arena(), notice, view, *args, **options)

        return call

    return cache_query


@_cached(most=4)
def _heads(source: Arena) -> tuple[Board, ...]:
    return source.boards.heads()


@_cached(most=MAX_BOARDS, board_only=True)
def _view(source: Arena, head: Board) -> BoardView:
    return read_board(source.boards.get(snapshot_of(head)))


@_cached(most=4)
def _former(source: Arena) -> tuple[Board, ...]:
    return source.boards.former()


def labels_of_boards(wanted: str = "") -> dict[str, str]:
    """Return the labels of the published boards by name, newest first."""
    labels = {head.name: board_label(head) for head in _heads()}
    if SNAPSHOT in wanted:
        for head in (*_former(), *_heads()):
            if is_called(head, wanted):
                labels[wanted] = snapshot_label(head)
    return labels


def board_named(name: str) -> BoardView:
    """Return the view of a published board."""
    # Look up former boards only if no current one has the name.
    head = _called(name, _heads()) or _called(name, _former())
    if head is None:
        raise RetractedError(name, arena().boards.get(name).notice)
    view = _view(head)
    # The cached view may lack later withdrawals, but a withdrawal is never undone.
    return replace(view, marks={**view.marks, **_withdrawn(head)})


@_cached(most=MAX_BOARDS)
def _withdrawn(source: Arena, head: Board) -> Mapping[str, str]:
    return {} if head.round_name is None else withdrawn_marks(source.store, head.round_name)


def _called(name: str, heads: Sequence[Board]) -> Board | None:
    return next((head for head in heads if is_called(head, name)), None)


def refuse_retracted(name: str) -> None:
    """Raise the notice of a retracted board."""
    for head in arena().boards.retracted():
        if is_called(head, name):
            raise RetractedError(name, head.notice)


@_cached(seconds=FRESH, most=64)
def notices_of(source: Arena, view: BoardView) -> tuple[str, ...]:
    """Return notices about systems that were withdrawn from a judged board."""
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


def matching_questions(
    view: BoardView, question_filter: QuestionFilter, order: Order
) -> tuple[QuestionStats, ...]:
    """Return the questions of a judged board that match a filter."""
    system = question_filter.system
    endings = () if system is None else _endings(view, system, question_filter.opponent)
    return questions_of(view).matching(question_filter, endings=endings, order=order)


@_cached(most=MAX_BOARDS)
def set_of(source: Arena, view: BoardView) -> SetSummary | None:
    """Return the question set of a judged board; None for a board of published counts."""
    if view.round_name is None:
        return None
    return source.sets.summary(source.rounds.get(view.round_name, caller=PUBLIC).set_name)


def change_of(view: BoardView) -> HistoryEntry | None:
    """Return the board's history entry; None if it is the first of its set."""
    entry = next((entry for entry in history() if entry.board.name == view.name), None)
    return None if entry is None or entry.changes is None else entry


@_cached(most=4, spinner="Reading boards …")
def history(source: Arena) -> tuple[HistoryEntry, ...]:
    """Return all boards that were ever published, newest first."""
    return source.boards.history()


@_cached(seconds=LONG, most=64, spinner="Looking up battles …")
def _endings(source: Arena, view: BoardView, system: str, opponent: str | None) -> tuple[BattleResult, ...]:
    return source.question_lists.endings(str(view.round_name), system, opponent)


@_cached_for_public(seconds=LONG, most=64, spinner="Comparing battles …")
def comparison_of(source: Arena, caller: Caller, view: BoardView, systems: tuple[str, ...]) -> Comparison:
    """Compare systems of a judged board with each other."""
    return source.systems.compare(str(view.round_name), systems, caller=caller)


@_cached_for_public(seconds=FRESH, most=256, copied=True)
def evidence_of(source: Arena, caller: Caller, view: BoardView, question_id: str) -> QuestionView:
    """Return the evidence on one question of a judged board."""
    return source.evidence.question(str(view.round_name), question_id, caller=caller)
