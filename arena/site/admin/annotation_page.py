"""Tasks of people who label: open one, watch how they agree, adjudicate disputes, exclude labels."""

from __future__ import annotations

from functools import partial

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.services.annotation.files.model import LabelFormat
from arena.services.annotation.quality_lines import EstimateLine, PersonLine
from arena.services.annotation.requests import TaskRequest
from arena.site.admin.common import attempt, grid, organiser
from arena.site.annotation.rubrics import choices_of
from arena.site.services import arena
from arena.site.ui.components import heading, lead, note, page_heading, strip, subheading
from arena.site.ui.flash_messages import show_flash
from arena.site.ui.formats import shown, span
from arena.site.ui.url_state import choose_one
from data.percent import percent
from data.records import AnnotationTask, DrawKind, LabelScale, TaskKind

DRAWS = {
    "all": "all there are",
    "uniform": "drawn uniformly",
    "domain": "drawn by domain",
    "doubt": "drawn by the judge's doubt",
}
JSON_FORMATS = frozenset({LabelFormat.EVALUATIONS, LabelFormat.LABEL_STUDIO, LabelFormat.ARGILLA})
SCALES = {LabelScale.GRADES: "five grades", LabelScale.SIDES: "a, tie, b"}
DRAW_CHOICES = {
    DrawKind.UNIFORM: "all alike",
    DrawKind.DOMAIN: "evenly over domains",
    DrawKind.DOUBT: "what the judge is unsure about, more often (battles of a round)",
}
FROM_SYSTEMS, FROM_ROUND = "Pairs of systems", "Battles of a round"


def show() -> None:
    """Show the task that is picked, and a form for another."""
    caller = organiser()
    found = arena().annotation.tasks(caller=caller)
    tasks = {task.name: task for task in found if task.terms.kind is TaskKind.PAIRS}
    page_heading("Label tasks")
    lead("What people label, how they agree, and what their labels come to.")
    if tasks:
        task = tasks[choose_one("task", "Task", {name: name for name in tasks})]
        people = "1 person" if task.terms.overlap == 1 else f"{task.terms.overlap} people"
        note(f"Items of the set {task.set_name}, {DRAWS[task.terms.draw]}; {people} per item.")
        _show_quality(task, caller)
        _show_disputed(task, caller)
        _show_people(task, caller)
        _show_files(task, caller)
    else:
        note("There are no tasks yet.")
    heading("New task", anchor="new")
    _new_task(caller)


def _show_disputed(task: AnnotationTask, caller: Caller) -> None:
    """The adjudication queue: one disputed item at a time."""
    show_flash("adjudicate")
    disputed = arena().curation.disputed(task.name, caller=caller)
    if not disputed:
        return
    heading("To be adjudicated", anchor="adjudicate")
    note(f"Labelled items without a majority: {len(disputed)}.")
    first = disputed[0]
    st.text(first.item.question.question)
    left, right = st.columns(2, gap="large")
    for column, name, text in ((left, "a", first.item.first), (right, "b", first.item.second)):
        with column, st.container(key=f"prose-answer-{name}", border=True):
            subheading(f"Answer {name}")
            st.text(text)
    for label in first.labels:
        st.text(f"{label.person}: {label.value} {label.comment}")
    with st.container(horizontal=True):
        for choice in choices_of(task.terms.scale):
            words = choice.words.replace("Answer 1", "Answer a").replace("Answer 2", "Answer b")
            decide = partial(
                arena().curation.adjudicate, task.name, first.item.id, choice.value, caller=caller
            )
            if st.button(words, key=f"adjudicate-{choice.key}", shortcut=choice.key):
                attempt(decide, "The item is adjudicated.", "adjudicate")


def _show_people(task: AnnotationTask, caller: Caller) -> None:
    """Exclude somebody's labels, with a reason, or delete them at their request."""
    show_flash("people")
    curation = arena().curation
    people = [person.name for person in curation.people(task.name, caller=caller)]
    if not people:
        return
    with st.expander("Exclude a person's labels, or delete them", icon=":material/person_off:"):
        with st.form("exclude", border=False):
            person = st.selectbox("Whose", people)
            reason = st.text_input("Why; kept in the audit log")
            what = st.radio("What", ["Exclude", "Let count again", "Delete at their request"])
            sent = st.form_submit_button("Do it")
        if not sent:
            return
        act = partial(curation.delete, task.name, person)
        done = "are deleted"
        if what == "Exclude":
            act, done = partial(curation.exclude, task.name, person, reason), "are excluded"
        elif what == "Let count again":
            act, done = partial(curation.include, task.name, person), "count again"
        attempt(partial(act, caller=caller), f"The labels of {person} {done}.", "people")


