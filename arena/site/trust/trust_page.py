"""How far a board's judge can be trusted, and on what its places rest: a part for each question."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from arena.site.boards.board_parts import back_to_board, health
from arena.site.boards.pickers import choose_board
from arena.site.boards.view_model import BoardView
from arena.site.trust import covariates, other_judges, robustness
from arena.site.trust.asked_again import show_asked_again, warn_of_another_judge
from arena.site.ui.components import lead, name_page

SECTIONS: tuple[Callable[[BoardView], None], ...] = (
    show_asked_again,
    other_judges.show_other_judges,
    robustness.show_fragility,
    robustness.show_cycles,
    covariates.show_covariates,
)
"""The parts of the page in their order; each shows its heading, and says why where it has no figures."""


def show() -> None:
    """Show what is known of a board's judge."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.title("Judge trust", anchor=False)
        view = choose_board(width=560)
    name_page("Judge trust", view.full_title)
    back_to_board(view)
    lead("A rating's interval counts which questions were asked. Here is what else a board rests on.")
    warn_of_another_judge(view.drift)
    health(view)
    for section in SECTIONS:
        section(view)
