"""Organisers' page of judges: list them, test them on demo battles, calibrate them with human labels."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from arena.formats import format_time, or_dash, span
from arena.services.accounts.auth import Caller
from arena.site.admin.common import NOTHING, cap_label, grid, organiser, refreshing, show_work, usd
from arena.site.services import arena
from arena.site.ui.html import heading, lead, note, page_heading, strip
from arena.site.ui.messages import attempt, show_flash
from arena.site.uploads import choose_file, on_disk
from data.models import Job, JobKind
from data.text import percent

PLACE, CALIBRATION = "judge-test", "calibration"
MAX_MB = 32
MEASURES = {
    "accuracy": "Accuracy",
    "decisive_accuracy": "Accuracy on pairs that people decided",
    "kappa": "Cohen's kappa",
    "alpha": "Krippendorff's alpha, judge and people",
    "annotator_alpha": "Krippendorff's alpha, people only",
    "pearson": "Pearson",
    "spearman": "Spearman",
    "tie_rate": "Ties",
}


def show() -> None:
    """Show the judges, the newest test, and the calibrations."""
    caller = organiser()
    page_heading("Judges")
    lead("Test judges, and measure how well they agree with people.")
    known = arena().judges.known()
    rows = [
        (row.name, row.kind, row.model or NOTHING, arena().judges.host(row.name) or NOTHING, row.problem)
        for row in known
    ]
    grid(("Judge", "Kind", "Model", "Endpoint", "Problem"), rows)
    names = [row.name for row in known if not row.problem]
    heading("Test a judge", anchor="test")
    note("Judges three demo battles in both orders: six requests if the judge uses an LLM.")
    show_flash(PLACE)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox("Judge", names)
        sent = st.button("Test", type="primary", icon=":material/experiment:")
    if sent and name:
        done = f"Test of {name} queued."
        attempt(lambda: arena().jobs.test_judge(name, caller=caller), done, PLACE)
    refreshing(show_newest)
    heading("Calibration", anchor="calibration")
    number = _choose_calibration(caller)
    if number is not None:
        refreshing(show_calibration, number)
    _calibrate(names, caller)


def show_newest() -> None:
    """Show the newest test: waiting, running or finished."""
    caller = organiser()
    status = next(iter(arena().jobs.recent(JobKind.JUDGE_TEST)), None)
    if status is None:
        note("No judge has been tested yet.")
        return
    job = status.job
    heading(f"Test {job.id} of {job.payload['judge']}", anchor="result")
    if show_work(status, caller, PLACE):
        return
    if job.result is None:
        st.error(job.error)
    else:
        _show_result(job.result)


def _show_result(result: Mapping[str, Any]) -> None:
    (st.success if result["passed"] else st.warning)(result["sentence"])
    strip(
        [
            ("requests", f"{result['calls']:,}"),
            ("cost", usd(result["cost_usd"])),
            ("time per reply", span(result["latency"])),
            ("models", ", ".join(result["models"]) or NOTHING),
        ]
    )
    for number, battle in enumerate(result["battles"], 1):
        with st.expander(f"Battle {number}: {battle['preference'] or battle['outcome']}"):
            st.text(f"{battle['question']}\n\nA: {battle['answer_a']}\n\nB: {battle['answer_b']}")
            for judgment in battle["judgments"]:
                verdict = judgment["preference"] or judgment["outcome"]
                note(f"{judgment['judge']}, order {judgment['presentation']}: {verdict}")
                texts = [judgment["detail"], *(reply["text"] for reply in judgment["replies"])]
                st.text("\n".join(texts).strip())


def calibration_title(job: Job) -> str:
    """Return the title of a calibration."""
    return f"{job.id}: {', '.join(job.payload['judges'])}, {format_time(job.created_at)}"


def _choose_calibration(caller: Caller) -> int | None:
    jobs = {calibration.job.id: calibration.job for calibration in arena().calibrations.all(caller=caller)}
    if not jobs:
        note("No judge has been calibrated yet.")
        return None
    wanted = st.query_params.get("job", "")
    place = list(jobs).index(int(wanted)) if wanted.isdecimal() and int(wanted) in jobs else 0
    titles = {number: calibration_title(job) for number, job in jobs.items()}
    return int(st.selectbox("Calibration", list(jobs), place, format_func=titles.__getitem__))


def show_calibration(number: int) -> None:
    """Show a calibration: waiting, running or finished."""
    status = arena().calibrations.get(number, caller=organiser())
    job = status.job
    show_flash(CALIBRATION)
    show_work(status, organiser(), CALIBRATION)
    note(f"Spending: {cap_label(job.payload.get('budget_usd'))}.")
    if job.result is None:
        st.text(job.error)
        return
    reports = job.result["reports"]
    rows = [(label, *(_estimate(report, name) for report in reports)) for name, label in MEASURES.items()]
    rows.append(("Verdict changed with the order", *(percent(report["flip_rate"]) for report in reports)))
    counts = (f"{report['unreadable']} of {report['pairs']}" for report in reports)
    rows.append(("Pairs without a verdict", *counts))
    domains = sorted({domain for report in reports for domain in report["by_domain"]})
    for domain in domains if len(domains) > 1 else ():
        shares = ((report["by_domain"].get(domain) or {}).get("accuracy") for report in reports)
        rows.append((f"Accuracy in {domain or NOTHING}", *map(percent, shares)))
    names = [report["judge"] for report in reports]
    grid(("Measure", *names), rows, caption="Judges side by side, with 95 % intervals in brackets")


def _estimate(report: Mapping[str, Any], name: str) -> str:
    form = (
        percent
        if name in {"accuracy", "decisive_accuracy", "tie_rate"}
        else lambda value: or_dash(value, ".2f").replace("-", "−")
    )
    bounds = report["intervals"].get(name)
    figure = form(report[name])
    return figure if not bounds else f"{figure} ({form(bounds[0])} to {form(bounds[1])})"


def _calibrate(names: list[str], caller: Caller) -> None:
    show_flash("new")
    note("Labels as CSV or JSON, or an export from Label Studio or Argilla.")
    with st.form("calibrate", border=False):
        file = choose_file("Labels", key="labels-file", types=("jsonl", "json", "csv", "gz"), max_mb=MAX_MB)
        judges = st.multiselect("Judges", names, ["lexical"])
        cap = st.number_input("Cap in USD", 0.0, value=5.0)
        sent = st.form_submit_button("Calibrate", type="primary", icon=":material/balance:")
    if not sent or file is None:
        return

    def start() -> None:
        with on_disk(file, max_mb=MAX_MB) as path:
            job = arena().calibrations.start(path, judges, budget_usd=cap, caller=caller)
        st.query_params["job"] = str(job.id)

    attempt(start, "Calibration queued.", "new")
