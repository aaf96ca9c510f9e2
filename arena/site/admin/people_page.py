"""People for organisers: accounts, teams, members and tokens."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.site.admin.common import NOTHING, attempt, grid, organiser
from arena.site.auth import show_new_token
from arena.site.services import arena
from arena.site.teams.invite_page import offer_invitation
from arena.site.ui.components import heading, lead, note, page_heading
from arena.site.ui.flash_messages import show_flash
from arena.site.ui.url_state import opened
from data.records import Role, Team, TokenScope, UserAccount

SECRET = "organise-secret"  # noqa: S105 - where a new token waits to be shown, not one


def accounts_part(caller: Caller) -> None:
    """Who there is, who organises, and a form for another."""
    teams = arena().teams
    accounts = teams.accounts(caller=caller)
    rows = [
        (
            account.name,
            "closed" if account.closed_at else _role(account.is_organiser),
            account.email or NOTHING,
            _day(account.created_at),
        )
        for account in accounts
    ]
    if rows:
        grid(("Account", "Role", "E-mail", "Since"), rows)
    show_flash("accounts")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox("Account", [account.name for account in accounts], width=240, key="role-of")
        account = next((each for each in accounts if each.name == name), None)
        if account is not None:
            _change(account, caller)
    with opened("Add an account", "new-account") as is_open:
        if is_open:
            _new_account(caller)


def _change(account: UserAccount, caller: Caller) -> None:
    """Buttons that give an account organisers' rights or take them, and close or open it."""
    change, name = arena().teams.change_account, account.name
    organises, closed = account.is_organiser, account.closed_at is not None
    word = "Take back the organiser's rights" if organises else "Make them an organiser"
    if st.button(word, icon=":material/shield_person:"):
        attempt(
            lambda: change(name, is_organiser=not organises, caller=caller),
            f"{name} {'organises no more' if organises else 'is an organiser'}.",
            "accounts",
        )
    help_ = "It cannot sign in then: tokens and sessions end, submissions stay."
    if st.button("Open it again" if closed else "Close it", key="close-account", help=help_):
        attempt(
            lambda: change(name, closed=not closed, caller=caller),
            f"The account {name} is {'open again' if closed else 'closed'}.",
            "accounts",
        )


def _new_account(caller: Caller) -> None:
    teams = arena().teams
    with st.form("account", border=False, clear_on_submit=True):
        new = st.text_input("Name")
        email = st.text_input("E-mail", placeholder="Where they sign in by a provider")
        is_organiser = st.checkbox("Organises")
        if st.form_submit_button("Add", icon=":material/person_add:"):
            attempt(
                lambda: teams.add_account(
                    new.strip(), email=email.strip() or None, is_organiser=is_organiser, caller=caller
                ),
                f"The account {new} is added.",
                "accounts",
            )


def teams_part(caller: Caller) -> None:
    """The teams with their members, and forms for more."""
    teams = arena().teams
    every = teams.all(caller=caller)
    members = {
        team.name: [f"{m.account} ({m.role})" for m in teams.view(team.name, caller=caller).members]
        for team in every
    }
    rows = [(team.name, team.title, team.contact or NOTHING, ", ".join(members[team.name])) for team in every]
    if rows:
        grid(("Team", "Title", "Contact", "Members"), rows)
    else:
        note("There are no teams yet.")
    show_flash("teams")
    with opened("Add a team", "new-team") as is_open:
        if is_open:
            _new_team(caller)
    with opened("Invite people to a team", "invite") as is_open:
        if is_open and every:
            team = st.selectbox("Team", [team.name for team in every], key="invite-team")
            offer_invitation(str(team), caller)
    with opened("Put an account into a team", "new-member") as is_open:
        if is_open and every:
            _new_member(every, caller)
        elif is_open:
            note("Add a team first.")
    with opened("Take an account out of a team", "old-member") as is_open:
        if is_open:
            _old_member(every, caller)


def _new_team(caller: Caller) -> None:
    teams = arena().teams
    with st.form("team", border=False, clear_on_submit=True):
        name, title = st.text_input("Name", key="team-name"), st.text_input("Title")
        contact = st.text_input("Contact")
        if st.form_submit_button("Add", icon=":material/group_add:"):
            attempt(
                lambda: teams.add(name.strip(), title=title.strip(), contact=contact.strip(), caller=caller),
                f"The team {name} is added.",
                "teams",
            )


def _new_member(every: Sequence[Team], caller: Caller) -> None:
    teams = arena().teams
    with st.form("member", border=False):
        team = st.selectbox("Team", [team.name for team in every], key="member-team")
        account = st.selectbox(
            "Account", [account.name for account in teams.accounts(caller=caller)], key="member"
        )
        role = st.selectbox("Role", [role.value for role in Role])
        sent = st.form_submit_button("Save", icon=":material/save:")
    if sent and team and account:
        chosen = Role(role)
        attempt(
            lambda: teams.add_member(team, account, role=chosen, caller=caller),
            f"{account} is in {team}.",
            "teams",
        )


def _old_member(every: Sequence[Team], caller: Caller) -> None:
    teams = arena().teams
    team = st.selectbox("Team", [team.name for team in every], key="left-team")
    members = teams.view(team, caller=caller).members if team else ()
    account = st.selectbox("Account", [one.account for one in members], key="left-member")
    sure = st.checkbox("Yes, take them out", key="left")
    if st.button("Take out", disabled=not (sure and team and account), key="take-out"):
        attempt(
            lambda: teams.remove_member(str(team), str(account), caller=caller),
            f"{account} is no longer in {team}.",
            "teams",
        )


def tokens_part(caller: Caller) -> None:
    """Every token without its secret; making and revoking them. A new one stays until it is dismissed."""
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
            attempt(
                lambda: arena().tokens.revoke(number, caller=caller), f"Token {number} is revoked.", "tokens"
            )
    with opened("Make a token", "new-token") as is_open:
        if is_open:
            with st.form("token", border=False):
                _new_token(caller)


def _new_token(caller: Caller) -> None:
    teams = arena().teams
    owners: dict[str, tuple[str | None, str | None]]
    owners = {f"team {team.name}": (team.name, None) for team in teams.all(caller=caller)}
    owners |= {f"account {account.name}": (None, account.name) for account in teams.accounts(caller=caller)}
    whose = st.selectbox("Whose", list(owners))
    name = st.text_input("What it is for")
    scopes = st.multiselect(
        "It may", list(TokenScope), [TokenScope.READ], format_func=lambda scope: scope.value
    )
    days = st.number_input("Days until it expires", 1, value=None, placeholder="never")
    if not st.form_submit_button("Make it", icon=":material/key:") or whose is None:
        return

    def make() -> None:
        team, account = owners[whose]
        created = arena().tokens.create(
            name=name.strip(), scopes=scopes, team=team, account=account, days=days, caller=caller
        )
        st.session_state[SECRET] = created.secret

    attempt(make, "The token is made.", "tokens")


def _role(is_organiser: bool) -> str:
    return "organiser" if is_organiser else "member"


def _day(moment: datetime | None) -> str:
    return NOTHING if moment is None else f"{moment:%Y-%m-%d}"


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
