"""`arena teams applications`: people who apply for a team, and what the organisers decide."""

from __future__ import annotations

from typing import Any

from arena.cli.output import note, show_result, show_rows
from arena.container import open_arena
from arena.services.accounts.auth import OPERATOR
from data.records.applications import Application, ApplicationState


def show_all(state: ApplicationState | None, *, as_json: bool) -> None:
    """List the applications, oldest first, and count them by state."""
    service = open_arena().applications
    applications = service.all(state, caller=OPERATOR)
    rows = [
        (
            str(each.id),
            each.state,
            each.team,
            each.title,
            f"{each.channel}: {each.address}" if each.address else each.channel,
            each.reason,
            f"{each.created_at:%Y-%m-%d %H:%M}",
            each.decision,
        )
        for each in applications
    ]
    headers = ("id", "state", "team", "title", "who", "why they apply", "since (UTC)", "why rejected")
    show_rows([_json(each) for each in applications], headers, rows, as_json=as_json, empty="There are none.")
    counts = service.counts(caller=OPERATOR)
    note(", ".join(f"{count:,} {word}" for word, count in counts.items()) + ".")


def approve(number: int, account: str, *, as_json: bool) -> None:
    """Approve an application."""
    approved = open_arena().applications.approve(number, account=account, caller=OPERATOR)
    line = f"Team {approved.team} is made; its owner is the account {approved.account}."
    show_result(_json(approved), line, as_json=as_json)


def reject(number: int, reason: str, *, as_json: bool) -> None:
    """Reject an application."""
    rejected = open_arena().applications.reject(number, reason, caller=OPERATOR)
    show_result(_json(rejected), f"The application for {rejected.team} is rejected.", as_json=as_json)


def _json(application: Application) -> dict[str, Any]:
    from arena.schemas import ApplicationLine

    return ApplicationLine.of(application).to_json()
