"""Files to take away, what their fields mean, and how to cite them."""

from __future__ import annotations

import streamlit as st

from arena.web.addresses import addresses, embed_snippet, site_address
from arena.web.choices import choose_board
from arena.web.markup import put
from arena.web.pieces import board_note, errata, note, show_files, strip
from arena.web.tables import words_table
from arena.web.texts import BATTLE_FIELDS, CITATION, COMMANDS, STANDINGS_FIELDS


def show() -> None:
    """Offer a board's files."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.title("Data", anchor=False)
        view = choose_board(width=360)
    strip(view.facts)
    errata(view)
    board_note(view)
    show_files(view)
    if view.details:
        put(words_table(("About this board", ""), view.details))
    st.subheader("Without a browser", anchor="api")
    note("The board as a page without scripts, a picture for links, a permalink, and the site map.")
    put(words_table(("Address", "What it is"), addresses(view)))
    st.subheader("Show it on your site", anchor="embed")
    note("A small table in a frame: no script, no cookie. Add ?domain=ID for one domain.")
    st.code(embed_snippet(view, site_address()), language=None, wrap_lines=True)
    st.subheader("The same on the command line", anchor="commands")
    st.code(COMMANDS.format(board=view.name), language=None, wrap_lines=True)
    st.subheader("Fields of the standings", anchor="standings-fields")
    put(words_table(("Field", "Meaning"), STANDINGS_FIELDS.items()))
    st.subheader("Fields of the battles", anchor="battle-fields")
    put(words_table(("Field", "Meaning"), BATTLE_FIELDS.items()))
    st.subheader("Cite it", anchor="cite")
    note("The content hash names exactly these standings; they never change once published.")
    cited = CITATION.format(view=view, year=view.published[:4], address=site_address())
    st.code(cited, language="bibtex", wrap_lines=True)
