"""A team's submissions, with their status and actions."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import streamlit as st

from arena.formats import format_time, ordinal, title_of
from arena.models.submissions import Retraction, SubmissionDetails, SubmissionStatus
from arena.services.accounts.auth import Caller, may
from arena.services.accounts.visibility import Visibility
from arena.site.services import arena
from arena.site.ui import html
from arena.site.ui.messages import attempt, confirmed, show_flash
from arena.site.ui.url_state import choose_one
from data.models import SubmissionKind, SubmissionState, TokenScope
from data.text import percent

CHOSEN = "submission"


def show_actions(submission: SubmissionStatus, caller: Caller) -> None:
    """Offer what the submission's state allows; the services decide."""
    show_flash(CHOSEN)
    if submission.state is SubmissionState.WITHDRAWN:
        return
    if submission.state is SubmissionState.CHECKED:
        if st.button("Submit it now", type="primary", key=f"confirm-{submission.id}"):
            done = f"Submission {submission.id} is accepted."
            attempt(lambda: arena().submissions.confirm(submission.id, caller=caller), done, CHOSEN)
    elif submission.selected:
        html.note("This version is chosen for future rounds.")
    elif st.button(
        "Choose this version for the board",
        key=f"select-{submission.id}",
        help="Future rounds use this version. Without a choice they use the newest.",
    ):
        done = f"Version {submission.version} of {submission.system} is used in future rounds."
        attempt(lambda: arena().submissions.select(submission.id, caller=caller), done, CHOSEN)
    with st.expander("Withdraw it", icon=":material/delete:"):
        _withdraw(submission, caller)


def _withdraw(submission: SubmissionStatus, caller: Caller) -> None:
    if not submission.attempt:
        html.note("If judging has not begun, this does not count as an attempt.")
    reason = st.text_input("Reason (readers see it)", key=f"reason-{submission.id}", max_chars=500)
    html.note(f"Withdraw version {submission.version} of {submission.system}:")
    sure = "Yes, withdraw it; this cannot be undone"
    if confirmed("Withdraw", sure, icon="delete", key=f"withdraw-{submission.id}"):
        done = f"Submission {submission.id} is withdrawn."
        attempt(
            lambda: arena().submissions.withdraw(submission.id, reason=reason, caller=caller), done, CHOSEN
        )


NEXT: Mapping[SubmissionState, str] = {
    SubmissionState.CHECKED: "Checked and stored, but not submitted yet. Submit it below.",
    SubmissionState.ACCEPTED: "Accepted. Next, the organisers plan a round with it.",
    SubmissionState.QUEUED: "Waiting to be judged, or being judged now.",
    SubmissionState.JUDGED: "Judged. Next, the organisers publish the board.",
    SubmissionState.PUBLISHED: "On a published board. The system's page shows where it loses.",
    SubmissionState.WITHDRAWN: "Withdrawn: its texts are hidden; this entry stays.",
}
REFRESH_EVERY = "5s"
JUDGED = (SubmissionState.PUBLISHED, SubmissionState.JUDGED)


def show_submissions(team: str, caller: Caller) -> None:
    """List the team's submissions, and show the selected one with its actions."""
    lines = _lines(team, caller)
    if not lines:
        html.note("Nothing has been submitted yet. Try the sample file: it takes a minute.")
        html.paragraph(
            html.Cell("Submit an answer file", href=html.link("submit", team=team), class_="aa-button")
        )
        return
    waits = any(line.state is SubmissionState.QUEUED for line in lines)
    st.fragment(_show_table, run_every=REFRESH_EVERY if waits else None)(team, caller)
    titles = {str(line.id): title_of(line) for line in lines}
    number = choose_one("id", "Submission", titles)
    _show_one(arena().submissions.view(int(number), caller=caller), caller)


def _lines(team: str, caller: Caller) -> Sequence[SubmissionStatus]:
    lines = arena().submissions.find(team=team, caller=caller)
    return sorted(lines, key=lambda line: line.id, reverse=True)


