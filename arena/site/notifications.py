"""Notifications: the subscriptions, for organisers and on the page of a team."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from arena.services.accounts.auth import Caller, may
from arena.services.notifications.service import SENDABLE
from arena.site.admin.common import NOTHING, attempt, grid, organiser
from arena.site.services import arena
from arena.site.ui.components import lead, note, page_heading, tick
from arena.site.ui.flash_messages import show_flash
from arena.site.ui.formats import format_time
from data.records import TokenScope
from data.records.irreversible import Irreversible
from data.records.notifications import OF_SUBMISSIONS, Subscription


def show() -> None:
    """Show organisers who is notified of which events."""
    caller = organiser()
    page_heading("Notifications")
    lead("What happens is sent as webhooks, to Slack, or by mail. No message holds a private text.")
    show_notifications("", caller)


def show_notifications(team: str, caller: Caller) -> None:
    """Show the subscriptions of a team; for '', all of the arena."""
    show_flash("subscriptions")
    subscriptions = arena().subscriptions.all(team=team or None, caller=caller)
    if subscriptions:
        headings = ("Subscription", "Team", "By", "To", "Events", "Delivered", "Failed", "Last failure")
        grid(headings, [_row(row) for row in subscriptions])
    else:
        note("There are no subscriptions.")
    manages = may(caller, TokenScope.MANAGE if team else TokenScope.ORGANISE, team=team or None)
    if not manages:
        note("Owners add and remove subscriptions.")
    else:
        _change(subscriptions, caller)
        _add(team, caller)


def _row(row: Subscription) -> tuple[str, ...]:
    events = ", ".join(row.kinds) or "all"
    failure = f"{format_time(row.failed_at)}: {row.error}" if row.failed_at else NOTHING
    who = (f"{row.id}: {row.name}", row.team or NOTHING, row.channel.value, row.place, events)
    return (*who, f"{row.delivered:,}", f"{row.failed:,}", failure)


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

    attempt(
        lambda: arena().subscriptions.add(
            name.strip(), address.strip(), team=team, kinds=kinds, caller=caller
        ),
        "The subscription is added.",
        "subscriptions",
    )


def _change(subscriptions: Sequence[Subscription], caller: Caller) -> None:
    names = {row.id: f"{row.id}: {row.name}" for row in subscriptions}
    if not names:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        number = st.selectbox("Subscription", list(names), format_func=names.__getitem__, width=240)
        if st.button("Send a test", icon=":material/send:"):
            attempt(
                lambda: arena().subscriptions.send_test(number, caller=caller),
                "The test message arrived.",
                "subscriptions",
            )
        sure = tick(Irreversible.REMOVE_SUBSCRIPTION, key="notifications-sure")
        if st.button("Remove", disabled=not sure, icon=":material/delete:"):
            attempt(
                lambda: arena().subscriptions.remove(number, caller=caller),
                f"Subscription {number} is removed.",
                "subscriptions",
            )