def _show_files(task: AnnotationTask, caller: Caller) -> None:
    show_flash("close")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        form = st.selectbox("Labels as a file", [*LabelFormat], format_func=str)
        st.download_button(
            "Download",
            partial(_file, task.name, form, caller),
            file_name=f"{task.name}-{form}.{'json' if form in JSON_FORMATS else 'jsonl'}",
            icon=":material/download:",
            on_click="ignore",
        )
        if not task.closed and st.button("Close the task", icon=":material/lock:"):
            attempt(
                lambda: arena().annotation.close(task.name, caller=caller), "The task is closed.", "close"
            )


def _file(name: str, form: LabelFormat, caller: Caller) -> bytes:
    return arena().label_files.export(name, form, caller=caller).content


def _show_quality(task: AnnotationTask, caller: Caller) -> None:
    """Show figures of a task and of each of its people."""
    quality = arena().curation.quality(task.name, caller=caller)
    strip(
        [
            ("labels", f"{task.done:,} of {task.wanted:,}"),
            ("items complete", f"{quality.complete:,} of {len(quality.items):,}"),
            ("without a majority", f"{len(quality.disputed):,}"),
            ("unanimous", percent(quality.unanimous)),
            ("alpha", _with_interval(quality.alpha)),
            ("alpha of values", _with_interval(quality.alpha_values)),
        ]
    )
    rows = [
        (
            _named(person),
            f"{person.labelled:,}",
            f"{person.skipped:,}",
            percent(person.agreement),
            _with_interval(person.alpha),
            f"{person.gold_passed} of {person.gold_seen}",
            "–" if person.seconds is None else span(person.seconds),
        )
        for person in quality.people
    ]
    if rows:
        headings = (
            "Person",
            "Labels",
            "Skips",
            "Agrees with others",
            "Alpha with others",
            "Gold passed",
            "Time per label",
        )
        grid(headings, rows, caption="Everybody who labels")
        note("Gold items have known answers.")


def _named(person: PersonLine) -> str:
    if person.excluded_reason is None:
        return person.name
    return f"{person.name} (excluded: {person.excluded_reason})"


def _with_interval(estimate: EstimateLine) -> str:
    interval = "" if estimate.lower is None else f" ({estimate.lower:.2f} to {estimate.upper:.2f})"
    return f"{shown(estimate.value, '.2f')}{interval}".replace("-", "−")


def _new_task(caller: Caller) -> None:
    """Show the form, and open what is asked for."""
    show_flash("new")
    sets = [summary.name for summary in arena().sets.summaries()]
    if not sets:
        note("Import a question set first.")
        return
    source = st.radio("From", [FROM_SYSTEMS, FROM_ROUND], horizontal=True)
    set_name, round_name = "", ""
    if source == FROM_ROUND:
        rounds = [round_.name for round_ in arena().rounds.rounds(caller=caller)]
        round_name = st.selectbox("Round", rounds) or ""
    else:
        set_name = st.selectbox("Question set", sets)
    people = [account.name for account in arena().teams.accounts(caller=caller)]
    with st.form("task", border=False):
        name = st.text_input("Name of the task")
        systems = _systems(set_name) if set_name else []
        draw = st.selectbox("Drawn", list(DRAW_CHOICES), format_func=DRAW_CHOICES.__getitem__)
        annotators = st.multiselect("Annotators", people)
        open_to_all = st.checkbox("Every other account may label too")
        left, middle, right = st.columns(3)
        count = left.number_input("Items", 1, value=50)
        overlap = middle.number_input("People per item", 1, value=3)
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


def _systems(set_name: str) -> list[str]:
    reference = arena().sets.summary(set_name).reference_name
    systems = [submission.system for submission in arena().planner.entrants(set_name)]
    return st.multiselect("Systems", [reference, *systems])
