"""The system card: fields to fill in, or a card.yaml that fills them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType

import streamlit as st

from arena.web.checked_files import laid_down, problem_list
from arena.web.markup import element, put
from arena.web.pieces import note
from data.errors import FileFormatError, InvalidFileError
from data.records import Problem, SystemCard
from submissions.card import FIELDS, check_fields, load_card

SENT, WRONG = "card-file", "card-problems"
LABELS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "model": ("Model", "the LLM that writes the answers"),
        "retriever": ("Retriever", "what finds the passages"),
        "passages": ("Passages", "how many, and from where"),
        "organisation": ("Organisation", "who runs it"),
        "licence": ("Licence", "of the system"),
        "link": ("Link", "https://…"),
        "contact": ("Contact", "seen by you and the organisers alone"),
        "notes": ("Notes", "what readers should know"),
    }
)


def fill_card(before: SystemCard | None) -> SystemCard | None:
    """Let the visitor say what the system is; None while a field cannot be used.

    Args:
        before: The card of the system's version before; offered to be taken over.
    """
    with st.expander("System card: what readers see of your system", icon=":material/badge:"):
        _take_file()
        if before is not None and before != SystemCard():
            st.button("Take over the card of the version before", on_click=_fill, args=(before,))
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
            put(element("p", text, class_="aa-note aa-bad", role="alert"))
    return card


def _take_file() -> None:
    st.file_uploader("Fill the fields from a card.yaml", type=("yaml", "yml"), key=SENT, on_change=_read)
    wrong: Sequence[Problem] = st.session_state.get(WRONG, ())
    if wrong:
        note("This card was not taken:")
        put(problem_list(wrong))


def _read() -> None:
    """Fill the fields from the file that was dropped, or keep what is wrong with it."""
    dropped = st.session_state.get(SENT)
    st.session_state[WRONG] = ()
    if dropped is None:
        return
    try:
        with laid_down(dropped) as path:
            _fill(load_card(path))
    except InvalidFileError as error:
        st.session_state[WRONG] = error.problems
    except FileFormatError as error:
        st.session_state[WRONG] = (Problem(error.line, error.code, "This is no card.", advice=error.advice),)


def _fill(card: SystemCard) -> None:
    for name, value in asdict(card).items():
        st.session_state[f"card-{name}"] = value
