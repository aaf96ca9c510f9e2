"""Writing in one tab: the question at hand, the text, and the ways to keep, skip and go on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.services.references.models import WritingItem
from arena.site.annotation.rubrics import SKIPS
from arena.site.references.passages import show_question
from arena.site.services import arena
from arena.site.ui.components import heading, lead
from arena.site.ui.errors import plain
from arena.site.ui.markup import element, put
from data.errors import ArenaError
from data.records import AnnotationTask

INSTRUCTIONS = """
Combine all marked short answers into **one** coherent answer in your own words.

- **Complete.** Every marked short answer is in it. Add what else in the passages helps with the question.
- **To the point.** Nothing that does not help, nothing twice, nothing that no passage says.
- **Coherent.** Whole sentences in an order that reads well. Where passages disagree, give each side.
- **Cited.** Each sentence ends with the numbers of the passages that it rests on: `[1]` or `[2, 3]`.

A text that lacks one of these fails its audit, and the whole batch comes back.
"""


@dataclass(frozen=True, slots=True)
class Writing:
    """Somebody at a task in one tab."""

    task: AnnotationTask
    caller: Caller

    def key(self, name: str) -> str:
        """Where the tab keeps something."""
        return f"reference-{self.task.name}-{name}"

    @property
    def item(self) -> WritingItem | None:
        """The question at hand: the one that the tab has, else the next one."""
        number: int | None = st.session_state.get(self.key("number"))
        service = arena().references
        if number is not None:
            item = service.item(self.task.name, number, caller=self.caller)
            # What a widget held is forgotten where the page was left.
            st.session_state.setdefault(self.key("text"), item.text)
            return item
        found = service.next(self.task.name, caller=self.caller)
        if found is not None:
            self._show(found)
        return found

    def keep(self) -> None:
        """Keep the text, and go on; a short answer that its words do not hold is said."""

        def submit() -> None:
            number, text = st.session_state[self.key("number")], str(st.session_state[self.key("text")])
            kept = arena().references.submit(self.task.name, number, text, caller=self.caller)
            missing = "; ".join(kept.left_out)
            told = (
                f" Its words do not hold: {missing}. Go back and look again, if that is no matter of words."
            )
            st.session_state[self.key("told")] = f"Kept.{told if missing else ''}"

        if self._try(submit):
            st.session_state.pop(self.key("number"))

    def take_draft(self, text: str) -> None:
        """Start from a draft."""
        st.session_state[self.key("text")] = text

    def skip(self, reason: str) -> None:
        """Leave the question to others."""
        number = st.session_state[self.key("number")]
        if self._try(lambda: arena().labels.skip(self.task.name, number, reason, caller=self.caller)):
            st.session_state.pop(self.key("number"))

    def back(self) -> None:
        """Go to the text before the one at hand."""
        numbers = arena().labels.progress(self.task.name, caller=self.caller).labels
        current = st.session_state.get(self.key("number"))
        place = (numbers.index(current) if current in numbers else len(numbers)) - 1
        if place >= 0:
            self._show(arena().references.item(self.task.name, numbers[place], caller=self.caller))

    def _show(self, item: WritingItem) -> None:
        st.session_state[self.key("number")] = item.number
        st.session_state[self.key("text")] = item.text

    def _try(self, do: Callable[[], object]) -> bool:
        try:
            do()
        except ArenaError as error:
            st.session_state[self.key("error")] = plain(error)
            return False
        return True


def show_terms(writing: Writing) -> None:
    """Ask for agreement to the terms."""
    lead("Before you begin")
    with st.container(border=True):
        st.text(writing.task.terms.consent)
    st.button(
        "I agree",
        key="agree",
        type="primary",
        on_click=lambda: arena().labels.consent(writing.task.name, caller=writing.caller),
    )


def show_writing(writing: Writing) -> None:
    """Show the question at hand with its text."""
    _show_told(writing)
    item = writing.item
    own = arena().references.own(writing.task.name, caller=writing.caller)
    st.progress(own.progress.share)
    sent_back = f", {len(own.returned)} sent back" if own.returned else ""
    put(element("p", f"{own.progress.words}{sent_back}", class_="aa-eyebrow", role="status"))
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
        show_question(item.question, item.marked)
    with right:
        _show_text(writing, item)


def _show_told(writing: Writing) -> None:
    error, told = (st.session_state.pop(writing.key(name), "") for name in ("error", "told"))
    if error:
        st.error(error, icon=":material/error:")
    if told:
        with st.container(key="told", border=True):
            st.text(told)


def _show_text(writing: Writing, item: WritingItem) -> None:
    heading("Your text")
    if item.state is not None:
        put(element("p", f"State: {item.state}", class_="aa-eyebrow", role="status"))
    if item.failures or item.remark:
        with st.container(key="found", border=True):
            st.text("The audit found: " + ", ".join(item.failures or ()))
            st.text(item.remark)
    st.text_area("Reference, with citations", key=writing.key("text"), height=280, max_chars=20_000)
    with st.container(key="steps", horizontal=True):
        st.button("Keep and go on", key="keep", type="primary", on_click=writing.keep)
        st.button("Back", key="back", on_click=writing.back)
        if item.draft is not None:
            st.button(
                "Start from the draft", key="draft", on_click=writing.take_draft, args=(item.draft.text,)
            )
    if item.draft is not None:
        with st.expander("Draft of an LLM, to be checked line by line", icon=":material/edit_note:"):
            st.text(item.draft.text)
    with st.expander("Leave this question to others", icon=":material/skip_next:"):
        for key, reason in SKIPS:
            st.button(reason, key=f"skip-{key}", on_click=writing.skip, args=(reason,))
