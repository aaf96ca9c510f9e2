"""The questions of a board: find one, then look at its evidence."""

from __future__ import annotations

import streamlit as st

from arena.web.choices import choose_board, choose_domain, choose_words, questions_of
from arena.web.pieces import no_questions, note
from arena.web.question_list import matching, pick_question


def show() -> None:
    """Show the list."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.title("Questions", anchor=False)
        view = choose_board(width=360)
    if view.round_name is None:
        no_questions(view)
        return
    domain = choose_domain(view)
    words = choose_words()
    every = questions_of(view)
    found = matching(every, domain, words)
    note(
        f"{len(found):,} of {len(every):,} questions. Choose one to see its answers, battles and rationales."
    )
    if found:
        pick_question(view, found)
    else:
        st.info("No question matches. Use other words, or all domains.", icon=":material/search_off:")
