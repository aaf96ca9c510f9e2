"""The leaderboard: who leads, how surely, and where."""

from __future__ import annotations

from functools import partial

import streamlit as st

from arena.web.board_sentences import leading
from arena.web.choices import addressed_board, choose_board, choose_domain, chosen_domain
from arena.web.kept import put_kept
from arena.web.look import choose_look, read_look
from arena.web.pieces import board_note, definitions, errata, health, lead, show_files, strip
from arena.web.plots import domain_heatmap, interval_plot, let_the_table_paint
from arena.web.scatter_plot import chosen_scatter


def show() -> None:
    """Show a board."""
    view = addressed_board()
    domain = chosen_domain(view)
    look = read_look(view, domain)
    head = st.container(horizontal=True, vertical_alignment="bottom", key="head")
    head.title("Leaderboard", anchor=False)
    controls = st.container(key="controls")
    # The table is sent before what chooses from it, so that it is there first.
    lead(leading(view, domain))
    errata(view)
    health(view)
    put_kept(view, f"standings {domain} {look.key}", partial(look.table, view, domain))
    let_the_table_paint()
    with head:
        choose_board(width=360)
    with controls:
        choose_domain(view)
        choose_look(view, domain)
    if not look.lines:
        st.info("No system has these letters in its name. Use fewer.", icon=":material/search_off:")
    board_note(view)
    strip(view.facts)
    definitions()
    interval_plot(view, domain, look.lines)
    domain_heatmap(view)
    chosen_scatter(view, domain)
    show_files(view)
