"""Cached parts of a published board, which never changes: tables as HTML, charts as specs."""

import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
import streamlit as st

from arena.models.boards import BoardView

if TYPE_CHECKING:
    import altair as alt

MAX_ENTRIES = 512
INLINE = "rows"
Value = TypeVar("Value")


def made_once(view: BoardView, name: str, make: Callable[[], Value]) -> Value:
    """Cache a value of a board; callers must not modify it."""
    value: Value = _value(f"{view.key} {view.notice} {name}", make)
    return value


def cached_chart(
    view: BoardView, name: str, make: Callable[[str], "alt.LayerChart"], *, ink: str, alt_text: str
) -> None:
    """Show a chart of a board, cached after its first use."""
    spec = _spec(f"{view.key} {name} {ink}", lambda: make(ink))
    st.vega_lite_chart(spec, width="stretch", alt=alt_text)


@st.cache_resource(max_entries=MAX_ENTRIES, show_spinner=False)
def _value(key: str, _make: Callable[[], Any]) -> Any:  # noqa: ANN401, ARG001 - any type; part of the cache key
    return _make()


@st.cache_resource(max_entries=MAX_ENTRIES, show_spinner=False)
def _spec(key: str, _make: Callable[[], "alt.LayerChart"]) -> dict[str, Any]:  # noqa: ARG001 - as above
    """Cache the chart's data as Arrow, which Streamlit would otherwise build on every run."""
    spec: dict[str, Any] = _make().to_dict()
    datasets = dict(spec.get("datasets", {}))
    values = spec.get("data", {}).get("values")
    if values:
        datasets[INLINE] = values
        spec["data"] = {"name": INLINE}
    if datasets:
        spec["datasets"] = {name: _as_arrow(rows) for name, rows in datasets.items()}
    return spec


def _as_arrow(rows: list[dict[str, Any]]) -> bytes:
    table = pa.Table.from_pylist(rows)
    raw = io.BytesIO()
    with pa.ipc.new_stream(raw, table.schema) as stream:
        stream.write_table(table)
    return raw.getvalue()
