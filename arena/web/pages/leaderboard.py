"""The leaderboard: who leads, how surely, and where."""

from __future__ import annotations

import streamlit as st

from arena.web.choices import choose_board, choose_domain
from arena.web.markup import put
from arena.web.pieces import board_note, definitions, lead, show_files, strip
from arena.web.plots import domain_heatmap, interval_plot, let_the_table_paint, trade_off
from arena.web.tables import standings_table
from arena.web.views import leading


def show() -> None:
    """Show a board."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.title("Leaderboard", anchor=False)
        view = choose_board(width=360)
    domain = choose_domain(view)
    lead(leading(view, domain))
    put(standings_table(view, domain, view.lines[domain]))
    board_note(view)
    strip(view.facts)
    definitions()
    let_the_table_paint()
    interval_plot(view, domain)
    domain_heatmap(view)
    trade_off(view, domain)
    show_files(view)
