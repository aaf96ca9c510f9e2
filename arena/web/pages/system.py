"""A system: its card, its profile by domain, what it won and lost."""

from __future__ import annotations

import streamlit as st

from arena.web.choices import board_named, choose_board, profile_of
from arena.web.pieces import back_to_board, lead, strip
from arena.web.plots import profile_plot
from arena.web.records import show_card, show_records
from arena.web.tables import standings_table
from arena.web.markup import put
from arena.web.views import OVERALL, record_of, standing
from data.errors import NotFoundError


def show() -> None:
    """Show the system that the address names."""
    wanted = st.query_params.get("id")
    with st.container(width=360):
        view = choose_board()
    if wanted is not None and wanted not in view.systems:
        raise NotFoundError(f"This board has no such system.", advice="Choose one on the leaderboard.")
    with st.container(width=360):
        system = str(st.selectbox("System", view.systems, key="id", bind="query-params"))
    st.title(system, anchor=False)
    back_to_board(view)
    lead(standing(view, system))
    strip(record_of(view, system))
    st.subheader("By domain", anchor="domains")
    profile_plot(view, system)
    put(profile_table(view, system))
    if view.round_name is None:
        return
    profile = profile_of(view, system)
    lost, won = st.columns(2, gap="large")
    with lost:
        show_records(view, "Lost", profile.worst)
    with won:
        show_records(view, "Won", profile.best)
    show_card(profile.submission)
