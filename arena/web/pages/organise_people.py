"""People for organisers: accounts, teams, members and tokens."""

from __future__ import annotations

import streamlit as st

from arena.web.organise.common import organiser, show_done
from arena.web.organise.people_parts import accounts_part, teams_part, tokens_part
from arena.web.pieces import lead


def show() -> None:
    """Show who may do what."""
    caller = organiser()
    st.title("People", anchor=False)
    show_done()
    lead("Rights hold from the next click on, also for those who are signed in. Quotas belong to sets.")
    st.subheader("Accounts", anchor="accounts")
    accounts_part(caller)
    st.subheader("Teams", anchor="teams")
    teams_part(caller)
    st.subheader("Tokens", anchor="tokens")
    tokens_part(caller)
