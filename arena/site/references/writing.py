"""Writing in one tab: the question at hand, the text, and the ways to keep, skip and go on."""

from __future__ import annotations

import streamlit as st

from arena.site.annotation.rubrics import SKIPS
from arena.site.annotation.session import Labelling
from arena.site.references.passages import show_question
from arena.site.services import arena
from arena.site.ui.components import heading
from arena.site.ui.markup import element, put
from data.records import BlindItem

INSTRUCTIONS = """
Combine all marked short answers into **one** coherent answer in your own words.

- **Complete.** Every marked short answer is in it. Add what else in the passages helps with the question.
- **To the point.** Nothing that does not help, nothing twice, nothing that no passage says.
- **Coherent.** Whole sentences in an order that reads well. Where passages disagree, give each side.
- **Cited.** Each sentence ends with the numbers of the passages that it depends on: `[1]` or `[2, 3]`.

A text that lacks one of these fails its audit, and the whole batch comes back.
"""


def show_writing(writing: Labelling) -> None:
    """Show the question at hand with its text."""
    item = writing.item
    if error := writing.error():
        st.error(error, icon=":material/error:")
    if told := st.session_state.pop(writing.key("told"), ""):
        with st.container(key="told", border=True):
            st.text(told)
    progress = arena().labels.progress(writing.task.name, caller=writing.caller)
    st.progress(progress.share)
    returned = len(arena().labels.returned(writing.task.name, caller=writing.caller))
    sent_back = f", {returned} sent back" if returned else ""
    put(element("p", f"{progress.words}{sent_back}", class_="aa-eyebrow", role="status"))
    if item is None:
        put(element("p", "Nothing is left for you here. Thank you!", class_="aa-told", role="status"))
        st.button("Back", key="back", on_click=writing.back)
        return
    with st.expander("What to write", icon=":material/rule:"):
        if writing.task.terms.instructions:
            st.text(writing.task.terms.instructions)
        else:
            st.markdown(INSTRUCTIONS)
    left, right = st.columns(2, gap="large")
    with left:
        show_question(item.question)
    with right:
        _show_text(writing, item)


def _show_text(writing: Labelling, item: BlindItem) -> None:
    heading("Your text")
    key, written = writing.key(f"text-{item.id}"), item.written
    if written is not None:
        put(element("p", f"State: {written.state}", class_="aa-eyebrow", role="status"))
        if written.failures or written.remark:
            with st.container(key="found", border=True):
                st.text("The audit found: " + ", ".join(written.failures or ()))
                st.text(written.remark)
    # What a widget held is forgotten where the page was left.
    st.session_state.setdefault(key, "" if written is None else written.text)
    st.text_area("Reference, with citations", key=key, height=280, max_chars=20_000)

    def take_draft() -> None:
        st.session_state[key] = "" if item.draft is None else item.draft.text

    with st.container(key="steps", horizontal=True):
        st.button("Keep and go on", key="keep", type="primary", on_click=_keep, args=(writing, key))
        st.button("Back", key="back", on_click=writing.back)
        if item.draft is not None:
            st.button("Start from the draft", key="draft", on_click=take_draft)
    if item.draft is not None:
        with st.expander("Draft of an LLM, to be checked line by line", icon=":material/edit_note:"):
            st.text(item.draft.text)
    with st.expander("Leave this question to others", icon=":material/skip_next:"):
        for place, reason in SKIPS:
            st.button(reason, key=f"skip-{place}", on_click=writing.skip, args=(reason,))


def _keep(writing: Labelling, key: str) -> None:
    """Keep the text, and go on; short answers that its words do not hold are named."""
    left_out = writing.submit(text=str(st.session_state[key]))
    if left_out is not None:
        missing = "; ".join(left_out)
        words = f" Its words do not hold: {missing}. Go back and look again, if that is no matter of words."
        st.session_state[writing.key("told")] = f"Kept.{words if missing else ''}"
