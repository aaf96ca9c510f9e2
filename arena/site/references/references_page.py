"""Write references from passages; for organisers, the audit and how far each task is."""

from __future__ import annotations

from enum import StrEnum

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.site.auth import show_visitor
from arena.site.references.auditing import show_audit, show_status
from arena.site.references.writing import Writing, show_terms, show_writing
from arena.site.services import arena
from arena.site.ui.components import name_page, note
from arena.site.ui.url_state import choose_one, choose_segment


class Part(StrEnum):
    """What the page is for."""

    WRITE = "write"
    AUDIT = "audit"
    STATUS = "status"


PARTS = {Part.WRITE: "Write", Part.AUDIT: "Audit", Part.STATUS: "Status"}


def show() -> None:
    """Show the part that is picked of the task that is picked."""
    st.title("References", anchor=False)
    caller = show_visitor("write references")
    mine = {task.name: task for task in arena().references.open_to(caller)}
    tasks = {task.name: task for task in arena().references.tasks(caller=caller)} if caller.signed_in else {}
    if not tasks:
        note("There is no task for you. Organisers name the people who write.")
        return
    name = choose_one("task", "Task", {one: one for one in tasks})
    name_page(name, "References")
    part = _part(caller, writes=name in mine)
    if part is Part.WRITE:
        writing = Writing(tasks[name], caller)
        if arena().labels.person(name, caller=caller).consented_at is None:
            show_terms(writing)
        else:
            show_writing(writing)
    elif part is Part.AUDIT:
        show_audit(tasks[name], caller)
    elif part is Part.STATUS:
        show_status(tasks[name], caller)
    else:
        note("This task takes no more texts.")


def _part(caller: Caller, *, writes: bool) -> Part | None:
    parts = [Part.WRITE] if writes else []
    if caller.organiser:
        parts += [Part.AUDIT, Part.STATUS]
    if not caller.organiser:
        return parts[0] if parts else None
    return Part(choose_segment("part", "Part", {part: PARTS[part] for part in parts}))
