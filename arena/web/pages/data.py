"""Files to take away, what their fields mean, and how to cite them."""

from __future__ import annotations

import streamlit as st

from arena.web.choices import choose_board
from arena.web.markup import put
from arena.web.pieces import board_note, note, show_files, strip
from arena.web.tables import words_table
from arena.web.texts import BATTLE_FIELDS, CITATION, COMMANDS, STANDINGS_FIELDS


def show() -> None:
    """Offer a board's files."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.title("Data", anchor=False)
        view = choose_board(width=360)
    strip(view.facts)
    board_note(view)
    show_files(view)
    if view.details:
        put(words_table(("About this board", ""), view.details))
    st.subheader("The same on the command line", anchor="commands")
    st.code(COMMANDS.format(board=view.name), language="bash", wrap_lines=True)
    st.subheader("Fields of the standings", anchor="standings-fields")
    put(words_table(("Field", "Meaning"), STANDINGS_FIELDS.items()))
    st.subheader("Fields of the battles", anchor="battle-fields")
    put(words_table(("Field", "Meaning"), BATTLE_FIELDS.items()))
    st.subheader("Cite it", anchor="cite")
    note("The content hash names exactly these standings; they never change once published.")
    st.code(CITATION.format(view=view, year=view.published[:4]), language=None, wrap_lines=True)
