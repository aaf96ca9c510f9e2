"""The texts of an item: question, passages with a search, reference, answers. All of them strangers wrote."""

from __future__ import annotations

import streamlit as st

from arena.site.annotation.session import PASSAGES, Labelling
from arena.site.ui.components import note
from data.records import BlindItem, Passage, TaskKind


def show_texts(labelling: Labelling, item: BlindItem) -> None:
    """Show what is to be read, above the labels."""
    kind = labelling.task.terms.kind
    with st.container(key="question-text"):
        st.header("Question", anchor=False)
        st.text(item.sub_question or item.question.question)
        if item.sub_question:
            st.caption("It is a part of this question:")
            st.text(item.question.question)
    if item.question.reference:
        with st.container(key="prose-reference", border=True):
            st.header("Reference", anchor=False)
            st.text(item.question.reference)
    if item.passage is not None:
        with st.container(key="prose-passage", border=True):
            st.header("Passage", anchor=False)
            _show_passage(item.passage)
    elif item.question.passages:
        _show_passages(labelling, item, unfolded=kind is TaskKind.ANSWERABILITY)
    if kind is TaskKind.PAIRS:
        left, right = st.columns(2, gap="large")
        for place, column, text in ((1, left, item.first), (2, right, item.second)):
            with column, st.container(key=f"prose-answer-{place}", border=True):
                st.header(f"Answer {place}", anchor=False)
                st.text(text)


def _show_passages(labelling: Labelling, item: BlindItem, *, unfolded: bool) -> None:
    passages = item.question.passages
    shown = unfolded or labelling.is_open(PASSAGES)
    if not unfolded:
        st.button(
            f"{'Hide' if shown else 'Show'} the passages ({len(passages)})",
            key="fold-passages",
            shortcut="P",
            on_click=labelling.fold,
            args=(PASSAGES,),
        )
    if not shown:
        return
    with st.container(key="prose-passages", border=True):
        sought = st.text_input("Search the passages", key=f"search-{item.id}").strip().lower()
        matching = [passage for passage in passages if sought in f"{passage.title} {passage.text}".lower()]
        note(f"{len(matching)} of {len(passages)} passages" if sought else f"{len(passages)} passages")
        for passage in matching:
            _show_passage(passage)


def _show_passage(passage: Passage) -> None:
    if passage.title:
        st.text(passage.title, width="content")
    st.text(passage.text)
