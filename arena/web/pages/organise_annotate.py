"""Annotation: people label pairs of answers blindly; organisers make tasks and take the labels away."""

from __future__ import annotations

import streamlit as st

from arena.web.organise.annotation_parts import label_next, new_task, task_figures
from arena.web.organise.common import show_done
from arena.web.pieces import lead, note
from arena.web.visitors import present
from arena.web.wiring import arena


def show() -> None:
    """Show the task that is picked, and to organisers what becomes of it."""
    caller = present()
    tasks = {one.name: one for one in arena().annotation_desk.tasks(caller=caller)}
    st.title("Annotation", anchor=False)
    show_done()
    lead("Which of two answers is better? You are not told whose they are.")
    if tasks:
        task = tasks[st.selectbox("Task", list(tasks))]
        label_next(task, caller)
        if caller.organiser:
            st.subheader("How far it is", anchor="figures")
            task_figures(task, caller)
    else:
        note("There is no task for you.")
    if caller.organiser:
        st.subheader("New task", anchor="new")
        new_task(caller)
