"""`arena notifications`: who is notified of which events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import LARGEST_NUMBER, AsJson, Yes, ask
from arena.cli.output import show_result, show_rows
from arena.cli.tree.pages import Commands
from arena.container import open_arena
from arena.services.accounts.auth import OPERATOR
from data.records.irreversible import Irreversible
from data.records.notifications import EventKind

if TYPE_CHECKING:
    from data.records.notifications import Subscription

commands = Commands(
    "Webhooks, Slack and mail: who is notified of which events; docs/operations.md has the events."
)
Number = Annotated[int, typer.Argument(metavar="ID", max=LARGEST_NUMBER, help="Number of the subscription.")]
TeamName = Annotated[
    str | None,
    typer.Option(
        "--team", metavar="TEAM", show_default="the whole arena", help="Only what concerns this team."
    ),
]


@commands.command()
def add(
    address: Annotated[
        str,
        typer.Argument(
            metavar="ADDRESS",
            help="`https://…` of a webhook; `slack://…` or `mailtos://…` as in apprise.",
        ),
    ],
    name: Annotated[
        str, typer.Option("--name", metavar="LABEL", help="A label that says who is notified.")
    ] = "notifications",
    team: TeamName = None,
    event: Annotated[
        list[EventKind] | None,
        typer.Option("--event", show_default="every event", help="Only this event; repeatable."),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Add a subscription.

    $ arena notifications add https://example.org/hook --event board.published
    """
    added = open_arena().subscriptions.add(name, address, team=team or "", kinds=event or (), caller=OPERATOR)
    show_result(_json(added), f"Subscription {added.id} is added: {added.place}", as_json=as_json)


@commands.command("list")
def list_(team: TeamName = None, *, as_json: AsJson = False) -> None:
    """List the subscriptions with what arrived and what failed, without what is secret in their addresses.

    $ arena notifications list
    """
    listed = open_arena().subscriptions.all(team=team, caller=OPERATOR)
    show_rows(
        [_json(row) for row in listed],
        ("id", "name", "team", "by", "to", "events", "delivered", "failed", "when (UTC)", "why"),
        [
            (
                *(str(row.id), row.name, row.team, row.channel, row.place, " ".join(row.kinds) or "all"),
                *(row.delivered, row.failed, f"{row.failed_at:%Y-%m-%d %H:%M}" if row.failed_at else None),
                row.error,
            )
            for row in listed
        ],
        as_json=as_json,
        empty="There are no subscriptions. Add a subscription with `arena notifications add ADDRESS`.",
    )


@commands.command("test")
def send_test(number: Number, *, as_json: AsJson = False) -> None:
    """Send a test message now; exit 1 if it does not arrive.

    $ arena notifications test 2
    """
    sent = open_arena().subscriptions.send_test(number, caller=OPERATOR)
    show_result(_json(sent), f"Subscription {number} took the test message.", as_json=as_json)


@commands.command()
def remove(number: Number, *, yes: Yes = False, as_json: AsJson = False) -> None:
    """Remove a subscription; what waits is not sent.

    $ arena notifications remove 2 --yes
    """
    ask(Irreversible.REMOVE_SUBSCRIPTION, yes=yes)
    removed = open_arena().subscriptions.remove(number, caller=OPERATOR)
    show_result(_json(removed), f"Subscription {number} ({removed.name}) is removed.", as_json=as_json)


def _json(record: Subscription) -> dict[str, Any]:
    from arena.schemas import SubscriptionLine

    return SubscriptionLine.of(record).to_json()
