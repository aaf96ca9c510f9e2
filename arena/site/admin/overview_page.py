"""The organisers' first page: what waits, rounds under way, calibrations, people, and the end of the log."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from arena.services.organisers.inbox import SetInbox, WaitingSubmission
from arena.services.organisers.overview import Overview, RoundProgress
from arena.site.admin.calibration_page import calibration_title
from arena.site.admin.common import EVERY, NOTHING, capped, duration, grid, organiser, usd, watched
from arena.site.admin.round_form import NEW_SET, NEW_SYSTEMS
from arena.site.auth import show_visitor
from arena.site.services import arena
from arena.site.ui.components import heading, lead, note, page_heading, strip, subheading
from arena.site.ui.formats import format_time
from arena.site.ui.markup import Child, element, put
from arena.site.ui.tables import anchor, in_line
from data.percent import percent
from data.records import RoundState

NEXT = {
    RoundState.PLANNED: "Launch or watch it",
    RoundState.RUNNING: "Watch it",
    RoundState.PAUSED: "Resume it",
    RoundState.FINISHED: "Preview and publish its board",
}


def show() -> None:
    """Show how things stand."""
    page_heading("Overview")
    if not show_visitor("organise").signed_in:
        return
    caller = organiser()
    overview = arena().overview.look(caller=caller)
    lead("What waits for you, what is being judged, and what happened last.")
    _waiting(overview)
    moving = any(progress.moving for progress in arena().overview.rounds(caller=caller))
    heading("Rounds under way", anchor="rounds")
    put(element("p", anchor("Plan a round", "admin-rounds"), ": its cost is shown first."))
    watched(_rounds, every=EVERY if moving else None)
    _calibrations(overview)
    heading("People", anchor="people")
    strip(
        [
            ("accounts", f"{overview.accounts:,}"),
            ("teams", f"{overview.teams:,}"),
        ]
    )
    _links(("Accounts, teams and tokens", "admin-people"))


def _waiting(overview: Overview) -> None:
    heading(f"Waiting for you: {overview.waiting:,}", anchor="waiting")
    for inbox in overview.inboxes:
        _show_set(inbox)
    if not overview.waiting and not overview.inboxes:
        note("Nothing waits: every submission is on a board.")


def _show_set(inbox: SetInbox) -> None:
    """The submissions to a set that are on no board yet, with what each waits for."""
    subheading(f"Submissions to {inbox.title}", anchor=inbox.set_name)
    _offer_round(inbox)
    waiting = [row for row in inbox.waiting if not row.over]
    if waiting:
        _table(waiting)
    over = [row for row in inbox.waiting if row.over]
    if over:
        with st.expander(f"Not to be judged: {len(over):,}"):
            _table(over)


def _offer_round(inbox: SetInbox) -> None:
    """A link to the form of a new round, filled in with what no round has."""
    if not inbox.plannable:
        return
    systems = ",".join(inbox.plannable)
    count = len(inbox.plannable)
    text = f"Plan a round of {'this system' if count == 1 else f'these {count:,} systems'}"
    query = {NEW_SET: inbox.set_name, NEW_SYSTEMS: systems}
    put(element("p", anchor(text, "admin-rounds", **query)))


def _table(rows: Sequence[WaitingSubmission]) -> None:
    grid(("System", "Waits for", "Team", "Since", "Submission"), [_row(row) for row in rows])


def _row(row: WaitingSubmission) -> tuple[Child, ...]:
    submission = row.submission
    since = submission.submitted_at or submission.created_at
    texts = " ".join([*(block.text for block in row.blocks), *(f"Warning: {each}" for each in row.warnings)])
    rounds = dict.fromkeys(block.round for block in row.blocks if block.round)
    links = [anchor(f"Open {name}", "admin-rounds", round=name) for name in rounds]
    told = element("span", f"{texts} ", *links) if links else texts
    name = f"{submission.system}, version {submission.version}"
    return (name, told, submission.team or NOTHING, format_time(since), str(submission.id))


def _rounds() -> None:
    """Each round that is not published, with how far it is."""
    rounds = arena().overview.rounds(caller=organiser())
    if not rounds:
        note("No round is planned, running or waiting to be published.")
        return
    grid(("Round", "State", "Judged", "Charged", "Time left", "Next"), map(_progress, rounds))


def _progress(progress: RoundProgress) -> tuple[Child, ...]:
    round_, counts = progress.round, progress.counts
    return (
        anchor(round_.name, "admin-rounds", round=round_.name),
        round_.state.value,
        f"{percent(progress.share, decimals=0)} of {counts.planned:,} battles",
        f"{usd(counts.cost_usd)}, {capped(round_.budget_usd)}",
        duration(progress.seconds_left),
        anchor(NEXT[round_.state], "admin-rounds", round=round_.name),
    )


def _calibrations(overview: Overview) -> None:
    heading("Calibrations", anchor="calibrations")
    rows = [
        (
            anchor(calibration_title(status.job), "admin-calibration", job=str(status.job.id)),
            status.job.state.value,
        )
        for status in overview.calibrations
    ]
    if rows:
        grid(("Calibration", "State"), rows)
    else:
        note("No judge has been calibrated against people's labels yet.")
    _links(("Calibrate a judge", "admin-calibration"))


def _links(*links: tuple[str, str]) -> None:
    put(element("p", *in_line(anchor(text, page) for text, page in links)))
