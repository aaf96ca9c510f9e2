"""Parts that several pages share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import streamlit as st

from arena.web.files import MIMES, battles_jsonl, board_file, stamp_of
from arena.web.markup import element, put
from arena.web.notices import notice_of
from arena.web.tables import link
from arena.web.texts import DEFINITIONS
from arena.web.views import BoardView
from leaderboard.table_files import TableForm

HASH_SHOWN = 12
LABELS = {TableForm.CSV: "CSV", TableForm.JSON: "JSON", TableForm.PARQUET: "Parquet"}


def strip(facts: Iterable[tuple[str, str]]) -> None:
    """Show a few figures in a row, each with what it is."""
    pairs = [element("div", element("dt", label), element("dd", value)) for label, value in facts]
    put(element("dl", *pairs, class_="aa-strip"))


def lead(text: str) -> None:
    """Show the one sentence that a page is about; for our own words and validated names."""
    put(element("p", text, class_="aa-lead"))


def note(text: str) -> None:
    """Show a side note in small type; for our own words and validated names."""
    put(element("p", text, class_="aa-note"))


def back_to_board(view: BoardView) -> None:
    """Lead back to the board."""
    place = element("a", view.title, href=link("", board=view.name), target="_self")
    put(element("p", "Board: ", place, class_="aa-eyebrow"))


def errata(view: BoardView) -> None:
    """What the organisers say of the board since it was published; nothing where they say nothing."""
    if view.notice:
        put(notice_of(view.notice))


def board_note(view: BoardView) -> None:
    """How the numbers were made, and where they stand."""
    if view.note:
        st.text(view.note)
    where = f"Published {view.published}, content {view.content_hash[:HASH_SHOWN]}."
    note(f"{view.method} {where}")


def no_questions(view: BoardView) -> None:
    """Say why a board has no evidence, and where there is some."""
    st.info(
        f"{view.title} was published elsewhere as counts of verdicts: its questions, answers and battles "
        "are not here. Choose a board that was judged in this arena.",
        icon=":material/info:",
    )


def definitions() -> None:
    """What the columns mean, for those who cannot hover."""
    with st.expander("What the columns mean", icon=":material/help:"):
        terms = [element("p", element("strong", name), f"  {text}") for name, text in DEFINITIONS.items()]
        put(element("div", *terms, class_="aa-terms"))


def show_files(view: BoardView) -> None:
    """Offer the board as files, made when they are asked for."""
    stem = stamp_of(view).stem
    files: list[tuple[str, str, str, Callable[[], bytes]]] = [
        (f"Standings, {LABELS[form]}", f"{stem}.{form}", MIMES[form], partial(board_file, view, form))
        for form in TableForm
    ]
    if view.round_name is not None:
        battles = partial(battles_jsonl, view.round_name)
        files.append(("Battles, JSONL", f"{stem}-battles.jsonl", "application/jsonl", battles))
    with st.container(horizontal=True, key="files"):
        for label, name, mime, make in files:
            st.download_button(
                label, make, file_name=name, mime=mime, icon=":material/download:", on_click="ignore"
            )


def health(view: BoardView) -> None:
    """How far the judge can be trusted, in a row of figures with what each means."""
    if not view.health:
        return
    pairs = [
        element("div", element("dt", element("abbr", label, title=meaning)), element("dd", value))
        for label, value, meaning in view.health
    ]
    put(element("dl", *pairs, class_="aa-strip aa-health", aria_label="Judge health"))
