"""Two to four systems against each other: how much better, where, on which questions, by which facts."""

from __future__ import annotations

import streamlit as st

from arena.services.evidence.systems import FEWEST, MOST
from arena.site.boards.board_parts import left_out, set_note
from arena.site.boards.pickers import choose_board
from arena.site.boards.view_model import OVERALL, BoardView
from arena.site.compare.deciding import show_contested
from arena.site.compare.paired import show_figures, show_paired, verdict
from arena.site.queries import comparison_of
from arena.site.ui.components import lead, name_page, note
from arena.site.ui.url_state import say_unknown

NAMES = ("a", "b", "c", "d")
NONE = "-"
"""What the address says where the reader has chosen none."""


def choose_systems(view: BoardView) -> tuple[str, ...]:
    """The systems that the address names as a to d, or that the reader picks; by default the best two.

    The reference is no competitor: it is compared where it is named.
    """
    key = "choice-compared"
    addressed = [st.query_params.get(name, "") for name in NAMES]
    named = [system for system in dict.fromkeys(addressed) if system in view.systems]
    for name in addressed:
        if name not in {"", NONE, *view.systems}:
            say_unknown(name, "Choose among the board's systems.")
    best = [line.system for line in view.competitors(OVERALL)] or list(view.systems)
    st.session_state[key] = named if any(addressed) else best[:FEWEST]
    chosen = st.multiselect(
        "Systems, the first against the others",
        view.systems,
        key=key,
        max_selections=MOST,
        on_change=_into_address,
        args=(key,),
    )
    return tuple(str(system) for system in chosen)


def _into_address(key: str) -> None:
    chosen: list[str] = st.session_state[key]
    for at, name in enumerate(NAMES):
        if at < len(chosen):
            st.query_params[name] = chosen[at]
        elif name in st.query_params:
            del st.query_params[name]
    if not chosen:
        st.query_params[NAMES[0]] = NONE


def show() -> None:
    """Show the comparison that the address names."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.title("Compare", anchor=False)
        view = choose_board(width=560)
    systems = choose_systems(view)
    name_page(*filter(None, [" and ".join(systems)]), "Compare", view.full_title)
    if len(systems) < FEWEST:
        st.info("Choose two, three or four systems above.", icon=":material/compare_arrows:")
        return
    for other in systems[1:]:
        lead(verdict(view, systems[0], other))
    set_note(view)
    if view.round_name is None:
        show_figures(view, systems)
        note("This board was published elsewhere as counts, so its questions cannot be compared one by one.")
        return
    comparison = comparison_of(view, systems)
    left_out(comparison.notice)
    show_paired(view, comparison)
    show_contested(view, comparison)
    show_figures(view, systems)
