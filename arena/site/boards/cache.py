"""Cached parts of a published board, which never changes: tables as HTML, charts as specs."""

from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

from arena.models.boards import BoardView

MAX_ENTRIES = 512
Value = TypeVar("Value")


def made_once(view: BoardView, name: str, make: Callable[[], Value]) -> Value:
    """Cache a value of a board; callers must not modify it."""
    value: Value = _value(f"{view.key} {view.notice} {name}", make)
    return value


@st.cache_resource(max_entries=MAX_ENTRIES, show_spinner=False)
def _value(key: str, _make: Callable[[], Any]) -> Any:  # noqa: ANN401, ARG001 - any type; part of the cache key
    return _make()
