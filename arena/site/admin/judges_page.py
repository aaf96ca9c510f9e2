"""Judges for organisers: what they ask, and how each does on three battles of the demo, tried by a worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.site.admin.common import (
    NOTHING,
    attempt,
    duration,
    grid,
    offer_cancel,
    organiser,
    show_work,
    usd,
    watched,
)
from arena.site.services import arena
from arena.site.ui.components import heading, lead, note, page_heading, strip
from arena.site.ui.flash_messages import show_flash
from data.records import JobKind, JobState

PLACE = "judge-test"


def show() -> None:
    """Show every judge, a button that tries one, and what came of the newest test."""
    caller = organiser()
    page_heading("Judges")
    lead("What do judges ask, and do they answer usably?")
    known = arena().judges.known()
    rows = [
        (one.name, one.kind, one.model or NOTHING, arena().judges.host(one.name) or NOTHING, one.problem)
        for one in known
    ]
    grid(("Judge", "Kind", "Model", "Endpoint", "Problem"), rows)
    heading("Test a judge", anchor="test")
    note("Three battles of the demo in both orders; a judge that asks an LLM costs as many requests.")
    _form([one.name for one in known if not one.problem], caller)
    watched(show_newest)


def _form(names: list[str], caller: Caller) -> None:
    show_flash(PLACE)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox("Judge", names)
        sent = st.button("Test", type="primary", icon=":material/experiment:")
    if sent and name:
        attempt(
            lambda: arena().jobs.test_judge(name, caller=caller),
            f"A worker tests {name}; below is how far it is.",
            PLACE,
        )


def show_newest() -> None:
    """Show the newest test as it waits, runs and is there."""
    caller = organiser()
    status = next(iter(arena().jobs.recent(JobKind.JUDGE_TEST)), None)
    if status is None:
        note("No judge has been tested yet.")
        return
    job = status.job
    heading(f"Test {job.id} of {job.payload['judge']}", anchor="result")
    if job.state in {JobState.QUEUED, JobState.RUNNING}:
        note("It waits for a worker." if job.state is JobState.QUEUED else "A worker asks the judge now.")
        show_work(status)
        offer_cancel(job.id, caller, PLACE)
    elif job.result is None:
        st.error(job.error)
    else:
        _show_result(job.result)


def _show_result(result: Mapping[str, Any]) -> None:
    (st.success if result["passed"] else st.warning)(result["sentence"])
    strip(
        [
            ("requests", f"{result['calls']:,}"),
            ("cost", usd(result["cost_usd"])),
            ("time of a reply", duration(result["latency"])),
            ("models", ", ".join(result["models"]) or NOTHING),
        ]
    )
    for number, battle in enumerate(result["battles"], 1):
        with st.expander(f"Battle {number}: {battle['preference'] or battle['outcome']}"):
            st.text(f"{battle['question']}\n\nA: {battle['answer_a']}\n\nB: {battle['answer_b']}")
            for one in battle["judgments"]:
                said = f"{one['judge']}, order {one['presentation']}: {one['preference'] or one['outcome']}"
                note(f"{said}. {one['detail']}".strip())
                replies = [reply["text"] for reply in one["replies"]]
                st.text("\n".join([f"Sent with {one['settings']}", *replies]))
