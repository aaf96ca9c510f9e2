"""Being told: subscriptions and the log of what was sent, for organisers and on the page of a team."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from arena.services.accounts.auth import Caller, may
from arena.services.notifications.subscriptions import SENDABLE, SubscriptionView
from arena.site.admin.common import NOTHING, attempt, duration, grid, organiser
from arena.site.services import arena
from arena.site.ui.components import heading, lead, note, page_heading
from arena.site.ui.done import show_done
from arena.site.ui.formats import format_time
from data.errors import UnavailableError
from data.records import TokenScope
from data.records.notifications import OF_SUBMISSIONS, Delivery, DeliveryState

SECRET = "notifications-secret"  # noqa: S105 - where a new secret waits to be shown, not one


def show() -> None:
    """Show organisers who is notified of which events."""
    caller = organiser()
    page_heading("Notifications")
    lead("What happens is sent as signed webhooks, to Slack, or by mail. No message holds a private text.")
    show_notifications("", caller)


def show_notifications(team: str, caller: Caller) -> None:
    """Show the subscriptions and deliveries of a team; for '', all of the arena."""
    show_done("subscriptions")
    secret = st.session_state.pop(SECRET, None)
    if secret:
        st.warning("Copy the secret now: it is not shown again.", icon=":material/key:")
        st.code(secret, language=None)
    subscriptions = arena().subscriptions.all(team=team or None, caller=caller)
    if subscriptions:
        grid(("Subscription", "Team", "By", "To", "Events"), [_row(row) for row in subscriptions])
    else:
        note("There are no subscriptions.")
    manages = may(caller, TokenScope.MANAGE if team else TokenScope.ORGANISE, team=team or None)
    if not manages:
        note("Owners add and remove subscriptions.")
    else:
        _change(subscriptions, caller)
        _add(team, caller)
    heading("Deliveries", anchor="deliveries")
    _deliveries(team, manages, caller)


def _row(row: SubscriptionView) -> tuple[str, ...]:
    events = ", ".join(row.kinds) or "all"
    return (f"{row.id}: {row.name}", row.team or NOTHING, row.channel.value, row.place, events)


def _add(team: str, caller: Caller) -> None:
    with st.expander("Add a subscription"), st.form("subscription", border=False, clear_on_submit=True):
        name = st.text_input("Name", max_chars=100, placeholder="CI, ops channel")
        others = "slack://…" if team else "slack://…, mailtos://…"
        address = st.text_input("Address", placeholder=f"https://…, {others}")
        kinds = st.multiselect(
            "Events",
            OF_SUBMISSIONS if team else SENDABLE,
            placeholder="All of them",
            format_func=lambda kind: kind.value,
        )
        sent = st.form_submit_button("Add", icon=":material/add_alert:")
    if not sent:
        return

    def add() -> None:
        created = arena().subscriptions.add(
            name.strip(), address.strip(), team=team, kinds=kinds, caller=caller
        )
        st.session_state[SECRET] = created.secret

    attempt(add, "The subscription is added.", "subscriptions")


def _change(subscriptions: Sequence[SubscriptionView], caller: Caller) -> None:
    names = {row.id: f"{row.id}: {row.name}" for row in subscriptions}
    if not names:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        number = st.selectbox("Subscription", list(names), format_func=names.__getitem__, width=240)
        if st.button("Send a test", icon=":material/send:"):
            attempt(lambda: _test(number, caller), "The test message arrived.", "subscriptions")
        sure = st.checkbox("Remove it with its log", key="notifications-sure")
        if st.button("Remove", disabled=not sure, icon=":material/delete:"):
            attempt(
                lambda: arena().subscriptions.remove(number, caller=caller),
                f"Subscription {number} is removed.",
                "subscriptions",
            )


def _test(number: int, caller: Caller) -> None:
    sent = arena().subscriptions.send_test(number, caller=caller)
    if sent.state is not DeliveryState.DELIVERED:
        raise UnavailableError(f"The test message did not arrive: {sent.error}.")


def _deliveries(team: str, manages: bool, caller: Caller) -> None:
    service = arena().subscriptions
    show_done("deliveries")
    rows = service.deliveries(team=team or None, caller=caller)
    if not rows:
        note("Nothing has been sent, and nothing waits.")
        return
    headings = ("Event", "When", "To", "State", "HTTP", "Next try in", "Why")
    grid(headings, [_line(row) for row in rows])
    dead = [row.id for row in rows if row.state is DeliveryState.DEAD]
    if manages and dead and st.button(f"Send {len(dead):,} dead ones again", icon=":material/replay:"):
        attempt(lambda: service.retry(dead, caller=caller), "They wait for a worker.", "deliveries")


def _line(row: Delivery) -> tuple[str, ...]:
    return (
        row.kind.value,
        format_time(row.at),
        f"{row.subscription_id}: {row.subscription}",
        f"{row.state.value} (sent {row.attempts} {'time' if row.attempts == 1 else 'times'})",
        NOTHING if row.status is None else str(row.status),
        duration(row.wait),
        row.error or NOTHING,
    )
