"""Downloads of a board, created on demand, and notes on its pages."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from arena.formats import ends_of, points
from arena.models.boards import OVERALL, BoardView
from arena.services.accounts.auth import PUBLIC
from arena.site.services import arena
from arena.site.ui.html import offer
from data.models import Board
from data.store.boards import snapshot_name
from leaderboard.export.tables import (
    Cell,
    Column,
    PictureForm,
    Stamp,
    chart_file,
    columns_of,
    draws_pictures,
    flat_rows,
    standings_file,
    table_file,
)
from leaderboard.standings.columns import columns, marked
from leaderboard.standings.sections import NOT_APPLIED
from leaderboard.vocabulary import BoardForm

if TYPE_CHECKING:
    import altair as alt

INK_ON_PAPER = "#1d2733"
MIMES: Mapping[str, str] = {
    **{form: form.media_type for form in BoardForm},
    "png": "image/png",
    "svg": "image/svg+xml",
}
Rows = Sequence[Mapping[str, Cell]]


def stamp_of(view: BoardView) -> Stamp:
    """Return the stamp of a board's files."""
    return Stamp(board=view.name, content_hash=view.content_hash)


def offer_files(
    view: BoardView,
    name: str,
    rows: Callable[[], Rows],
    *,
    title: str = "",
    chart: Callable[[str], "alt.LayerChart"] | None = None,
) -> None:
    """Offer a table and its chart as files, created on demand."""
    _offer(stamp_of(view), name, rows, f"{view.title}: {title}", chart)


@st.fragment
def _offer(
    stamp: Stamp,
    name: str,
    rows: Callable[[], Rows],
    title: str,
    chart: Callable[[str], "alt.LayerChart"] | None,
) -> None:
    """Send the buttons only when the menu opens; most visitors never open it."""
    stem = f"{stamp.stem}-{name}"
    box = st.popover("Download", icon=":material/download:", key=f"download-{name}", on_change="rerun")
    if not box.open:
        return
    with box, st.container(horizontal=True):
        for form in BoardForm:
            _button(stem, form, partial(_table, stamp, rows, form))
        if chart is not None and draws_pictures():
            for picture in PictureForm:
                _button(stem, picture, partial(_chart, stamp, chart, picture, title))


def _button(stem: str, form: BoardForm | PictureForm, make: Callable[[], bytes]) -> None:
    st.download_button(
        form.upper(),
        make,
        file_name=f"{stem}.{form}",
        mime=MIMES[form],
        on_click="ignore",
        key=f"file-{stem}-{form}",
    )


def _table(stamp: Stamp, rows: Callable[[], Rows], form: BoardForm) -> bytes:
    return table_file(rows(), form, stamp)


def _chart(stamp: Stamp, chart: Callable[[str], "alt.LayerChart"], form: PictureForm, title: str) -> bytes:
    return chart_file(chart(INK_ON_PAPER), form, stamp, title)


def board_file(view: BoardView, form: BoardForm) -> bytes:
    """Return a board's standings; JSON is the published content itself, with its hash in the file's name."""
    board = _snapshot(view)
    return standings_file(marked(board.standings, board.marks), form, stamp_of(view))


def board_rows(view: BoardView, systems: Sequence[str], domain: str = "") -> Rows:
    """Return a board's rows for these systems in this order, of all domains or one."""
    board = _snapshot(view)
    rows = [
        row
        for row in flat_rows(marked(board.standings, board.marks))
        if row["system"] in systems and domain in {"", row["domain"]}
    ]
    return sorted(rows, key=lambda row: systems.index(str(row["system"])))


def board_columns(view: BoardView) -> tuple[Column, ...]:
    """Describe the columns of a board's files."""
    board = _snapshot(view)
    return columns_of(marked(board.standings, board.marks))


def battles_jsonl(view: BoardView) -> bytes:
    """Return the judged battles of a board's round as JSONL (docs/design.md)."""
    return b"".join(arena().boards.battles(_snapshot(view), caller=PUBLIC))


def _snapshot(view: BoardView) -> Board:
    name = view.name if view.round_name is None else snapshot_name(view.name, view.content_hash)
    return arena().boards.get(name)


HASH_LENGTH = 12
LABELS = {BoardForm.CSV: "CSV", BoardForm.JSON: "JSON", BoardForm.PARQUET: "Parquet"}


def set_note(view: BoardView) -> None:
    """Show the note on questions and answers, if there is one."""
    if view.note:
        st.text(view.note)


def how_made(view: BoardView) -> str:
    """Describe how the numbers were made, with the publication date and hash."""
    return f"{view.method} Published {view.published}, content {view.content_hash[:HASH_LENGTH]}."


def notes_of(view: BoardView, domain: str, titles: Sequence[str]) -> Iterator[str]:
    """Yield notes on the numbers of a domain's table."""
    yield how_made(view)
    if view.people:
        yield view.people if domain == OVERALL else NOT_APPLIED
    if any(spec.self_reported and spec.title in titles for spec in columns()):
        yield "Figures that teams report about their systems are not checked."
    if rating := view.held(domain):
        name = "" if view.reference == "reference" else f" ({view.reference})"
        value = f"{points(rating.value)} ({ends_of(rating, unknown='no interval')})"
        yield f"Dashed line: the reference{name} at {value}. It has no rank."


def no_questions(view: BoardView) -> None:
    """Explain why a board has no evidence."""
    st.info(
        f"{view.title} was published elsewhere as counts of verdicts: its questions, answers and battles "
        "are not here. Choose a board that was judged in this arena.",
        icon=":material/info:",
    )


def show_files(view: BoardView) -> None:
    """Offer the board as files, created on demand."""
    stem = stamp_of(view).stem
    files: list[tuple[str, str, str, Callable[[], bytes]]] = [
        (f"Standings, {LABELS[form]}", f"{stem}.{form}", MIMES[form], partial(board_file, view, form))
        for form in BoardForm
    ]
    if view.round_name is not None:
        battles = partial(battles_jsonl, view)
        files.append(("Battles, JSONL", f"{stem}-battles.jsonl", "application/jsonl", battles))
    with st.container(horizontal=True, key="files"):
        for label, name, mime, make in files:
            offer(label, make, name, mime)
