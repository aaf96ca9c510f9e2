"""Organisers' overview: waiting submissions, and rounds under way."""

from arena.formats import format_time, span
from arena.models.submissions import WaitingSubmission
from arena.services.rounds.models import RoundProgress
from arena.site.admin.common import NOTHING, cap_label, grid, organiser, refreshing, usd
from arena.site.admin.round_form import SET_PARAMETER, SYSTEMS_PARAMETER
from arena.site.auth import show_visitor
from arena.site.services import arena
from arena.site.ui.html import Child, anchor, heading, lead, note, page_heading, paragraph, subheading
from data.text import counted


def show() -> None:
    """Show waiting submissions and rounds under way."""
    page_heading("Overview")
    if not show_visitor("organise").signed_in:
        return
    caller = organiser()
    inboxes = arena().inbox.waiting(caller=caller)
    lead("Submissions waiting for you, and rounds in progress.")
    heading(f"Waiting for you: {sum(len(inbox.waiting) for inbox in inboxes):,}", anchor="waiting")
    for inbox in inboxes:
        subheading(f"Submissions to {inbox.title}", anchor=inbox.set)
        if inbox.plannable:
            query = {SET_PARAMETER: inbox.set, SYSTEMS_PARAMETER: ",".join(inbox.plannable)}
            text = f"Plan a round of {counted(len(inbox.plannable), 'system')}"
            paragraph(anchor(text, "admin-rounds", **query))
        grid(("System", "Waiting for", "Team", "Since", "Submission"), map(_row, inbox.waiting))
    if not inboxes:
        note("Nothing is waiting: every submission is on a board.")
    heading("Rounds under way", anchor="rounds")
    paragraph(anchor("Plan a round", "admin-rounds"), " (the cost is shown first).")
    refreshing(_rounds)


def _row(row: WaitingSubmission) -> tuple[Child, ...]:
    texts = " ".join([*(block.text for block in row.blocks), *(f"Warning: {text}" for text in row.warnings)])
    name = f"{row.system}, version {row.version}"
    return (name, texts, row.team or NOTHING, format_time(row.since), str(row.submission))


def _rounds() -> None:
    rounds = arena().rounds.under_way(caller=organiser())
    if not rounds:
        note("No round is planned, running or waiting to be published.")
        return
    grid(("Round", "State", "Battles", "Charged", "Time left"), map(_progress, rounds))


def _progress(progress: RoundProgress) -> tuple[Child, ...]:
    round_, counts = progress.round, progress.counts
    return (
        anchor(round_.name, "admin-rounds", round=round_.name),
        round_.state.value,
        progress.sentence,
        f"{usd(counts.cost_usd)}, {cap_label(round_.budget_usd)}",
        span(progress.seconds_left),
    )
