"""The labels of an item as buttons, each with its key, and the ways to comment, skip and go on."""

from __future__ import annotations

import re

import streamlit as st

from arena.site.annotation.rubrics import SKIPS, choices_of
from arena.site.annotation.session import COMMENTING, SKIPPING, Labelling
from arena.site.ui.components import note
from arena.site.ui.markup import element, put
from data.records import BlindItem, Span, SpanKind, TaskKind

SENTENCE = re.compile(r"[^.!?\n]+[.!?\n]*")
FINE = "fine"


def show_controls(labelling: Labelling, item: BlindItem) -> None:
    """Show what can be done with an item."""
    if labelling.is_open(SKIPPING):
        _show_skipping(labelling)
        return
    if labelling.task.terms.kind is TaskKind.SPANS:
        _show_spans(labelling, item)
    else:
        _show_choices(labelling, item)
    if labelling.is_open(COMMENTING) or item.comment:
        st.text_area(
            "Comment (kept with your label)",
            key=labelling.key("comment"),
            max_chars=2_000,
            on_change=labelling.keep_comment,
        )
    show_steps(labelling, item)


def _show_choices(labelling: Labelling, item: BlindItem) -> None:
    choices = choices_of(labelling.task.terms)
    saved = next((choice.words for choice in choices if choice.value == item.value), "")
    with st.container(key="choices", horizontal=True):
        for choice in choices:
            st.button(
                choice.words,
                key=f"give-{choice.key}",
                type="primary" if choice.value == item.value else "secondary",
                shortcut=choice.key,
                on_click=labelling.give,
                args=(choice.value,),
            )
    if saved:
        put(element("p", f"Saved: {saved}. You can change it.", class_="aa-told", role="status"))
    elif item.skip_reason:
        put(element("p", f"Skipped: {item.skip_reason}", class_="aa-told", role="status"))


def show_steps(labelling: Labelling, item: BlindItem | None) -> None:
    """Show the ways to other items."""
    with st.container(key="steps", horizontal=True):
        st.button("Back", key="back", shortcut="B", on_click=labelling.back)
        if item is not None:
            fold = labelling.fold
            st.button("Comment", key="write", shortcut="M", on_click=fold, args=(COMMENTING,))
            st.button("Skip", key="skip", shortcut="S", on_click=fold, args=(SKIPPING,))
            st.button("Next", key="next", shortcut="N", on_click=labelling.onward)


def _show_skipping(labelling: Labelling) -> None:
    st.subheader("Why do you skip it?", anchor=False)
    with st.container(key="reasons", horizontal=True):
        for key, reason in SKIPS:
            st.button(reason, key=f"skip-{key}", shortcut=key, on_click=labelling.skip, args=(reason,))
        st.button("Do not skip", key="unskip", shortcut="S", on_click=labelling.fold, args=(SKIPPING,))
    with st.form("skip-words", border=False):
        words = st.text_input("Another reason", max_chars=2_000)
        if st.form_submit_button("Skip for this reason") and words.strip():
            labelling.skip(words)
            st.rerun()


def sentences_of(text: str) -> list[tuple[int, int]]:
    """Where the sentences of a text begin and end; what is blank alone belongs to none."""
    spans = []
    for match in SENTENCE.finditer(text):
        words = match.group().strip()
        if words:
            start = match.start() + match.group().index(words)
            spans.append((start, start + len(words)))
    return spans


def _show_spans(labelling: Labelling, item: BlindItem) -> None:
    note("Mark each sentence; what you do not mark is fine.")
    marked = {(span.start, span.end): span.kind.value for span in item.spans}
    options = [FINE, SpanKind.WRONG.value, SpanKind.UNSUPPORTED.value]
    with st.form(f"spans-{item.id}", border=False):
        marks = []
        for place, (start, end) in enumerate(sentences_of(item.first), start=1):
            st.text(item.first[start:end])
            chosen = st.segmented_control(
                f"Sentence {place}",
                options,
                default=marked.get((start, end), FINE),
                key=f"sentence-{item.id}-{place}",
                label_visibility="collapsed",
            )
            marks.append((start, end, chosen or FINE))
        missing = st.text_area(
            "What is missing, a statement a line",
            value="\n".join(span.text for span in item.spans if span.kind is SpanKind.MISSING),
        )
        sent = st.form_submit_button("Save and go on", type="primary", shortcut="W")
    if sent:
        spans = [Span(kind=SpanKind(kind), start=a, end=b) for a, b, kind in marks if kind != FINE]
        spans += [Span(kind=SpanKind.MISSING, text=line) for line in missing.splitlines() if line.strip()]
        labelling.give(len(spans), tuple(spans))
        st.rerun()
