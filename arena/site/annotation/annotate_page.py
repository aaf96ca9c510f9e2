"""Label answers: which of two is better; item by item, by keys."""

from __future__ import annotations

from urllib.parse import quote

import streamlit as st

from arena.site.annotation.rubrics import RUBRIC, SKIPS, choices_of
from arena.site.annotation.session import COMMENTING, ONWARD, PASSAGES, SKIPPING, Labelling
from arena.site.auth import show_visitor
from arena.site.services import arena
from arena.site.ui.components import heading, lead, name_page, note, page_heading, subheading, tick
from arena.site.ui.markup import element, put
from arena.site.ui.url_state import choose_one
from data.records import BlindItem
from data.records.irreversible import Irreversible


def show() -> None:
    """Show the next item of the task that is picked, after its terms are agreed to."""
    page_heading("Label answers")
    caller = show_visitor("label answers")
    tasks = {task.name: task for task in arena().annotation.open_to(caller)}
    if not tasks:
        note("There is no task for you. Organisers name the people who label.")
        return
    labelling = Labelling(tasks[choose_one("task", "Task", {name: name for name in tasks})], caller)
    name_page(labelling.task.name, "Label answers")
    if arena().labels.person(labelling.task.name, caller=caller).consented_at is None:
        show_terms(labelling)
        return
    item = labelling.item
    error = labelling.error()
    if error:
        st.error(error, icon=":material/error:")
    _show_progress(labelling)
    if item is None:
        put(element("p", "Nothing is left for you here. Thank you!", class_="aa-told", role="status"))
        _show_steps(labelling, None)
    else:
        with st.expander("What to look at", icon=":material/rule:"):
            if labelling.task.terms.instructions:
                st.text(labelling.task.terms.instructions)
            else:
                st.markdown(RUBRIC)
        _show_texts(labelling, item)
        _show_controls(labelling, item)
    _offer_to_leave(labelling)


def show_terms(labelling: Labelling) -> None:
    """Ask for agreement to the terms of a task."""
    lead("Before you begin")
    with st.container(border=True):
        st.text(labelling.task.terms.consent)

    def agree() -> None:
        arena().labels.consent(labelling.task.name, caller=labelling.caller)

    st.button("I agree", key="agree", type="primary", shortcut="A", on_click=agree)


def _show_progress(labelling: Labelling) -> None:
    progress = arena().labels.progress(labelling.task.name, caller=labelling.caller)
    st.progress(progress.share)
    with st.container(horizontal=True, vertical_alignment="center"):
        put(element("p", progress.words, class_="aa-eyebrow", role="status"))
        st.toggle("Go on after each label", value=True, key=labelling.key(ONWARD))


def _offer_to_leave(labelling: Labelling) -> None:
    with st.expander("Your labels", icon=":material/person:"):
        note("Whatever you labelled here can be deleted, at any time and without a reason.")
        if tick(Irreversible.DELETE_LABELS):
            st.button("Delete my labels", key="withdraw", on_click=labelling.leave)
        note(f"By the API: DELETE /api/v1/labels/tasks/{quote(labelling.task.name)}/mine?confirm=true")


def _show_controls(labelling: Labelling, item: BlindItem) -> None:
    """Show what can be done with an item."""
    if labelling.is_open(SKIPPING):
        _show_skipping(labelling)
        return
    _show_choices(labelling, item)
    if labelling.is_open(COMMENTING) or item.comment:
        st.text_area(
            "Comment (kept with your label)",
            key=labelling.key("comment"),
            max_chars=2_000,
            on_change=labelling.keep_comment,
        )
    _show_steps(labelling, item)


def _show_choices(labelling: Labelling, item: BlindItem) -> None:
    choices = choices_of(labelling.task.terms.scale)
    saved = next((choice.words for choice in choices if choice.value == item.value), "")
    with st.container(key="choices", horizontal=True):
        for choice in choices:
            st.button(
                choice.words,
                key=f"give-{choice.key}",
                type="primary" if choice.value == item.value else "secondary",
                shortcut=choice.key,
                on_click=labelling.choose,
                args=(choice.value,),
            )
    if saved:
        put(element("p", f"Saved: {saved}. You can change it.", class_="aa-told", role="status"))
    elif item.skip_reason:
        put(element("p", f"Skipped: {item.skip_reason}", class_="aa-told", role="status"))


def _show_steps(labelling: Labelling, item: BlindItem | None) -> None:
    """Show the ways to other items."""
    with st.container(key="steps", horizontal=True):
        st.button("Back", key="back", shortcut="B", on_click=labelling.back)
        if item is not None:
            fold = labelling.fold
            st.button("Comment", key="write", shortcut="M", on_click=fold, args=(COMMENTING,))
            st.button("Skip", key="skip", shortcut="S", on_click=fold, args=(SKIPPING,))
            st.button("Next", key="next", shortcut="N", on_click=labelling.onward)


def _show_skipping(labelling: Labelling) -> None:
    subheading("Why do you skip it?")
    with st.container(key="reasons", horizontal=True):
        for key, reason in SKIPS:
            st.button(reason, key=f"skip-{key}", shortcut=key, on_click=labelling.skip, args=(reason,))
        st.button("Do not skip", key="unskip", shortcut="S", on_click=labelling.fold, args=(SKIPPING,))
    with st.form("skip-words", border=False):
        words = st.text_input("Another reason", max_chars=2_000)
        if st.form_submit_button("Skip for this reason") and words.strip():
            labelling.skip(words)
            st.rerun()


def _show_texts(labelling: Labelling, item: BlindItem) -> None:
    """Show what is to be read, above the labels."""
    with st.container(key="question-text"):
        heading("Question")
        st.text(item.question.question)
    if item.question.reference:
        with st.container(key="prose-reference", border=True):
            heading("Reference")
            st.text(item.question.reference)
    if item.question.passages:
        _show_passages(labelling, item)
    left, right = st.columns(2, gap="large")
    for place, column, text in ((1, left, item.first), (2, right, item.second)):
        with column, st.container(key=f"prose-answer-{place}", border=True):
            heading(f"Answer {place}")
            st.text(text)


def _show_passages(labelling: Labelling, item: BlindItem) -> None:
    passages = item.question.passages
    shown = labelling.is_open(PASSAGES)
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
            if passage.title:
                st.text(passage.title, width="content")
            st.text(passage.text)
