"""A dry sample, as it waits, is judged, and is there."""

from __future__ import annotations

import streamlit as st

from arena.web.organise.common import NOTHING, capped, offer_cancel, organiser, usd
from arena.web.pieces import note, strip
from arena.web.wiring import arena
from data.records import JobState

WORDS = {JobState.QUEUED: "It waits for a worker.", JobState.RUNNING: "A worker judges it now."}


def show_trial(number: int) -> None:
    """Show a dry sample by the number of its job."""
    job = arena().desk.trial(number, caller=organiser()).job
    if job.state in WORDS:
        st.info(WORDS[job.state], icon=":material/hourglass_top:")
        if job.error:
            st.text(job.error)
        note(f"Spending: {capped(job.payload['request']['budget_usd'])}.")
        offer_cancel(number, organiser())
        return
    if job.result is None:
        st.error("The sample came to nothing.", icon=":material/error:")
        st.text(job.error)
        return
    found = job.result
    strip(
        [
            *((name, f"{count:,}") for name, count in found["outcomes"].items()),
            (f"cost of the sample, {capped(found.get('cap_usd'))}", usd(found["cost_usd"])),
            ("cost of the round at that", usd(found["cost_usd_round"])),
        ]
    )
    for place, verdict in enumerate(found["verdicts"], start=1):
        winner = verdict["winner"] or verdict["outcome"]
        title = f"{place}. {verdict['system_a']} – {verdict['system_b']}: {winner}"
        with st.expander(title):
            st.text(verdict["question"])
            note(f"Question {verdict['question_id']}, {usd(verdict['cost_usd'])}.")
            st.text(verdict["why"] or NOTHING)
