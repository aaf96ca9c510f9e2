"""The form of a system card, which a file can fill."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import streamlit as st

from arena.site.services import arena
from arena.site.ui.html import note, paragraph, put
from arena.site.uploads import choose_file, on_disk
from data.errors import FileFormatError, InvalidFileError
from data.models import Problem, SystemCard
from submissions.card import FIELDS, check_fields, load_card

MAX_MB = 1
SENT, WRONG = "card-file", "card-problems"
LABELS: Mapping[str, tuple[str, str]] = {
    "model": ("Model", "LLM that writes the answers"),
    "retriever": ("Retriever", "finds the passages"),
    "passages": ("Passages", "how many, and from where"),
    "organisation": ("Organisation", "lab or company"),
    "licence": ("Licence", "of the system"),
    "link": ("Link", "https://…"),
    "contact": ("Contact", "only you and the organisers see it"),
    "notes": ("Notes", "what readers should know"),
    "open_weights": ("Open weights", "yes or no"),
    "parameters": ("Parameters", "total number, such as 70B"),
    "released": ("Released", "2026-05-01, 2026-05 or 2026"),
}


def fill_card(before: SystemCard | None) -> SystemCard | None:
    """Show the form of the system card; None while a field is invalid."""
    with st.expander("System card: shown to readers", icon=":material/badge:"):
        _take_file()
        if before is not None and before != SystemCard():
            st.button("Copy the card of the previous version", on_click=_fill, args=(before,))
        columns = st.columns(2)
        for at, name in enumerate(FIELDS):
            label, hint = LABELS[name]
            if name == "notes":
                st.text_area(label, key=f"card-{name}", placeholder=hint)
            else:
                columns[at % 2].text_input(label, key=f"card-{name}", placeholder=hint)
    card, wrong = check_fields({name: str(st.session_state.get(f"card-{name}") or "") for name in FIELDS})
    for name, problems in wrong.items():
        for problem in problems:
            text = f"{LABELS[name][0]}: {problem.message} {problem.advice}"
            paragraph(text, class_="aa-note aa-bad", role="alert")
    return card


def _take_file() -> None:
    label = "Fill the fields from a card.yaml"
    choose_file(label, types=("yaml", "yml"), max_mb=MAX_MB, key=SENT, on_change=_read)
    wrong: Sequence[Problem] = st.session_state.get(WRONG, ())
    if wrong:
        note("This card is invalid:")
        put("problems", wrong)


def _read() -> None:
    dropped = st.session_state.get(SENT)
    st.session_state[WRONG] = ()
    if dropped is None:
        return
    try:
        with on_disk(dropped, max_mb=MAX_MB) as path:
            _fill(load_card(path, arena().submissions.checks.card))
    except InvalidFileError as error:
        st.session_state[WRONG] = error.problems
    except FileFormatError as error:
        st.session_state[WRONG] = (
            Problem(error.line, error.code, "This is not a system card.", advice=error.advice),
        )


def _fill(card: SystemCard) -> None:
    for name, value in asdict(card).items():
        st.session_state[f"card-{name}"] = value
