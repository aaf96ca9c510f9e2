"""Everybody against everybody: how often each wins against each, and whether that is chance."""

from __future__ import annotations

import streamlit as st

from arena.web.choices import choose_board, choose_one
from arena.web.files import offer_files
from arena.web.markup import put
from arena.web.matrix_table import matrix_rows, matrix_table, opponents_table
from arena.web.pieces import lead, note


def show() -> None:
    """Show the matrix."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.title("Head to head", anchor=False)
        view = choose_board(width=360)
    lead("How often the system of the row beats that of the column, in per cent, ties counting half.")
    note(
        "▲ and ▼: the two are apart by an exact sign test of their direct battles, at 5 % for all pairs at "
        "once "
        "(Holm); without a sign the battles could be chance. Small figures are battles. A cell leads to "
        "its battles."
    )
    put(matrix_table(view))
    offer_files(view, "head-to-head", lambda: matrix_rows(view))
    st.subheader("One system against each", anchor="opponents")
    systems = view.meetings.systems
    with st.container(width=360):
        system = choose_one("system", "System", {name: name for name in systems})
    put(opponents_table(view, system))
    opponents = [row for row in matrix_rows(view) if row["system"] == system]
    offer_files(view, f"opponents-{system}", lambda: opponents)
