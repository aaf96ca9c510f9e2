"""Judges held against people, for organisers: labels in, agreement out, by a worker."""

from __future__ import annotations

import streamlit as st

from arena.services.identity import Caller
from arena.web.organise.calibration_parts import choose_job, show_calibration
from arena.web.organise.common import attempt, organiser, show_done, watched
from arena.web.pieces import lead, note
from arena.web.wiring import arena

MOST_MIB = 32


def show() -> None:
    """Show the calibration that the address names, else the newest, and the form for another."""
    caller = organiser()
    st.title("Calibration", anchor=False)
    show_done()
    lead("How far do judges agree with people, on pairs that people labelled?")
    number = choose_job(caller)
    if number is not None:
        watched(show_calibration, number)
    st.subheader("Hold judges against labels", anchor="new")
    _form(caller)


def _form(caller: Caller) -> None:
    note("JSONL, one annotator's view of one pair a line; the annotation page exports such files.")
    with st.form("calibrate", border=False):
        file = st.file_uploader("Labels", type=["jsonl", "json", "gz"], max_upload_size=MOST_MIB)
        known = [one.name for one in arena().judges.known() if not one.problem]
        judges = st.multiselect("Judges", known, ["lexical"])
        cap = st.number_input("Cap in USD", 0.0, value=float(arena().settings.trial_usd))
        sent = st.form_submit_button("Calibrate", type="primary", icon=":material/balance:")
    if not sent or file is None:
        return

    def start() -> None:
        job = arena().calibration_desk.start(file.getvalue(), judges, budget_usd=cap, caller=caller)
        st.query_params["job"] = str(job.id)

    attempt(start, "A worker takes it from here.")
