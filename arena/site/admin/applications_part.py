"""Applications for teams: what waits, and a form that decides."""

from __future__ import annotations

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.site.admin.common import NOTHING, attempt, grid
from arena.site.services import arena
from arena.site.ui.components import note
from arena.site.ui.flash_messages import show_flash
from data.records.applications import Application, ApplicationState


def applications_part(caller: Caller) -> None:
    """What waits, how many there are of every other kind, and a form that decides."""
    service = arena().applications
    counts = service.counts(caller=caller)
    show_flash("applications")
    note(", ".join(f"{count:,} {state}" for state, count in counts.items()) + ".")
    listed = [
        *service.all(ApplicationState.WAITING, caller=caller),
        *(each for each in service.all(ApplicationState.APPROVED, caller=caller) if each.expires_at),
    ]
    if not listed:
        note("Nobody waits for a decision.")
        return
    header = ("Application", "State", "Team", "Title", "Who", "Contact", "Why they apply", "Since")
    grid(header, map(_row, listed))
    labels = {each.id: f"{each.id}: {each.team}" for each in listed}
    with st.form("application", border=True):
        number = st.selectbox("Application", list(labels), format_func=labels.__getitem__)
        account = st.text_input("Account of its owner", placeholder="As the team, unless that name is taken")
        reason = st.text_input("Why it is rejected", placeholder="The applicant sees this")
        with st.container(horizontal=True):
            approved = st.form_submit_button("Approve, or send the link again", icon=":material/check:")
            rejected = st.form_submit_button("Reject", icon=":material/close:")
    if approved:
        attempt(
            lambda: service.approve(number, account=account.strip(), caller=caller),
            f"Application {labels[number]} is approved.",
            "applications",
        )
    elif rejected:
        attempt(
            lambda: service.reject(number, reason, caller=caller),
            f"Application {labels[number]} is rejected.",
            "applications",
        )


def _row(application: Application) -> tuple[str, ...]:
    state = "token not fetched" if application.state is ApplicationState.APPROVED else "waiting"
    return (
        str(application.id),
        state,
        application.team,
        application.title,
        f"{application.channel}: {application.address}",
        application.contact or NOTHING,
        application.reason,
        f"{application.created_at:%Y-%m-%d}",
    )
