"""Files to take away, what their fields mean, and how to cite them."""

from __future__ import annotations

import streamlit as st

from arena.site.boards.board_parts import board_note, errata, show_files
from arena.site.boards.pickers import choose_board
from arena.site.public.links import addresses, embed_snippet, site_address
from arena.site.questions.set_table import show_set_statistics
from arena.site.ui.components import name_page, note, strip
from arena.site.ui.help_texts import BATTLE_FIELDS, CITATION, COMMANDS, STANDINGS_FIELDS
from arena.site.ui.markup import put
from arena.site.ui.tables import words_table


def show() -> None:
    """Offer a board's files."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.title("Data", anchor=False)
        view = choose_board(width=560)
    name_page("Data", view.full_title)
    strip(view.facts)
    errata(view)
    board_note(view)
    show_files(view)
    if view.details:
        put(words_table(("About this board", ""), view.details))
    show_set_statistics(view)
    st.header("Without a browser", anchor="api")
    note("The board as a page without scripts, a picture for links, a permalink, and the site map.")
    put(words_table(("Address", "What it is"), addresses(view)))
    st.header("Show it on your site", anchor="embed")
    note("A small table in a frame: no script, no cookie. Add ?domain=ID for one domain.")
    st.code(embed_snippet(view, site_address()), language=None, wrap_lines=True)
    st.header("The same on the command line", anchor="commands")
    st.code(COMMANDS.format(board=view.name), language=None, wrap_lines=True)
    st.header("Fields of the standings", anchor="standings-fields")
    put(words_table(("Field", "Meaning"), STANDINGS_FIELDS.items()))
    st.header("Fields of the battles", anchor="battle-fields")
    put(words_table(("Field", "Meaning"), BATTLE_FIELDS.items()))
    st.header("Cite it", anchor="cite")
    note("The content hash names exactly these standings; they never change once published.")
    cited = CITATION.format(view=view, year=view.published[:4], address=site_address())
    st.code(cited, language="bibtex", wrap_lines=True)
