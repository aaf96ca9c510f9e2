"""The audit log for organisers: who did what on what, and when."""

from __future__ import annotations

import json

import streamlit as st

from arena.site.admin.common import grid, organiser
from arena.site.services import arena
from arena.site.ui.components import lead, note, page_heading
from data.records import Action

PAGE = 50
STACK = "organise-audit-pages"


def show() -> None:
    """Show a page of the log, filtered as asked."""
    caller = organiser()
    page_heading("Audit log")
    lead("Every change, with who made it. Lines are only ever added.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        actor = st.text_input("Who", width=200, on_change=_first_page).strip() or None
        action = st.selectbox("What", [None, *Action], format_func=_word, width=220, on_change=_first_page)
        subject = st.text_input("On what", placeholder="round my-round", width=240, on_change=_first_page)
        team = st.text_input("Team", width=160, on_change=_first_page)
    pages: list[int] = st.session_state.setdefault(STACK, [])
    entries = arena().teams.audit(
        team=team.strip() or None,
        subject=subject.strip() or None,
        actor=actor,
        action=action,
        before=pages[-1] if pages else None,
        limit=PAGE,
        caller=caller,
    )
    rows = [
        (
            f"{entry.at:%Y-%m-%d %H:%M:%S}",
            entry.actor,
            entry.action.words,
            entry.subject,
            ", ".join(f"{name}: {_plain(value)}" for name, value in entry.detail.items()),
        )
        for entry in entries
    ]
    if rows:
        grid(("When (UTC)", "Who", "What", "On what", "More"), rows)
    else:
        note("No line matches.")
    with st.container(horizontal=True):
        st.button("Newer", disabled=not pages, on_click=_newer, icon=":material/arrow_back:")
        older = entries[-1].id if len(entries) == PAGE else None
        st.button(
            "Older", disabled=older is None, on_click=_older, args=(older,), icon=":material/arrow_forward:"
        )


def _plain(value: object) -> str:
    """A detail as text: a list as its items, all else that is no text as in JSON."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(map(_plain, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _word(action: Action | None) -> str:
    return "everything" if action is None else action.words


def _first_page() -> None:
    st.session_state[STACK] = []


def _newer() -> None:
    st.session_state[STACK] = st.session_state[STACK][:-1]


def _older(before: int) -> None:
    st.session_state[STACK] = [*st.session_state[STACK], before]