def _show_table(team: str, caller: Caller) -> None:
    header = (
        ("System", "aa-left"),
        ("State", "aa-left"),
        ("Board", "aa-left"),
        ("Queue", ""),
        ("Expected by", "aa-second"),
        ("Attempt", "aa-left aa-second"),
        ("Submitted", "aa-second"),
    )
    lines = _lines(team, caller)
    html.put("table", header, [_row(line) for line in lines], id="submissions")


def _row(submission: SubmissionStatus) -> tuple[html.Child, ...]:
    flags = {
        "contexts": submission.kind is SubmissionKind.CONTEXTS,
        "chosen": submission.selected,
        "anonymous": submission.anonymous and not submission.published,
        "board retracted": bool(submission.retracted),
    }
    board = next(iter(reversed(submission.rounds)), "") if submission.published else ""
    return (
        html.Cell(
            submission.system,
            href=html.link("team", team=submission.team, id=str(submission.id)),
            flags=[text for text, is_so in flags.items() if is_so],
            sub=f"version {submission.version} · {submission.set_name} · submission {submission.id}",
        ),
        html.Cell(submission.state.value, class_=f"aa-state aa-state-{submission.state.value}"),
        html.anchor(board, "system", board=board, id=submission.system) if board else "",
        queue_of(submission),
        format_time(submission.eta if waits(submission) else None),
        attempt_of(submission),
        format_time(submission.created_at),
    )


def _show_one(submission: SubmissionDetails, caller: Caller) -> None:
    html.subheading(f"{submission.system}, version {submission.version}", anchor="submission")
    html.note(next_of(submission))
    waiting = waits(submission)
    done = format_time(submission.eta) if submission.eta else "known once judging begins"
    html.strip(
        (
            ("state", submission.state.value),
            *((("place in the queue", queue_of(submission)), ("expected by", done)) if waiting else ()),
            ("attempt", attempt_of(submission)),
            ("counts against the quota", "yes" if submission.charged else "no"),
            ("answers", f"{submission.answers:,}"),
        )
    )
    if may(caller, TokenScope.SUBMIT, team=submission.team):
        show_actions(submission, caller)
    if submission.visibility == Visibility.FULL:
        with st.expander("Coverage and card", icon=":material/pie_chart:"):
            rows = [
                (domain, percent(share), percent(submission.no_answer_share.get(domain)))
                for domain, share in submission.coverage.items()
            ]
            html.put_html(html.figures_table(("Domain", "Answered", "Declined"), rows))
            written = {name: text for name, text in asdict(submission.card).items() if text}
            st.text(
                "\n".join(f"{name}: {text}" for name, text in written.items()) or "There is no system card."
            )


def waits(status: SubmissionStatus) -> bool:
    """Check if a submission waits for its first verdicts."""
    return status.position is not None and status.state not in JUDGED


def queue_of(status: SubmissionStatus) -> str:
    """Return the place in the queue; a dash outside of it."""
    return f"{status.position}" if waits(status) else "–"


def attempt_of(status: SubmissionStatus) -> str:
    """Describe a submission's number among the judged versions of its system."""
    if status.attempt is None:
        others = "1 other was" if status.attempts == 1 else f"{status.attempts} others were"
        return f"not judged ({others})" if status.attempts else "not judged"
    return (
        f"{ordinal(status.attempt)} of {status.attempts} judged version{'s' if status.attempts > 1 else ''}"
    )


def next_of(submission: SubmissionStatus) -> str:
    """Describe the next step of a submission, in a sentence."""
    if submission.state is SubmissionState.JUDGED and submission.retracted:
        return " ".join(map(_retraction, submission.retracted))
    if submission.state is SubmissionState.WITHDRAWN and submission.withdrawn_reason:
        return f"{NEXT[submission.state]} Reason: {submission.withdrawn_reason}"
    if submission.state is SubmissionState.ACCEPTED and submission.kind is SubmissionKind.CONTEXTS:
        return "Accepted. Its scores are on the Retrieval page; it is not judged."
    return NEXT[submission.state]


def _retraction(retraction: Retraction) -> str:
    notice = retraction.notice
    reason = f"Notice from the organisers: {notice}" if notice else "No reason was given."
    return f"Judged, and published on the board {retraction.board}, which was retracted. {reason}"
