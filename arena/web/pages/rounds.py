"""Every board that was ever published: none changes, and what is said of it since stands beside it."""

from __future__ import annotations

import streamlit as st

from arena.web.pieces import lead
from arena.web.readings import history
from arena.web.round_entries import offer_entries, show_entry


def show() -> None:
    """Show the history."""
    st.title("Rounds", anchor=False)
    lead(
        "A published board never changes: its hash names exactly its standings. Mistakes are told in a "
        "notice, or "
        "the board is retracted and stays in this list."
    )
    entries = history()
    if not entries:
        st.info(
            "Nothing was published yet. `arena rounds publish ROUND` publishes a round.",
            icon=":material/info:",
        )
    else:
        offer_entries(entries)
    for entry in entries:
        show_entry(entry)
