"""Upload and check of a file: every problem with its line and advice."""

from dataclasses import dataclass
from functools import partial

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from arena.services.accounts.auth import Caller, require
from arena.services.submissions.uploads import FairQueue, party_of
from arena.site.services import arena
from arena.site.teams.open_sets import OpenSet
from arena.site.ui.html import figures_table, heading, note, offer, put, put_html, strip
from arena.site.ui.messages import show_error, show_progress
from arena.site.ui.url_state import choose_segment
from arena.site.uploads import choose_file, on_disk
from data.errors import FileFormatError, UnavailableError
from data.models import Severity, SubmissionKind, TokenScope
from data.text import percent
from submissions.check import CheckReport, report_csv

MAX_PROBLEMS = 100
KINDS = {SubmissionKind.ANSWERS.value: "Answers", SubmissionKind.CONTEXTS.value: "Contexts only (a run)"}
CHECKED_AS = {SubmissionKind.ANSWERS: "answers", SubmissionKind.CONTEXTS: "questions with passages"}
CHECKED, TURN = "checked-file", "file-turn"
SYSTEM_NAME = "system-name"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedFile:
    """An uploaded file, and its check for this visitor and set."""

    key: tuple[str, str, str, str]
    file: UploadedFile
    result: CheckReport


def take_file(open_set: OpenSet, caller: Caller) -> CheckedFile | None:
    """Let the visitor upload a file, and check it; return None without a file."""
    heading("2. Drop your file", anchor="file")
    require(caller, TokenScope.SUBMIT)
    kind = SubmissionKind(choose_segment("kind", "Contents", KINDS))
    if kind is SubmissionKind.CONTEXTS:
        note("A TREC run, or JSONL or Parquet with context ids: scored on the Retrieval page, not judged.")
    upload = choose_file(
        f"File with {kind}",
        key=f"answers-{st.session_state.get(TURN, 0)}",
        advice="It is checked first; nothing is submitted until you confirm.",
    )
    if upload is None:
        st.session_state.pop(CHECKED, None)
        note("The file is only checked; nothing is submitted until you confirm.")
        return None
    key = (open_set.name, caller.name, upload.file_id, kind.value)
    checked: CheckedFile | None = st.session_state.get(CHECKED)
    if checked is None or checked.key != key:
        try:
            with st.spinner("Checking …"), _queue().slot(party_of(caller)), on_disk(upload) as path:
                checks = arena().submissions
                result = show_progress(
                    lambda poll: checks.check(path, open_set.name, kind=kind, caller=caller, poll=poll),
                    before="Reading the question set",
                )
        except (FileFormatError, UnavailableError) as error:
            show_error(error)
            return None
        checked = CheckedFile(key=key, file=upload, result=result)
        st.session_state[CHECKED] = checked
    return checked


def next_file() -> None:
    """Remove the file, to make room for another."""
    st.session_state.pop(CHECKED, None)
    st.session_state[TURN] = st.session_state.get(TURN, 0) + 1


def show_check(open_set: OpenSet, result: CheckReport) -> None:
    """Show the errors, warnings and coverage of the file."""
    heading("3. Results of the check", anchor="check")
    if result.accepted:
        st.success("This file can be submitted.", icon=":material/check_circle:")
    else:
        st.error("This file has errors. Fix them and upload it again.", icon=":material/error:")
    of_contexts = result.kind is SubmissionKind.CONTEXTS
    strip(
        (
            (CHECKED_AS[result.kind], f"{result.answers:,} of {result.questions:,}"),
            ("errors", f"{result.errors:,}"),
            ("warnings", f"{result.warnings:,}"),
            ("with texts" if of_contexts else "with contexts", f"{result.with_contexts:,}"),
            *(() if of_contexts else [("that decline", f"{result.no_answers:,}")]),
        )
    )
    if result.problems:
        _show_problems(result)
        name = f"{open_set.name}-check"
        with st.container(horizontal=True):
            offer(
                "Report, JSON", partial(result.model_dump_json, indent=2), f"{name}.json", "application/json"
            )
            offer("Report, CSV", partial(report_csv, result), f"{name}.csv", "text/csv")
    with st.expander("Coverage by domain", icon=":material/pie_chart:"):
        labels = open_set.summary.domains
        rows = [
            (labels.get(domain, domain), f"{open_set.summary.counts.get(domain, 0):,}", percent(share))
            for domain, share in result.coverage.items()
        ]
        put_html(figures_table(("Domain", "Questions", "Answered"), rows))
        note("A question without an answer counts as lost.")


def _show_problems(result: CheckReport) -> None:
    kinds = {
        "all": f"All ({result.errors + result.warnings:,})",
        Severity.ERROR.value: f"Errors ({result.errors:,})",
        Severity.WARNING.value: f"Warnings ({result.warnings:,})",
    }
    chosen = st.segmented_control(
        "Show", tuple(kinds), format_func=kinds.__getitem__, default="all", required=True, key="severity"
    )
    ordered = sorted(result.problems, key=lambda problem: problem.severity is not Severity.ERROR)
    problems = [problem for problem in ordered if chosen in {"all", problem.severity.value}]
    put("problems", problems[:MAX_PROBLEMS])
    if len(problems) > MAX_PROBLEMS:
        note(f"The first {MAX_PROBLEMS} of {len(problems):,}; the report has all of them.")


@st.cache_resource(show_spinner=False)
def _queue() -> FairQueue:
    return FairQueue()
