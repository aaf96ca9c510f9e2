"""What a team sees first: what waits for it, what is being judged, its quota, reports and subscriptions."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from arena.services.accounts.auth import Caller, may
from arena.services.submissions.eligibility import Quota
from arena.services.submissions.views import SubmissionLine
from arena.site.services import arena
from arena.site.ui.components import note, strip
from arena.site.ui.formats import format_time
from arena.site.ui.markup import Child, element, put
from arena.site.ui.tables import anchor, in_line, words_table
from data.records import SubmissionState, TokenScope

MOST_REPORTS = 3
NO_LIMIT = "no limit"


def show_summary(team: str, caller: Caller) -> None:
    """Show where the team stands, with links to what it can do next."""
    lines = arena().submissions.find(team=team, caller=caller)[::-1]
    subscriptions = arena().subscriptions.all(team=team, caller=caller)
    queued = [line for line in lines if line.status.state is SubmissionState.QUEUED]
    reports = [line for line in lines if line.status.state is SubmissionState.PUBLISHED]
    strip(
        [
            ("submissions", f"{len(lines):,}"),
            ("waiting to be judged, or being judged", f"{len(queued):,}"),
            ("with a report", f"{len(reports):,}"),
            ("subscriptions to events", f"{len(subscriptions):,}"),
        ]
    )
    written = arena().references.open_to(caller)
    tasks = [anchor(f"Write references of {task.name}", "references", task=task.name) for task in written]
    tasks += [*_unsubmitted(lines), *_queued(queued), *_reports(reports)]
    if not subscriptions:
        told = "Subscribe to events, such as being judged"
        tasks.append(anchor(told, "team", team=team, part="notifications"))
    if tasks:
        put(element("ul", *(element("li", task) for task in tasks), class_="aa-changed"))
    if may(caller, TokenScope.SUBMIT, team=team):
        _show_quotas(team, lines, caller)


def _unsubmitted(lines: Sequence[SubmissionLine]) -> list[Element]:
    """Links to what passed the check and was not submitted."""
    return [
        anchor(
            f"Submit {_name(line)}: it passed the check and does not count yet",
            "team",
            team=line.submission.team,
            id=str(line.submission.id),
        )
        for line in lines
        if line.status.state is SubmissionState.CHECKED
    ]


def _queued(lines: Sequence[SubmissionLine]) -> list[Element]:
    """Which rounds have a submission that waits, and when they should be done."""
    told = []
    for line in lines:
        status = line.status
        place = "" if status.position is None else f", place {status.position} in the queue"
        done = "" if status.eta is None else f", judged by about {format_time(status.eta)}"
        rounds = ", ".join(status.rounds)
        told.append(element("span", f"{_name(line)} is in the round {rounds}{place}{done}."))
    return told


def _reports(lines: Sequence[SubmissionLine]) -> list[Element]:
    """Links to the newest reports, in one line."""
    links = [anchor(_name(line), "report", id=str(line.submission.id)) for line in lines[:MOST_REPORTS]]
    return [element("span", "Newest reports: ", *in_line(links))] if links else []


def _show_quotas(team: str, lines: Sequence[SubmissionLine], caller: Caller) -> None:
    """What is left of the quota for each set that the team submitted to, and for those that are open."""
    entered = {line.submission.set_name for line in lines}
    rows = []
    for summary in arena().sets.summaries():
        quota = arena().submissions.quota(summary.name, team, caller=caller)
        if quota.phase is not None or summary.name in entered:
            link = anchor(summary.title or summary.name, "submit", set=summary.name, team=team)
            rows.append((link, *_quota(quota)))
    if rows:
        header = ("Question set", "Open until", "Left today (UTC)", "Left in the phase")
        put(words_table(header, rows, caption="What the team may still submit", wrap="aa-scroll"))
    else:
        note("No question set takes submissions now.")


def _quota(quota: Quota) -> tuple[Child, ...]:
    phase = quota.phase
    if phase is None:
        return ("closed now", "0", "0")
    until = "no deadline" if phase.closes_at is None else format_time(phase.closes_at)
    return (until, _left(quota.left_today, phase.daily_quota), _left(quota.left, phase.total_quota))


def _left(left: int | None, limit: int | None) -> str:
    return NO_LIMIT if left is None else f"{left:,} of {limit:,}"


def _name(line: SubmissionLine) -> str:
    return f"{line.submission.system}, version {line.submission.version}"
