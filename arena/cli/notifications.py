"""`arena notifications`: who is notified of which events, and what became of each message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import LARGEST_NUMBER, AsJson
from arena.cli.output import note, show_json, show_line, show_result, show_rows
from arena.container import open_arena
from arena.services.accounts.auth import OPERATOR
from data.errors import UnavailableError
from data.records.notifications import Delivery, DeliveryState, EventKind

if TYPE_CHECKING:
    from arena.services.notifications.subscriptions import SubscriptionView

commands = typer.Typer(
    help="Webhooks, Slack and mail: who is notified of which events; docs/operations.md has the events.",
    no_args_is_help=True,
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
    """Add a subscription, and print the secret that its webhooks are signed with.

    The secret is not shown again.
    """
    created = open_arena().subscriptions.add(
        name, address, team=team or "", kinds=event or (), caller=OPERATOR
    )
    line = _json(created.subscription)
    if as_json:
        show_json({**line, "secret": created.secret or None})
        return
    note(f"Subscription {created.subscription.id} is added: {created.subscription.place}")
    if created.secret:
        note("Keep this secret: it is not shown again.")
        show_line(created.secret)


@commands.command("list")
def list_(team: TeamName = None, *, as_json: AsJson = False) -> None:
    """List the subscriptions, without their secrets."""
    listed = open_arena().subscriptions.all(team=team, caller=OPERATOR)
    show_rows(
        [_json(row) for row in listed],
        ("id", "name", "team", "by", "to", "events"),
        [
            (str(row.id), row.name, row.team, row.channel, row.place, " ".join(row.kinds) or "all")
            for row in listed
        ],
        as_json=as_json,
        empty="There are no subscriptions. Add a subscription with `arena notifications add ADDRESS`.",
    )


@commands.command("test")
def send_test(number: Number, *, as_json: AsJson = False) -> None:
    """Send a test message now; exit 1 if it does not arrive."""
    sent = open_arena().subscriptions.send_test(number, caller=OPERATOR)
    if sent.state is not DeliveryState.DELIVERED:
        raise UnavailableError(
            f"The test message did not arrive: {sent.error}.",
            advice="Workers try again; `arena notifications deliveries` shows when.",
        )
    show_result(_json(sent), f"Subscription {number} took the test message.", as_json=as_json)


@commands.command()
def remove(number: Number, *, as_json: AsJson = False) -> None:
    """Remove a subscription with the log of its deliveries; what waits is not sent."""
    removed = open_arena().subscriptions.remove(number, caller=OPERATOR)
    show_result(_json(removed), f"Subscription {number} ({removed.name}) is removed.", as_json=as_json)


@commands.command()
def deliveries(
    team: TeamName = None,
    subscription: Annotated[
        int | None,
        typer.Option(
            "--subscription", metavar="ID", max=LARGEST_NUMBER, help="Only those of this subscription."
        ),
    ] = None,
    state: Annotated[DeliveryState | None, typer.Option("--state", help="Only those in this state.")] = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, max=1000, help="Most deliveries to show.")
    ] = 100,
    *,
    as_json: AsJson = False,
) -> None:
    """Show what was sent, or waits to be, newest first."""
    listed = open_arena().subscriptions.deliveries(
        team=team, subscription=subscription, state=state, limit=limit, caller=OPERATOR
    )
    show_rows(
        [_json(row) for row in listed],
        ("id", "event", "when (UTC)", "to", "state", "attempts", "HTTP", "next try in", "why"),
        [
            (
                *(str(row.id), row.kind, f"{row.at:%Y-%m-%d %H:%M:%S}", row.subscription, row.state),
                row.attempts,
                None if row.status is None else str(row.status),
                None if row.wait is None else f"{row.wait:.0f} s",
                row.error,
            )
            for row in listed
        ],
        as_json=as_json,
        empty="Nothing was sent, and nothing waits.",
    )


@commands.command()
def retry(
    numbers: Annotated[
        list[int] | None, typer.Argument(metavar="DELIVERY", help="Numbers of dead deliveries.")
    ] = None,
    dead: Annotated[bool, typer.Option("--dead", help="All dead deliveries.")] = False,
    *,
    as_json: AsJson = False,
) -> None:
    """Let dead deliveries be sent again by the next worker."""
    if bool(numbers) == dead:
        raise typer.BadParameter("Name deliveries, or give --dead.", param_hint="DELIVERY")
    service = open_arena().subscriptions
    count = service.retry_dead(caller=OPERATOR) if dead else service.retry(numbers or [], caller=OPERATOR)
    show_result({"again": count}, f"{count:,} deliveries will be sent again.", as_json=as_json)


def _json(record: Delivery | SubscriptionView) -> dict[str, Any]:
    from arena.schemas import DeliveryLine, SubscriptionLine

    line = DeliveryLine if isinstance(record, Delivery) else SubscriptionLine
    return line.of(record).to_json()
