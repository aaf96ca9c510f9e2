"""My team: its submissions, members and tokens, and what it did."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import streamlit as st

from arena.services.identity import Caller
from arena.web.choices import choose_part
from arena.web.team_log import show_log
from arena.web.team_members import show_members
from arena.web.team_submissions import show_submissions
from arena.web.team_tokens import show_tokens
from arena.web.visitors import choose_team, show_told, show_visitor
from arena.web.wiring import arena

PARTS: Mapping[str, tuple[str, Callable[[str, Caller], None]]] = MappingProxyType(
    {
        "submissions": ("Submissions", show_submissions),
        "members": ("Members", show_members),
        "tokens": ("Tokens", show_tokens),
        "log": ("Log", show_log),
    }
)


def show() -> None:
    """Show a team to those who belong to it."""
    st.title("My team", anchor=False)
    caller = show_visitor("see your team")
    if not caller.signed_in:
        return
    team = choose_team(caller)
    if team is None:
        return
    st.subheader(arena().teams.view(team, caller=caller).team.title or team, anchor=False)
    show_told()
    part = choose_part({name: label for name, (label, _) in PARTS.items()})
    PARTS[part][1](team, caller)
