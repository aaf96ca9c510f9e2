"""Parts of the annotation page: a blind pair, and what organisers do with tasks."""

from __future__ import annotations

from functools import partial

import streamlit as st

from arena.services.annotation import TaskRequest
from arena.services.identity import Caller
from arena.web.organise.common import NOTHING, attempt, grid
from arena.web.organise.rubric import EXAMPLES, GRADES, RUBRIC
from arena.web.pieces import note, strip
from arena.web.wiring import arena
from data.records import AnnotationTask


def label_next(task: AnnotationTask, caller: Caller) -> None:
    """Show the next pair and take its label."""
    pair = arena().annotation_desk.next(task.name, caller=caller) if caller.account else None
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
            st.subheader(f"Answer {place}", anchor=False)
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
            lambda: arena().annotation_desk.label(pair.id, given, comment=comment.strip(), caller=caller),
            "Saved.",
        )


def task_figures(task: AnnotationTask, caller: Caller) -> None:
    """How far a task is, how people agree, and their labels as a file."""
    desk = arena().annotation_desk
    found = desk.agreement(task.name, caller=caller)
    strip(
        [
            ("labels", f"{task.done:,} of {task.wanted:,}"),
            ("pairs complete", f"{found.complete:,} of {task.pairs:,}"),
            ("unanimous", _number(found.unanimous, ".0%")),
            ("alpha of a, tie, b", _number(found.alpha, ".2f")),
            ("alpha of five grades", _number(found.alpha_grades, ".2f")),
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
            attempt(lambda: desk.close(task.name, caller=caller), "The task is closed.")


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
        arena().annotation_desk.open(request, caller=caller)

    attempt(make, "The task is made.")


def _labels(name: str, caller: Caller) -> bytes:
    return arena().annotation_desk.export(name, caller=caller).content


def _number(value: float | None, form: str) -> str:
    return NOTHING if value is None else format(value, form)
