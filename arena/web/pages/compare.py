"""Two to four systems against each other: how much better, where, and on which questions."""

from __future__ import annotations

import streamlit as st

from arena.services.comparisons import FEWEST
from arena.web.choices import choose_board
from arena.web.comparison import (
    choose_systems,
    show_contested,
    show_figures,
    show_paired,
    verdict,
)
from arena.web.pieces import lead, note
from arena.web.readings import comparison_of


def show() -> None:
    """Show the comparison that the address names."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.title("Compare", anchor=False)
        view = choose_board(width=360)
    systems = choose_systems(view)
    if len(systems) < FEWEST:
        st.info("Choose two, three or four systems above.", icon=":material/compare_arrows:")
        return
    for other in systems[1:]:
        lead(verdict(view, systems[0], other))
    show_figures(view, systems)
    if view.round_name is None:
        note("This board was published elsewhere as counts, so its questions cannot be compared one by one.")
        return
    found = comparison_of(view, systems)
    show_paired(view, found)
    show_contested(view, found)
