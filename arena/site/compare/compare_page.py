"""Compare page: differences of two to four systems by domain, question and covered facts."""

import streamlit as st

from arena.models.boards import BoardView
from arena.services.evidence.systems import MAX_SYSTEMS, MIN_SYSTEMS
from arena.site.boards.pickers import titled_board
from arena.site.compare.parts import show_compared
from arena.site.ui.html import name_page
from arena.site.ui.url_state import chosen_words, say_unknown

NAMES = ("a", "b", "c", "d")
NONE = "-"
"""Address value if nothing is chosen."""


def choose_systems(view: BoardView) -> tuple[str, ...]:
    """Return the systems of the address or of the reader; a single one with its neighbour."""
    key, addressed = "choice-compared", list(map(chosen_words, NAMES))
    for name in addressed:
        if name not in {"", NONE, *view.systems}:
            say_unknown(name, "Choose among the board's systems.")
    named = [system for system in dict.fromkeys(addressed) if system in view.systems]
    st.session_state[key] = named if NONE in addressed else view.with_neighbour(named)
    chosen = st.multiselect(
        "Systems (the first is compared with the others)",
        view.systems,
        key=key,
        max_selections=MAX_SYSTEMS,
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
    if len(chosen) < MIN_SYSTEMS:
        st.query_params[NAMES[len(chosen)]] = NONE


def show() -> None:
    """Show the comparison that the address names."""
    view = titled_board("Compare", "compare")
    systems = choose_systems(view)
    name_page(*filter(None, [" and ".join(systems)]), "Compare", view.full_title)
    if len(systems) < MIN_SYSTEMS:
        st.info("Choose two, three or four systems above.", icon=":material/compare_arrows:")
        return
    show_compared(view, systems)
