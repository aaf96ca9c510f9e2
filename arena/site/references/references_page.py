"""Write references from passages; for organisers, the audit and how far each task is."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.services.references.auditing import AuditItem
from arena.site.admin.common import attempt
from arena.site.annotation.annotate_page import show_terms
from arena.site.annotation.session import Labelling
from arena.site.auth import show_visitor
from arena.site.references.passages import show_question
from arena.site.references.writing import show_writing
from arena.site.services import arena
from arena.site.ui.components import heading, name_page, note, page_heading, strip
from arena.site.ui.flash_messages import show_flash
from arena.site.ui.markup import put
from arena.site.ui.tables import words_table
from arena.site.ui.url_state import choose_one, choose_segment
from data.errors import InputError
from data.percent import percent
from data.records import AnnotationTask, TaskKind
from data.records.references import Failure

FAILURES = {
    Failure.INCOMPLETENESS: "Incomplete: a marked answer or clear relevant information is left out",
    Failure.REDUNDANCY: "Redundant: clear irrelevant information is included",
    Failure.INCOHERENCE: "Incoherent, or no natural language",
    Failure.CITATION_ERROR: "A citation is wrong or missing",
}
MOST_SHOWN = 200
ENDS = {None: "is being audited", True: "is accepted", False: "went back to its writers"}


class Part(StrEnum):
    """What the page is for."""

    WRITE = "write"
    AUDIT = "audit"
    STATUS = "status"


PARTS = {Part.WRITE: "Write", Part.AUDIT: "Audit", Part.STATUS: "Status"}


def show() -> None:
    """Show the part that is picked of the task that is picked."""
    page_heading("References")
    caller = show_visitor("write references")
    annotation = arena().annotation
    mine = {task.name for task in annotation.open_to(caller, TaskKind.REFERENCES)}
    found = annotation.tasks(caller=caller) if caller.signed_in else ()
    tasks = {task.name: task for task in found if task.terms.kind is TaskKind.REFERENCES}
    if not tasks:
        note("There is no task for you. Organisers name the people who write.")
        return
    name = choose_one("task", "Task", {one: one for one in tasks})
    name_page(name, "References")
    part = _part(caller, writes=name in mine)
    if part is Part.WRITE:
        writing = Labelling(tasks[name], caller)
        if arena().labels.person(name, caller=caller).consented_at is None:
            show_terms(writing)
        else:
            show_writing(writing)
    elif part is Part.AUDIT:
        _show_audit(tasks[name], caller)
    elif part is Part.STATUS:
        _show_status(tasks[name], caller)
    else:
        note("This task takes no more texts.")


def _part(caller: Caller, *, writes: bool) -> Part | None:
    parts = [Part.WRITE] if writes else []
    if caller.organiser:
        parts += [Part.AUDIT, Part.STATUS]
    if not caller.organiser:
        return parts[0] if parts else None
    return Part(choose_segment("part", "Part", {part: PARTS[part] for part in parts}))


def _show_audit(task: AnnotationTask, caller: Caller) -> None:
    """Show the next text of the sample, or offer to draw one."""
    show_flash()
    item = arena().reference_audits.audit_next(task.name, caller=caller)
    if item is None:
        note("No text is left for you to audit. A new batch takes every text that is in none.")
        with st.form("draw", border=False):
            share = st.number_input("Share of the batch to audit, in per cent", 1, 100, 10)
            if st.form_submit_button("Draw a batch", type="primary"):
                _draw(task, share / 100, caller)
        return
    note(f"Batch {item.batch.number}: {item.batch.audited} of {item.batch.drawn} decided.")
    left, right = st.columns(2, gap="large")
    with left:
        show_question(item.question)
    with right:
        heading("Text")
        with st.container(key="prose-reference", border=True):
            st.text(item.text)
        _decide(task, item, caller)


def _draw(task: AnnotationTask, share: float, caller: Caller) -> None:
    def draw() -> None:
        if arena().reference_audits.draw(task.name, share=share, caller=caller) is None:
            raise InputError("No text waits for an audit.", advice="Wait until somebody has written one.")

    attempt(draw, "A batch is drawn.")


def _decide(task: AnnotationTask, item: AuditItem, caller: Caller) -> None:
    with st.form(f"decide-{item.number}", border=False):
        found = [kind for kind, words in FAILURES.items() if st.checkbox(words, key=f"{kind}-{item.number}")]
        remark = st.text_area("Remark for the writer", max_chars=2_000, key=f"remark-{item.number}")
        note("Without a mark the text is valid.")
        sent = st.form_submit_button("Decide", type="primary")
    if sent:
        attempt(
            lambda: arena().reference_audits.decide(
                task.name, item.number, found, remark=remark, caller=caller
            ),
            "Decided.",
        )


def _show_status(task: AnnotationTask, caller: Caller) -> None:
    """Show texts by state, batches, and each question."""
    fields = arena().reference_audits.status(task.name, caller=caller)
    done = f"{fields['with_accepted']:,} of {fields['questions']:,}"
    texts = [(state, f"{count:,}") for state, count in fields["texts"].items()]
    strip([("questions with an accepted reference", done), *texts])
    if fields["batches"]:
        heading("Batches")
        put(words_table(("Batch", "What became of it"), map(_batch, fields["batches"])))
    heading("Questions")
    questions = fields["by_question"]
    rows = ((one["question_id"], ", ".join(one["states"]) or "untouched") for one in questions[:MOST_SHOWN])
    put(words_table(("Question", "State"), rows))
    if len(questions) > MOST_SHOWN:
        note(f"The first {MOST_SHOWN} of {len(questions):,}; all: arena labels show {task.name}")
    note(f"As a set: arena labels export {task.name} DIR --format set")


def _batch(batch: dict[str, Any]) -> tuple[str, str]:
    share = "" if batch["share"] is None else f", {percent(batch['share'])} valid"
    counts = f"{batch['audited']} of {batch['drawn']} decided of {batch['texts']} texts"
    return str(batch["number"]), f"{ENDS[batch['accepted']]}: {counts}{share}"
