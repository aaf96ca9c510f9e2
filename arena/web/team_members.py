"""A team's members and their roles."""

from __future__ import annotations

from functools import partial

import streamlit as st

from arena.services.identity import Caller, may
from arena.web.life_texts import moment
from arena.web.markup import put
from arena.web.pieces import note
from arena.web.submission_actions import act
from arena.web.wiring import arena
from arena.web.word_tables import word_table
from data.records import Role, TokenScope


def show_members(team: str, caller: Caller) -> None:
    """List the members; owners add and remove them."""
    view = arena().teams.view(team, caller=caller)
    if view.members:
        rows = [(one.account, one.role.value, moment(one.created_at)) for one in view.members]
        put(word_table(("Account", "Role", "Since"), rows, spare=1))
    else:
        note("The team has no members yet, only tokens. Its owners add people by the name of their account.")
    if not may(caller, TokenScope.MANAGE, team=team):
        note("Owners add and remove members.")
        return
    _add(team, caller)
    if view.members:
        _remove(team, [one.account for one in view.members], caller)


def _add(team: str, caller: Caller) -> None:
    with st.form("add-member", border=True):
        note("Owners manage members and tokens; members submit. Organisers make accounts.")
        account = st.text_input("Account", max_chars=100)
        role = Role(st.selectbox("Role", (Role.MEMBER.value, Role.OWNER.value)))
        sent = st.form_submit_button("Add member, or change the role")
    if sent:
        name = account.strip()
        act(
            partial(arena().teams.add_member, team, name, role=role, caller=caller),
            f"{name} is {role} of {team}.",
        )


def _remove(team: str, accounts: list[str], caller: Caller) -> None:
    with st.form("remove-member", border=True):
        account = st.selectbox("Member to remove", accounts)
        sure = st.checkbox("Yes, remove this member")
        sent = st.form_submit_button("Remove")
    if sent and not sure:
        note("Tick the box to remove the member.")
    elif sent:
        act(
            partial(arena().teams.remove_member, team, str(account), caller=caller),
            f"{account} belongs to {team} no more.",
        )
