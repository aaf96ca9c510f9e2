"""The form for a new task."""

from __future__ import annotations

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.services.annotation.requests import TaskRequest
from arena.site.admin.common import attempt
from arena.site.services import arena
from arena.site.ui.components import note
from arena.site.ui.done import show_done
from data.records import DrawKind, LabelScale, TaskKind

KINDS = {
    TaskKind.PAIRS: "Which of two answers is better",
    TaskKind.ANSWERABILITY: "Whether passages answer a question",
    TaskKind.PASSAGES: "How well a passage answers, 0 to 5",
    TaskKind.SPANS: "What is wrong, unsupported or missing in an answer",
}
SCALES = {LabelScale.GRADES: "five grades", LabelScale.SIDES: "a, tie, b"}
DRAWS = {
    DrawKind.UNIFORM: "all alike",
    DrawKind.DOMAIN: "evenly over domains",
    DrawKind.DOUBT: "what the judge is unsure about, more often (battles of a round)",
}
FROM_SYSTEMS, FROM_ROUND = "Pairs of systems", "Battles of a round"


def new_task(caller: Caller) -> None:
    """Show the form, and open what is asked for."""
    show_done("new")
    sets = [summary.name for summary in arena().sets.summaries()]
    if not sets:
        note("Import a question set first.")
        return
    kind = st.selectbox("What people are asked", list(KINDS), format_func=KINDS.__getitem__)
    source = st.radio("From", [FROM_SYSTEMS, FROM_ROUND], horizontal=True) if kind is TaskKind.PAIRS else ""
    set_name, round_name = "", ""
    if source == FROM_ROUND:
        rounds = [round_.name for round_ in arena().rounds.rounds(caller=caller)]
        round_name = st.selectbox("Round", rounds) or ""
    else:
        set_name = st.selectbox("Question set", sets)
    people = [account.name for account in arena().teams.accounts(caller=caller)]
    with st.form("task", border=False):
        name = st.text_input("Name of the task")
        systems = _systems(set_name, kind) if set_name and kind in {TaskKind.PAIRS, TaskKind.SPANS} else []
        draw = st.selectbox("Drawn", list(DRAWS), format_func=DRAWS.__getitem__)
        annotators = st.multiselect("Annotators", people)
        open_to_all = st.checkbox("Every other account may label too")
        left, middle, right = st.columns(3)
        count = left.number_input("Items", 1, value=50)
        overlap = middle.number_input("People an item", 1, value=3)
        seed = right.number_input("Seed", 0, value=0)
        scale = st.radio("Scale", list(SCALES), format_func=SCALES.__getitem__, horizontal=True)
        reference = st.checkbox("Show the reference")
        consent = st.text_area("What people agree to first; empty for the usual words")
        instructions = st.text_area("What to look at; empty for the usual rubric")
        if not st.form_submit_button("Open the task", icon=":material/add:"):
            return

    def make() -> None:
        request = TaskRequest(
            name=name.strip(),
            set_name=set_name,
            round_name=round_name,
            kind=kind,
            systems=tuple(systems),
            draw=draw,
            count=count,
            overlap=overlap,
            annotators=tuple(annotators),
            open_to_all=open_to_all,
            scale=scale,
            shows_reference=reference,
            seed=seed,
            consent=consent,
            instructions=instructions,
        )
        arena().annotation.open(request, caller=caller)

    attempt(make, f"The task {name.strip()} is open.", "new")


def _systems(set_name: str, kind: TaskKind) -> list[str]:
    reference = arena().sets.summary(set_name).reference_name
    systems = [submission.system for submission in arena().planner.entrants(set_name)]
    return st.multiselect("Systems", [reference, *systems] if kind is TaskKind.PAIRS else systems)
