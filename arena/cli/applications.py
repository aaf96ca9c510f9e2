"""`arena teams applications`: people who apply for a team, and what the organisers decide."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from arena.cli.options import LARGEST_NUMBER, AsJson
from arena.cli.output import note, show_result, show_rows
from arena.container import open_arena
from arena.services.accounts.auth import OPERATOR
from data.records.applications import Application, ApplicationState

commands = typer.Typer(
    help="Applications for teams; docs/organisers.md has the whole way.", no_args_is_help=True
)

Number = Annotated[int, typer.Argument(metavar="ID", max=LARGEST_NUMBER, help="Number of the application.")]


@commands.command("list")
def list_(
    state: Annotated[
        ApplicationState | None, typer.Option("--state", help="Only applications in this state.")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
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


@commands.command()
def approve(
    number: Number,
    account: Annotated[
        str,
        typer.Option(
            "--account",
            metavar="ACCOUNT",
            show_default="the team's name",
            help="Name of its owner's account.",
        ),
    ] = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Approve an application: make the team and its owner's account.

    Who applied by mail is sent a link that shows the first token, once. Approving again sends another link,
    as long as the token was not fetched.
    """
    approved = open_arena().applications.approve(number, account=account, caller=OPERATOR)
    line = f"Team {approved.team} is made; its owner is the account {approved.account}."
    show_result(_json(approved), line, as_json=as_json)


@commands.command()
def reject(
    number: Number,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; the applicant sees it.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Reject an application."""
    rejected = open_arena().applications.reject(number, reason, caller=OPERATOR)
    show_result(_json(rejected), f"The application for {rejected.team} is rejected.", as_json=as_json)


def _json(application: Application) -> dict[str, Any]:
    from arena.schemas import ApplicationLine

    return ApplicationLine.of(application).to_json()
