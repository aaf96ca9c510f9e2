"""Organisers' page of people: accounts, teams, members, invitations and tokens."""

from functools import partial

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.site.admin.common import NOTHING, grid, organiser
from arena.site.services import arena
from arena.site.teams.team_page import tokens_part
from arena.site.ui.html import anchor, heading, lead, note, page_heading
from arena.site.ui.messages import attempt, show_flash
from arena.site.ui.url_state import opened
from data.models import TokenScope, UserAccount


def show() -> None:
    """Show accounts, teams and tokens."""
    caller = organiser()
    page_heading("People")
    lead(
        "Changes take effect immediately, even for people who are signed in. Quotas are set per question set."
    )
    heading("Accounts", anchor="accounts")
    accounts_part(caller)
    heading("Teams", anchor="teams")
    teams_part(caller)
    heading("Tokens", anchor="tokens")
    teams = arena().teams
    owners = {f"team {team.name}": {"team": team.name} for team in teams.all(caller=caller)}
    owners |= {f"account {row.name}": {"account": row.name} for row in teams.accounts(caller=caller)}
    tokens_part(arena().tokens.all(caller=caller), owners, tuple(TokenScope), caller)


def accounts_part(caller: Caller) -> None:
    """List the accounts, with buttons to change and a form to add accounts."""
    accounts = {account.name: account for account in arena().teams.accounts(caller=caller)}
    rows = [
        (
            account.name,
            "closed" if account.closed_at else "organiser" if account.is_organiser else "member",
            account.email or NOTHING,
            f"{account.created_at:%Y-%m-%d}",
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
            with st.form("account", border=False, clear_on_submit=True):
                new = st.text_input("Name").strip()
                email = st.text_input("E-mail", placeholder="For sign-in through a provider").strip() or None
                organises = st.checkbox("Organiser")
                if st.form_submit_button("Add", icon=":material/person_add:"):
                    add = partial(
                        arena().teams.add_account, new, email=email, is_organiser=organises, caller=caller
                    )
                    attempt(add, f"Account {new} added.", "accounts")


def _change(account: UserAccount, caller: Caller) -> None:
    change, name = arena().teams.change_account, account.name
    organises, closed = account.is_organiser, account.closed_at is not None
    word = "Remove organiser rights" if organises else "Make organiser"
    if st.button(word, icon=":material/shield_person:"):
        done = f"{name} {'is no longer an organiser' if organises else 'is an organiser'}."
        attempt(lambda: change(name, is_organiser=not organises, caller=caller), done, "accounts")
    help_ = "A closed account cannot sign in; its tokens and sessions end, its submissions stay."
    if st.button("Reopen account" if closed else "Close account", key="close-account", help=help_):
        done = f"The account {name} is {'open again' if closed else 'closed'}."
        attempt(lambda: change(name, closed=not closed, caller=caller), done, "accounts")


def teams_part(caller: Caller) -> None:
    """List the teams with their members, and a form to add a team."""
    teams = arena().teams
    views = [teams.view(team.name, caller=caller) for team in teams.all(caller=caller)]
    rows = [
        (
            anchor(view.name, "team", team=view.name, part="members"),
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
    note("A team's page has its members, invitations and submissions.")
    with opened("Add a team", "new-team") as is_open:
        if is_open:
            with st.form("team", border=False, clear_on_submit=True):
                name, title = st.text_input("Name", key="team-name").strip(), st.text_input("Title").strip()
                contact = st.text_input("Contact").strip()
                if st.form_submit_button("Add", icon=":material/group_add:"):
                    add = partial(arena().teams.add, name, title=title, contact=contact, caller=caller)
                    attempt(add, f"Team {name} added.", "teams")
