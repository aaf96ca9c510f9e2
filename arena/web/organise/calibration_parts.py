"""Parts of the organisers' page of calibrations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from arena.services.identity import Caller
from arena.web.organise.common import NOTHING, capped, grid, offer_cancel, organiser
from arena.web.pieces import note
from arena.web.wiring import arena
from data.records import Job, JobState

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
    found = {one.job.id: one.job for one in arena().calibration_desk.all(caller=caller)}
    if not found:
        note("Nothing was calibrated yet.")
        return None
    wanted = st.query_params.get("job", "")
    numbers = list(found)
    place = numbers.index(int(wanted)) if wanted.isdecimal() and int(wanted) in found else 0
    chosen = st.selectbox(
        "Calibration",
        numbers,
        place,
        format_func=lambda one: _title(found[one]),
    )
    return int(chosen)


def _title(job: Job) -> str:
    judges = ", ".join(job.payload["judges"])
    return f"{job.id}: {judges}, {job.created_at:%Y-%m-%d %H:%M}"


def show_calibration(number: int) -> None:
    """Show a calibration as it waits, runs, and is there."""
    job = arena().calibration_desk.get(number, caller=organiser()).job
    if job.state in WORDS:
        st.info(WORDS[job.state], icon=":material/hourglass_top:")
        offer_cancel(number, organiser())
    note(f"Spending: {capped(job.payload.get('budget_usd'))}.")
    if job.result is None:
        if job.error:
            st.text(job.error)
        return
    reports = job.result["reports"]
    names = [report["judge"] for report in reports]
    rows = [(label, *(_estimate(report, name) for report in reports)) for name, label in MEASURES.items()]
    rows.append(("Flips of two orders", *(_share(report["flip_rate"]) for report in reports)))
    rows.append(("Pairs without a verdict", *(f"{one['unreadable']} of {one['pairs']}" for one in reports)))
    grid(("Measure", *names), rows, caption="Judges side by side; in brackets 95 % intervals")
    for report in reports:
        with st.expander(f"{report['judge']}: where it and people part"):
            _details(report)


def _details(report: Mapping[str, Any]) -> None:
    table = report["confusion"]
    rows = [
        (f"People: {SIDES[people]}", *(f"{table[people][judge]:,}" for judge in SIDES)) for people in table
    ]
    grid(("", *(f"Judge: {word}" for word in SIDES.values())), rows)
    domains = [
        (domain or NOTHING, str(one["pairs"]), _share(one["accuracy"]), _share(one["kappa"], ".2f"))
        for domain, one in report["by_domain"].items()
    ]
    grid(("Domain", "Pairs", "Accuracy", "Kappa"), domains)
    for reason, count in report["reasons"].items():
        note(f"{count} without a verdict: {reason}")


def _estimate(report: Mapping[str, Any], name: str) -> str:
    form = ".1%" if name in {"accuracy", "decisive_accuracy", "tie_rate"} else ".2f"
    bounds = report["intervals"].get(name)
    said = _share(report[name], form)
    return said if not bounds else f"{said} ({_share(bounds[0], form)} to {_share(bounds[1], form)})"


def _share(value: float | None, form: str = ".1%") -> str:
    return NOTHING if value is None else format(value, form)
