"""Page of an invitation to a team."""

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.site.auth import STYLE, offer_providers, present, provider_subject, providers, show_new_token
from arena.site.services import arena
from arena.site.ui.html import anchor, note, page_heading, paragraph
from arena.site.ui.messages import show_error, show_flash, tell
from data.errors import ArenaError

TOKEN = "invitation-token"  # noqa: S105 - a session key, not a token


def show() -> None:
    """Show the invitation; accepting needs a click, since programs open links too."""
    st.html(STYLE)
    page_heading("Join a team")
    show_flash()
    if TOKEN in st.session_state:
        show_new_token(TOKEN)
        paragraph(anchor("Sign in with this token", "auth/sign-in"))
        return
    code = st.query_params.get("code", "")
    if not code:
        note("Open an invitation link, or ask an owner of the team for one.")
        return
    try:
        _offer(code, arena().invitations.team_of(code))
    except ArenaError as error:
        show_error(error)


def _offer(code: str, team: str) -> None:
    invitations, caller, subject = arena().invitations, present(), provider_subject()
    note(f"You are invited to the team {team}.")
    if caller.account is not None:
        if st.button(f"Join as {caller.account}", type="primary"):
            _joined(invitations.join(code, caller=caller))
    elif subject:
        name = st.text_input("Your name", max_chars=100).strip()
        if st.button("Join", type="primary", disabled=not name):
            _joined(invitations.join_as_new(code, name=name, subject=subject))
    elif providers():
        note("Sign in, then open the link again.")
        offer_providers()
    elif st.button("Show the team's token, once", type="primary"):
        st.session_state[TOKEN] = invitations.token(code).secret
        st.rerun()


def _joined(team: str) -> None:
    st.query_params.clear()
    paragraph(anchor("My team", "team", team=team))
    tell(f"You are now a member of {team}.")


def offer_invitation(team: str, caller: Caller) -> None:
    """Offer to create a link that lets one person join a team within a week."""
    if st.button("Create invitation", icon=":material/link:", key=f"invite-{team}"):
        try:
            link = arena().invitations.invite(team, caller=caller)
        except ArenaError as error:
            show_error(error)
        else:
            note("This link lets one person join the team within a week. It is not shown again.")
            st.code(link, language=None, wrap_lines=True)
