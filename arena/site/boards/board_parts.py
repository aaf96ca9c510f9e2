"""Shared parts of a board's pages: notices, figures and files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from arena.site.boards.downloads import MIMES, battles_jsonl, board_file, stamp_of
from arena.site.boards.view_model import BoardView
from arena.site.ui.html import put
from leaderboard.vocabulary import BoardForm

HASH_SHOWN = 12
LABELS = {BoardForm.CSV: "CSV", BoardForm.JSON: "JSON", BoardForm.PARQUET: "Parquet"}


def errata(view: BoardView) -> None:
    """Show the organisers' later notes on a board, if there are any."""
    put("notice", view.notice)


def left_out(notice: str) -> None:
    """Say which texts are kept from the reader, and why; nothing where none are."""
    put("notice", notice)


def set_note(view: BoardView) -> None:
    """Show the note on questions and answers, if there is one."""
    if view.note:
        st.text(view.note)


def how_made(view: BoardView) -> str:
    """Describe the making of the numbers, with a link to them."""
    return f"{view.method} Published {view.published}, content {view.content_hash[:HASH_SHOWN]}."


def no_questions(view: BoardView) -> None:
    """Say why a board has no evidence, and where there is some."""
    st.info(
        f"{view.title} was published elsewhere as counts of verdicts: its questions, answers and battles "
        "are not here. Choose a board that was judged in this arena.",
        icon=":material/info:",
    )


def show_files(view: BoardView) -> None:
    """Offer the board as files, made when they are asked for."""
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
            st.download_button(
                label, make, file_name=name, mime=mime, icon=":material/download:", on_click="ignore"
            )
