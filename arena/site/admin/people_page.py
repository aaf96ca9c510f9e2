"""People for organisers: accounts, teams, members, invitations and tokens."""

from __future__ import annotations

from datetime import datetime
from functools import partial

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.site.admin.common import NOTHING, grid, organiser
from arena.site.auth import show_new_token
from arena.site.services import arena
from arena.site.teams.invite_page import offer_invitation
from arena.site.ui.html import heading, lead, note, page_heading
from arena.site.ui.messages import attempt, show_flash
from arena.site.ui.url_state import opened
from data.models import Role, TokenScope, UserAccount

SECRET = "organise-secret"  # noqa: S105 - where a new token waits to be shown, not one


def show() -> None:
    """Show who may do what."""
    caller = organiser()
    page_heading("People")
    lead("Changed rights hold from the next click, also for those who are signed in. Quotas belong to sets.")
    heading("Accounts", anchor="accounts")
    accounts_part(caller)
    heading("Teams", anchor="teams")
    teams_part(caller)
    heading("Tokens", anchor="tokens")
    tokens_part(caller)


def accounts_part(caller: Caller) -> None:
    """List the accounts, with buttons that change one and a form for another."""
    accounts = {account.name: account for account in arena().teams.accounts(caller=caller)}
    rows = [
        (
            account.name,
            "closed" if account.closed_at else "organiser" if account.is_organiser else "member",
            account.email or NOTHING,
            _day(account.created_at),
        )
        for account in accounts.values()
    ]
    if rows:
        grid(("Account", "Role", "E-mail", "Since"), rows)
    show_flash("accounts")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox("Account", list(accounts), width=240, key="role-of")
        if name is not None:
            _change(accounts[name], caller)
    with opened("Add an account", "new-account") as is_open:
        if is_open:
            _new_account(caller)


def _change(account: UserAccount, caller: Caller) -> None:
    """Buttons that give an account organisers' rights or take them, and close or open it."""
    change, name = arena().teams.change_account, account.name
    organises, closed = account.is_organiser, account.closed_at is not None
    word = "Take back the organiser's rights" if organises else "Make them an organiser"
    if st.button(word, icon=":material/shield_person:"):
        done = f"{name} {'organises no more' if organises else 'is an organiser'}."
        attempt(lambda: change(name, is_organiser=not organises, caller=caller), done, "accounts")
    help_ = "It cannot sign in then: tokens and sessions end, submissions stay."
    if st.button("Open it again" if closed else "Close it", key="close-account", help=help_):
        done = f"The account {name} is {'open again' if closed else 'closed'}."
        attempt(lambda: change(name, closed=not closed, caller=caller), done, "accounts")


def _new_account(caller: Caller) -> None:
    with st.form("account", border=False, clear_on_submit=True):
        new = st.text_input("Name").strip()
        email = st.text_input("E-mail", placeholder="Where they sign in by a provider").strip() or None
        organises = st.checkbox("Organises")
        if st.form_submit_button("Add", icon=":material/person_add:"):
            add = partial(arena().teams.add_account, new, email=email, is_organiser=organises, caller=caller)
            attempt(add, f"The account {new} is added.", "accounts")


def teams_part(caller: Caller) -> None:
    """List the teams with their members, and forms for more."""
    teams = arena().teams
    views = [teams.view(team.name, caller=caller) for team in teams.all(caller=caller)]
    rows = [
        (
            view.name,
            view.title,
            view.contact or NOTHING,
            ", ".join(f"{member.account} ({member.role})" for member in view.members),
        )
        for view in views
    ]
    if rows:
        grid(("Team", "Title", "Contact", "Members"), rows)
    else:
        note("There are no teams yet.")
    show_flash("teams")
    names = [view.name for view in views]
    with opened("Add a team", "new-team") as is_open:
        if is_open:
            _new_team(caller)
    with opened("Invite people to a team", "invite") as is_open:
        if is_open and names:
            offer_invitation(str(st.selectbox("Team", names, key="invite-team")), caller)
    with opened("Put an account into a team, or take it out", "new-member") as is_open:
        if is_open and names:
            _members(names, caller)


def _new_team(caller: Caller) -> None:
    with st.form("team", border=False, clear_on_submit=True):
        name, title = st.text_input("Name", key="team-name").strip(), st.text_input("Title").strip()
        contact = st.text_input("Contact").strip()
        if st.form_submit_button("Add", icon=":material/group_add:"):
            add = partial(arena().teams.add, name, title=title, contact=contact, caller=caller)
            attempt(add, f"The team {name} is added.", "teams")


def _members(names: list[str], caller: Caller) -> None:
    teams = arena().teams
    with st.form("member", border=False):
        team = str(st.selectbox("Team", names, key="member-team"))
        accounts = [account.name for account in teams.accounts(caller=caller)]
        account = st.selectbox("Account", accounts, key="member")
        role = st.selectbox("Role", [*(role.value for role in Role), "none: take them out"])
        if not st.form_submit_button("Save", icon=":material/save:") or account is None:
            return
    if role in set(Role):
        add = partial(teams.add_member, team, account, role=Role(role), caller=caller)
        attempt(add, f"{account} is in {team}.", "teams")
    else:
        remove = partial(teams.remove_member, team, account, caller=caller)
        attempt(remove, f"{account} is no longer in {team}.", "teams")


def tokens_part(caller: Caller) -> None:
    """List the tokens, revoke and make them. A new one stays until it is dismissed."""
    show_flash("tokens")
    show_new_token(SECRET)
    tokens = arena().tokens.all(caller=caller)
    rows = [
        (
            str(token.id),
            token.name,
            token.team or token.account or NOTHING,
            ", ".join(sorted(token.scopes)),
            "revoked" if token.revoked_at else _day(token.expires_at),
            _day(token.used_at),
        )
        for token in tokens
    ]
    if rows:
        grid(("Token", "For", "Whose", "May", "Until", "Last used"), rows)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        living = {token.id: f"{token.id}: {token.name}" for token in tokens if token.revoked_at is None}
        number = st.selectbox("Token", list(living), format_func=living.__getitem__, width=240)
        if st.button("Revoke", disabled=number is None, icon=":material/key_off:"):
            revoke = partial(arena().tokens.revoke, number, caller=caller)
            attempt(revoke, f"Token {number} is revoked.", "tokens")
    with opened("Make a token", "new-token") as is_open:
        if is_open:
            _new_token(caller)


def _new_token(caller: Caller) -> None:
    teams = arena().teams
    owners: dict[str, tuple[str | None, str | None]]
    owners = {f"team {team.name}": (team.name, None) for team in teams.all(caller=caller)}
    owners |= {f"account {account.name}": (None, account.name) for account in teams.accounts(caller=caller)}
    with st.form("token", border=False):
        whose = st.selectbox("Whose", list(owners))
        name = st.text_input("What it is for").strip()
        scopes = st.multiselect("It may", list(TokenScope), [TokenScope.READ], format_func=str)
        days = st.number_input("Days until it expires", 1, value=None, placeholder="never")
        if not st.form_submit_button("Make it", icon=":material/key:") or whose is None:
            return
    team, account = owners[whose]

    def make() -> None:
        created = arena().tokens.create(
            name=name, scopes=scopes, team=team, account=account, days=days, caller=caller
        )
        st.session_state[SECRET] = created.secret

    attempt(make, "The token is made.", "tokens")


def _day(moment: datetime | None) -> str:
    return NOTHING if moment is None else f"{moment:%Y-%m-%d}"
