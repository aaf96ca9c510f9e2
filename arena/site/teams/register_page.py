"""Register a team: the form, the mailed link that confirms it, and the first token."""

from __future__ import annotations

import streamlit as st

from arena.api.dependencies import counted
from arena.services.accounts.registration import (
    LONGEST_LINE,
    LONGEST_REASON,
    LONGEST_TEAM,
    TEAM_RULE,
    RegistrationRequest,
)
from arena.settings import Registration
from arena.site.auth import STYLE, offer_providers, provider_subject, tell
from arena.site.services import arena
from arena.site.ui.components import lead, note, page_heading
from arena.site.ui.errors import show_error
from arena.site.ui.flash_messages import show_flash
from arena.site.ui.markup import element, put
from arena.site.ui.tables import anchor
from data.errors import ArenaError
from data.records.applications import Application, ApplicationState

SENT = (
    "Thank you. If mail reaches the address, a link is on its way: open it within a day. Nothing was sent? "
    "Look among unwanted mail, or ask the organisers."
)
WAITS = "The organisers have your application. You will be notified of their decision."


def show() -> None:
    """Take an application, or follow a mailed link."""
    st.html(STYLE)
    page_heading("Register a team")
    show_flash()
    registration = arena().registration
    code = st.query_params.get("code", "")
    if code:
        _follow(code)
    elif registration.mode is Registration.OFF:
        note("This arena takes no applications. Ask the organisers for a team.")
    elif registration.mode is Registration.MAIL:
        _form("")
    else:
        _by_provider(provider_subject())


def _by_provider(subject: str) -> None:
    """The form for who signed in, or how far their application is."""
    if not subject:
        note("Sign in first, so that the team is yours.")
        offer_providers()
        return
    last = arena().registration.last_of(subject)
    if last is not None and last.state is ApplicationState.WAITING:
        note(f"The organisers have your application for {last.team}.")
    elif last is not None and last.state is ApplicationState.APPROVED:
        put(element("p", f"You own {last.team}. ", anchor("Make a token", "team", part="tokens")))
    else:
        if last is not None:
            note(f"Your application for {last.team} was rejected: {last.decision}")
        _form(subject)


def _form(subject: str) -> None:
    lead("Organisers read every application. What you write here is for them alone, but for name and title.")
    with st.form("register", border=True):
        team = st.text_input("Name of the team", max_chars=LONGEST_TEAM, help=TEAM_RULE)
        title = st.text_input("Title that readers see", max_chars=LONGEST_LINE)
        contact = st.text_input("How the organisers can reach you", max_chars=LONGEST_LINE)
        reason = st.text_area("Why you would like to take part", max_chars=LONGEST_REASON, height=100)
        mail = "" if subject else st.text_input("Your mail address; a link is sent there", max_chars=254)
        sent = st.form_submit_button("Apply")
    if not sent:
        return
    wanted = RegistrationRequest(team=team, title=title, contact=contact, reason=reason, mail=mail)
    try:
        client = counted(st.context.ip_address or "")
        state = arena().registration.apply(wanted, client=client, subject=subject)
    except ArenaError as error:
        show_error(error)
        return
    tell(SENT if state is ApplicationState.UNCONFIRMED else WAITS)


def _follow(code: str) -> None:
    """What a mailed link leads to; a button does it, since programs open links too."""
    registration = arena().registration
    application = registration.behind(code)
    if application is None:
        note("This link was used already, or is over. Apply again, or ask the organisers for another.")
        return
    try:
        if application.state is ApplicationState.UNCONFIRMED:
            _confirm(application, code)
        elif st.button("Show the token, once", type="primary"):
            created = registration.claim(code)
            note("Copy it now: it is shown this once and stored nowhere.")
            st.code(created.secret, language=None, wrap_lines=True)
            put(element("a", "Sign in with it", href="./auth/sign-in", target="_self"))
        else:
            note(f"The team {application.team} is made. This is the first token of its owner.")
    except ArenaError as error:
        show_error(error)


def _confirm(application: Application, code: str) -> None:
    note(f"You apply for the team {application.team}, “{application.title}”.")
    if st.button("Confirm the application", type="primary"):
        arena().registration.confirm(code)
        st.query_params.clear()
        tell(WAITS)
