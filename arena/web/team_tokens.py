"""A team's access tokens: made and shown once, listed, revoked."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

import streamlit as st

from arena.services.identity import Caller, may
from arena.services.tokens import LONGEST_LIFE_DAYS
from arena.web.guard import show_error
from arena.web.life_texts import moment
from arena.web.markup import element, put
from arena.web.pieces import note
from arena.web.submission_actions import act
from arena.web.wiring import arena
from arena.web.word_tables import word_table
from data.errors import ArenaError
from data.records import Token, TokenScope

MARK = "aa_"
DAYS = 90
MEANINGS = {
    TokenScope.READ: "read: look at what the team may see",
    TokenScope.SUBMIT: "submit: check, submit, withdraw",
    TokenScope.MANAGE: "manage: members and tokens",
}


def show_tokens(team: str, caller: Caller) -> None:
    """List the tokens; owners make and revoke them."""
    owner = may(caller, TokenScope.MANAGE, team=team)
    if owner:
        _create(team, caller)
    tokens = arena().tokens.all(team=team, caller=caller)
    if not tokens:
        note("The team has no tokens.")
        return
    header = ("Name", "Begins with", "Scopes", "State", "Last used", "Expires")
    put(word_table(header, [_row(one) for one in tokens], spare=3))
    live = {one.id: one for one in tokens if _state(one) == "valid"}
    if owner and live:
        _revoke(live, caller)
    elif not owner:
        note("Owners make and revoke tokens.")


def _row(one: Token) -> tuple[str, ...]:
    scopes = ", ".join(sorted(one.scopes))
    expires = moment(one.expires_at) if one.expires_at else "never"
    return (one.name, f"{MARK}{one.prefix}", scopes, _state(one), moment(one.used_at), expires)


def _state(one: Token) -> str:
    if one.revoked_at is not None:
        return "revoked"
    return "valid" if one.valid(datetime.now(UTC)) else "expired"


def _create(team: str, caller: Caller) -> None:
    with st.form("create-token", border=True):
        name = st.text_input("What the token is for", placeholder="laptop, ci", max_chars=100)
        scopes = st.multiselect(
            "What it may be used for",
            tuple(MEANINGS),
            default=[TokenScope.READ, TokenScope.SUBMIT],
            format_func=MEANINGS.__getitem__,
        )
        days = st.number_input("Days until it expires", 1, LONGEST_LIFE_DAYS, DAYS)
        sent = st.form_submit_button("Make a token")
    if not sent:
        return
    try:
        made = arena().tokens.create(
            name=name.strip(), scopes=scopes, team=team, days=int(days), caller=caller
        )
    except ArenaError as error:
        show_error(error)
        return
    told = f"This is the token {made.token.name!r}. Copy it now: it is shown this once and kept nowhere."
    put(element("p", told, class_="aa-told", role="status"))
    st.code(made.secret, language=None, wrap_lines=True)


def _revoke(live: dict[int, Token], caller: Caller) -> None:
    with st.form("revoke-token", border=True):
        number = st.selectbox(
            "Token to revoke",
            tuple(live),
            format_func=lambda one: f"{live[one].name} ({MARK}{live[one].prefix}…)",
        )
        sure = st.checkbox("Yes, revoke it: whoever uses it is refused at once")
        sent = st.form_submit_button("Revoke")
    if sent and not sure:
        note("Tick the box to revoke the token.")
    elif sent:
        act(
            partial(arena().tokens.revoke, int(number), caller=caller),
            f"The token {live[int(number)].name} is revoked.",
        )
