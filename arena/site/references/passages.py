"""A question with its numbered passages, short answers marked."""

from __future__ import annotations

import streamlit as st

from arena.services.references.marks import mark_short_answers
from arena.site.ui.components import heading, note, subheading
from arena.site.ui.markup import element, put
from data.records import Question


def show_question(question: Question) -> None:
    """Show what a reference is written from; strangers wrote all of it."""
    with st.container(key="question-text"):
        heading("Question")
        st.text(question.question)
    with st.container(key="prose-passages", border=True):
        heading("Passages")
        if question.short_answers:
            note("Marked are the short answers that the reference must hold.")
        for number, passage in enumerate(question.passages, start=1):
            subheading(f"[{number}]")
            if passage.title:
                st.text(passage.title)
            parts = (
                element("mark", part.text, class_="aa-short") if part.marked else part.text
                for part in mark_short_answers(passage.text, question.short_answers)
            )
            put(element("div", *parts, class_="aa-text"))
    if question.short_answers:
        with st.expander(
            f"Short answers ({len(question.short_answers)})", icon=":material/format_list_bulleted:"
        ):
            for short in question.short_answers:
                st.text(short)
