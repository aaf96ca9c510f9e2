"""Label answers: which of two is better, whether passages answer, what is wrong; item by item, by keys."""

from __future__ import annotations

from urllib.parse import quote

import streamlit as st

from arena.site.annotation.item_view import show_controls, show_steps, show_texts
from arena.site.annotation.rubrics import RUBRICS
from arena.site.annotation.session import ONWARD, Labelling
from arena.site.auth import show_visitor
from arena.site.services import arena
from arena.site.ui.components import lead, name_page, note
from arena.site.ui.markup import element, put
from arena.site.ui.url_state import choose_one


def show() -> None:
    """Show the next item of the task that is picked, after its terms are agreed to."""
    st.title("Label answers", anchor=False)
    caller = show_visitor("label answers")
    tasks = {task.name: task for task in arena().annotation.open_to(caller)}
    if not tasks:
        note("There is no task for you. Organisers name the people who label.")
        return
    labelling = Labelling(tasks[choose_one("task", "Task", {name: name for name in tasks})], caller)
    name_page(labelling.task.name, "Label answers")
    if arena().labels.person(labelling.task.name, caller=caller).consented_at is None:
        _ask(labelling)
        return
    item = labelling.item
    error = labelling.error()
    if error:
        st.error(error, icon=":material/error:")
    _show_progress(labelling)
    if item is None:
        put(element("p", "Nothing is left for you here. Thank you!", class_="aa-told", role="status"))
        show_steps(labelling, None)
    else:
        with st.expander("What to look at", icon=":material/rule:"):
            if labelling.task.terms.instructions:
                st.text(labelling.task.terms.instructions)
            else:
                st.markdown(RUBRICS[labelling.task.terms.kind])
        show_texts(labelling, item)
        show_controls(labelling, item)
    _offer_to_leave(labelling)


def _ask(labelling: Labelling) -> None:
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
        if st.checkbox("Yes, delete all my labels of this task"):
            st.button("Delete my labels", key="withdraw", on_click=labelling.leave)
        note(f"By the API: DELETE /api/v1/labels/tasks/{quote(labelling.task.name)}/mine")
