"""A system: where it stands, by domain, what it won and lost, its card."""

from __future__ import annotations

import streamlit as st

from arena.web.board_sentences import record_of, standing
from arena.web.choices import addressed_board, choose_system
from arena.web.markup import put
from arena.web.pieces import back_to_board, lead, note, strip
from arena.web.plots import profile_plot
from arena.web.readings import profile_of, weaknesses_of
from arena.web.records import show_card, show_provenance, show_records
from arena.web.system_history import show_history
from arena.web.tables import profile_table
from arena.web.weakness_parts import show_means, show_weaknesses


def show() -> None:
    """Show the system that the address names."""
    view = addressed_board()
    back_to_board(view)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        place = st.container()
        system = choose_system(view)
    place.title(system, anchor=False)
    lead(standing(view, system))
    strip(record_of(view, system))
    st.subheader("By domain", anchor="domains")
    profile_plot(view, system)
    put(profile_table(view, system))
    show_means(view, system)
    show_history(view, system)
    if view.round_name is None:
        note("This board was published elsewhere as counts, so there are no single battles to look at.")
        return
    profile = profile_of(view, system)
    lost, won = st.columns(2, gap="large")
    with lost:
        show_records(view, "Lost", profile.worst)
    with won:
        show_records(view, "Won", profile.best)
    show_weaknesses(view, system, weaknesses_of(view, system))
    show_card(profile.submission)
    show_provenance(profile.submission)
