"""Judges held against people, for organisers: labels in, agreement out, by a worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.site.admin.common import (
    NOTHING,
    attempt,
    capped,
    grid,
    offer_cancel,
    organiser,
    show_work,
    watched,
)
from arena.site.services import arena
from arena.site.ui.components import heading, lead, note, page_heading
from arena.site.ui.flash_messages import show_flash
from arena.site.ui.formats import shown
from arena.site.uploads import choose_file, laid_down
from data.models import Job, JobState
from data.percent import percent

WORDS = {JobState.QUEUED: "It waits for a worker.", JobState.RUNNING: "A worker asks the judges now."}
MEASURES = {
    "accuracy": "Accuracy",
    "decisive_accuracy": "Accuracy where people decided",
    "kappa": "Cohen's kappa",
    "alpha": "Krippendorff's alpha, judge and people",
    "annotator_alpha": "Krippendorff's alpha, people alone",
    "pearson": "Pearson",
    "spearman": "Spearman",
    "tie_rate": "Ties",
}
SIDES = {"a": "A better", "tie": "tie", "b": "B better", "none": "no verdict"}


def choose_job(caller: Caller) -> int | None:
    """The calibration that the address names, or that is picked; None where there is none."""
    jobs = {calibration.job.id: calibration.job for calibration in arena().calibrations.all(caller=caller)}
    if not jobs:
        note("Nothing has been calibrated yet.")
        return None
    wanted = st.query_params.get("job", "")
    numbers = list(jobs)
    place = numbers.index(int(wanted)) if wanted.isdecimal() and int(wanted) in jobs else 0
    chosen = st.selectbox(
        "Calibration", numbers, place, format_func=lambda calibration: calibration_title(jobs[calibration])
    )
    return int(chosen)


def calibration_title(job: Job) -> str:
    """What organisers choose a calibration by."""
    judges = ", ".join(job.payload["judges"])
    return f"{job.id}: {judges}, {job.created_at:%Y-%m-%d %H:%M}"


def show_calibration(number: int) -> None:
    """Show a calibration as it waits, runs, and is there."""
    status = arena().calibrations.get(number, caller=organiser())
    job = status.job
    show_flash("calibration")
    if job.state in WORDS:
        st.info(WORDS[job.state], icon=":material/hourglass_top:")
        show_work(status)
        offer_cancel(number, organiser(), "calibration")
    note(f"Spending: {capped(job.payload.get('budget_usd'))}.")
    if job.result is None:
        if job.error:
            st.text(job.error)
        return
    reports = job.result["reports"]
    names = [report["judge"] for report in reports]
    rows = [(label, *(_estimate(report, name) for report in reports)) for name, label in MEASURES.items()]
    rows.append(("Flips of two orders", *(percent(report["flip_rate"]) for report in reports)))
    rows.append(("Pairs without a verdict", *(f"{one['unreadable']} of {one['pairs']}" for one in reports)))
    grid(("Measure", *names), rows, caption="Judges side by side; in brackets 95 % intervals")
    for report in reports:
        with st.expander(f"{report['judge']}: where they disagree"):
            _details(report)


def _details(report: Mapping[str, Any]) -> None:
    table = report["confusion"]
    rows = [
        (f"People: {SIDES[people]}", *(f"{table[people][judge]:,}" for judge in SIDES)) for people in table
    ]
    grid(("", *(f"Judge: {word}" for word in SIDES.values())), rows)
    domains = [
        (domain or NOTHING, str(one["pairs"]), percent(one["accuracy"]), _coefficient(one["kappa"]))
        for domain, one in report["by_domain"].items()
    ]
    grid(("Domain", "Pairs", "Accuracy", "Kappa"), domains)
    for reason, count in report["reasons"].items():
        note(f"{count} without a verdict: {reason}")


def _estimate(report: Mapping[str, Any], name: str) -> str:
    said = percent if name in {"accuracy", "decisive_accuracy", "tie_rate"} else _coefficient
    bounds = report["intervals"].get(name)
    figure = said(report[name])
    return figure if not bounds else f"{figure} ({said(bounds[0])} to {said(bounds[1])})"


def _coefficient(value: float | None) -> str:
    return shown(value, ".2f").replace("-", "−")


MOST_MB = 32


def show() -> None:
    """Show the calibration that the address names, else the newest, and the form for another."""
    caller = organiser()
    page_heading("Calibration")
    lead("How far do judges agree with people, on pairs that people labelled?")
    number = choose_job(caller)
    if number is not None:
        watched(show_calibration, number)
    heading("Compare judges with labels", anchor="new")
    _form(caller)


def _form(caller: Caller) -> None:
    show_flash("new")
    note("CSV or JSON, as `arena labels export` writes it, or an export of Label Studio or Argilla.")
    with st.form("calibrate", border=False):
        file = choose_file("Labels", key="labels-file", types=("jsonl", "json", "csv", "gz"), most_mb=MOST_MB)
        known = [one.name for one in arena().judges.known() if not one.problem]
        judges = st.multiselect("Judges", known, ["lexical"])
        cap = st.number_input("Cap in USD", 0.0, value=5.0)
        sent = st.form_submit_button("Calibrate", type="primary", icon=":material/balance:")
    if not sent or file is None:
        return

    def start() -> None:
        with laid_down(file, most_mb=MOST_MB) as path:
            job = arena().calibrations.start(path, judges, budget_usd=cap, caller=caller)
        st.query_params["job"] = str(job.id)

    attempt(start, "A worker holds the judges against the labels; the page above shows how far it is.", "new")
