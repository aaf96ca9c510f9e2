"""The questions of a board: find one, then look at its evidence."""

from __future__ import annotations

from dataclasses import asdict

import streamlit as st

from arena.web.choices import choose_board, choose_domain
from arena.web.files import offer_files
from arena.web.markup import put
from arena.web.pieces import no_questions, note
from arena.web.question_list import choose_page, choose_questions, question_table, where_searched
from arena.web.readings import answers_with, questions_found, questions_of


def show() -> None:
    """Show the list."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.title("Questions", anchor=False)
        view = choose_board(width=360)
    if view.round_name is None:
        no_questions(view)
        return
    choose_domain(view)
    wanted = choose_questions(view)
    every = questions_of(view)
    found = questions_found(view, wanted)
    note(
        f"{len(found):,} of {len(every.questions):,} questions. "
        f"Choose one to see its answers, battles and rationales. {where_searched(wanted)}"
    )
    if not found:
        st.info("No question matches. Use other words, or fewer filters.", icon=":material/search_off:")
        return
    page = choose_page(len(found))
    answers = answers_with(view, wanted)
    put(question_table(view, found, page, answers))
    offer_files(
        view,
        "questions",
        lambda: [asdict(question) | {"in_answer": answers.get(question.id)} for question in found],
    )
