"""Annotation: people label pairs of answers blindly; organisers make tasks and take the labels away."""

from __future__ import annotations

from functools import partial

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.services.annotation.tasks import TaskRequest
from arena.site.admin.common import attempt, grid, show_done
from arena.site.auth import present
from arena.site.services import arena
from arena.site.ui.components import lead, note, strip
from arena.site.ui.formats import shown
from arena.site.ui.url_state import choose_one
from data.records import AnnotationTask

RUBRIC = """
Say which of two answers serves somebody who asked this question better. Look at three things, in this order:

1. **Truthful.** Does it say what is right? Count what is right *and* to the point. One wrong statement
   weighs more than one that is missing.
2. **Helpful.** Where both are equally right: which one says more that helps with the question, and less that
   does not?
3. **Complete.** Which one leaves out less of what is right and helpful?

Neither length nor polish nor the order on the page is a reason. Where you cannot tell, choose *Not sure*.
"""
EXAMPLES = """
*How long do hard-boiled eggs keep in a fridge?*

- "About a week, peeled or not; peeled ones dry out sooner." against "a week no 3 days yes": the first is
  **better**. The second only lists what contradicts itself.
- "About a week." against "Five to seven days in a closed box.": the second is **slightly better**. Both are
  right, it says a little more.
- "About a week in a fridge." against "Seven days, chilled.": **not sure**. They say the same.
"""
GRADES = {
    -2: "Answer 1 is better",
    -1: "Answer 1 is slightly better",
    0: "Not sure",
    1: "Answer 2 is slightly better",
    2: "Answer 2 is better",
}


def label_next(task: AnnotationTask, caller: Caller) -> None:
    """Show the next pair and take its label."""
    pair = arena().annotation.next(task.name, caller=caller) if caller.account else None
    if pair is None:
        note("There is nothing left for you to label here.")
        return
    with st.expander("What to look at", icon=":material/rule:"):
        st.markdown(RUBRIC)
        st.markdown(EXAMPLES)
    with st.container(key="question-text"):
        st.text(pair.question.question)
    left, right = st.columns(2, gap="large")
    for place, column, text in ((1, left, pair.first), (2, right, pair.second)):
        with column, st.container(key=f"prose-answer-{place}", border=True):
            st.header(f"Answer {place}", anchor=False)
            st.text(text)
    with st.form(f"label-{pair.id}", border=False):
        grade = st.radio("Your view", list(GRADES), index=None, format_func=GRADES.__getitem__)
        comment = st.text_input("Why, if you like")
        sent = st.form_submit_button("Save and go on", type="primary", icon=":material/check:")
    if sent and grade is None:
        st.warning("Choose one of the five.", icon=":material/help:")
    elif sent:
        given = int(grade or 0)
        attempt(
            lambda: arena().annotation.label(pair.id, given, comment=comment.strip(), caller=caller), "Saved."
        )


def task_figures(task: AnnotationTask, caller: Caller) -> None:
    """How far a task is, how people agree, and their labels as a file."""
    round_admin = arena().annotation
    found = round_admin.agreement(task.name, caller=caller)
    strip(
        [
            ("labels", f"{task.done:,} of {task.wanted:,}"),
            ("pairs complete", f"{found.complete:,} of {task.pairs:,}"),
            ("unanimous", shown(found.unanimous, ".0%")),
            ("alpha of a, tie, b", shown(found.alpha, ".2f")),
            ("alpha of five grades", shown(found.alpha_grades, ".2f")),
        ]
    )
    rows = [(name, f"{done:,} of {wanted:,}") for name, (done, wanted) in found.labelled.items()]
    grid(("Annotator", "Labelled"), rows)
    with st.container(horizontal=True):
        st.download_button(
            "Human labels, JSONL",
            partial(_labels, task.name, caller),
            file_name=f"{task.name}-labels.jsonl",
            mime="application/jsonl",
            icon=":material/download:",
            on_click="ignore",
        )
        if not task.closed and st.button("Close the task", icon=":material/lock:"):
            attempt(lambda: round_admin.close(task.name, caller=caller), "The task is closed.")


def new_task(caller: Caller) -> None:
    """The form for a task."""
    sets = [one.name for one in arena().sets.summaries()]
    if not sets:
        note("Import a question set first.")
        return
    set_name = st.selectbox("Question set", sets)
    summary = arena().sets.summary(set_name)
    systems = [one.system for one in arena().planner.entrants(set_name)]
    people = [one.name for one in arena().teams.accounts(caller=caller)]
    with st.form("task", border=False):
        name = st.text_input("Name of the task")
        chosen = st.multiselect("Systems", [summary.reference_name, *systems])
        annotators = st.multiselect("Annotators", people)
        left, middle, right = st.columns(3)
        questions = left.number_input("Pairs", 1, value=50)
        overlap = middle.number_input("People a pair", 1, value=3)
        seed = right.number_input("Seed", 0, value=0)
        if not st.form_submit_button("Make the task", icon=":material/add:"):
            return

    def make() -> None:
        request = TaskRequest(
            name=name.strip(),
            set_name=set_name,
            systems=tuple(chosen),
            questions=questions,
            overlap=overlap,
            annotators=tuple(annotators),
            seed=seed,
        )
        arena().annotation.open(request, caller=caller)

    attempt(make, "The task is made.")


def _labels(name: str, caller: Caller) -> bytes:
    return arena().annotation.export(name, caller=caller).content


def show() -> None:
    """Show the task that is picked, and to organisers what becomes of it."""
    caller = present()
    tasks = {one.name: one for one in arena().annotation.tasks(caller=caller)}
    st.title("Annotation", anchor=False)
    show_done()
    lead("Which of two answers is better? You are not told whose they are.")
    if tasks:
        task = tasks[choose_one("task", "Task", {name: name for name in tasks})]
        label_next(task, caller)
        if caller.organiser:
            st.header("How far it is", anchor="figures")
            task_figures(task, caller)
    else:
        note("There is no task for you.")
    if caller.organiser:
        st.header("New task", anchor="new")
        new_task(caller)
