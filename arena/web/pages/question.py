"""A question: everything behind its verdicts."""

from __future__ import annotations

import streamlit as st

from arena.web.battles import choose_battle, show_battle
from arena.web.choices import addressed_board
from arena.web.pieces import no_questions
from arena.web.question_metrics import show_question_metrics
from arena.web.question_parts import show_answers, show_head, show_sources
from arena.web.readings import evidence_of


def show() -> None:
    """Show the question that the address names."""
    view = addressed_board()
    if view.round_name is None:
        no_questions(view)
        return
    wanted = st.query_params.get("id")
    if wanted is None:
        st.info("Choose a question on the questions page.", icon=":material/list:")
        return
    found = evidence_of(view, wanted)
    show_head(view, found)
    show_sources(found)
    st.subheader("Answers", anchor="answers")
    show_answers(view, found)
    show_question_metrics(found)
    st.subheader("Battles", anchor="battles")
    battle = choose_battle(view, found)
    if battle is not None:
        show_battle(view, battle)
