"""Tokens of a team or of everybody: listed, made and revoked."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial

import streamlit as st

from arena.formats import format_time
from arena.services.accounts.auth import Caller
from arena.services.accounts.tokens import LONGEST_LIFE_DAYS
from arena.site.auth import show_new_token
from arena.site.services import arena
from arena.site.ui.html import note, put_html, words_table
from arena.site.ui.messages import attempt, confirmed, show_flash
from data.models import Token, TokenScope

SECRET = "new-token"  # noqa: S105 - where a new token waits to be shown, not one
MARK = "aa_"
DAYS = 90
MEANINGS = {
    TokenScope.READ: "read: see what the team may see",
    TokenScope.SUBMIT: "submit: check, submit, withdraw",
    TokenScope.MANAGE: "manage: members and tokens",
    TokenScope.ORGANISE: "organise: sets, rounds and people",
}
Owners = Mapping[str, Mapping[str, str]]
"""Accounts and teams that tokens are made for: words for readers, and the words of the service."""


def tokens_part(
    tokens: Sequence[Token], owners: Owners, scopes: Sequence[TokenScope], caller: Caller
) -> None:
    """List tokens; where there are owners, offer to make tokens for them and to revoke the valid ones."""
    show_flash("tokens")
    show_new_token(SECRET)
    if owners:
        _make(owners, scopes, caller)
    if not tokens:
        note("There are no tokens.")
        return
    header = ("For", "Begins with", "Whose", "Scopes", "State", "Last used", "Expires")
    put_html(words_table(header, map(_row, tokens), spare=3, classes="aa-list"))
    valid = [token for token in tokens if _state(token) == "valid"]
    if owners and valid:
        _revoke({token.id: f"{token.name} ({MARK}{token.prefix}…)" for token in valid}, caller)


def _row(token: Token) -> tuple[str, ...]:
    return (
        token.name,
        f"{MARK}{token.prefix}",
        token.team or token.account or "–",
        ", ".join(sorted(token.scopes)),
        _state(token),
        format_time(token.used_at),
        format_time(token.expires_at) if token.expires_at else "never",
    )


def _state(token: Token) -> str:
    if token.revoked_at is not None:
        return "revoked"
    return "valid" if token.valid(datetime.now(UTC)) else "expired"


def _make(owners: Owners, scopes: Sequence[TokenScope], caller: Caller) -> None:
    with st.form("create-token", border=True):
        whose = st.selectbox("Whose", list(owners)) if len(owners) > 1 else next(iter(owners))
        name = st.text_input("What the token is for", placeholder="laptop, ci", max_chars=100).strip()
        usual = [scope for scope in (TokenScope.READ, TokenScope.SUBMIT) if scope in scopes]
        chosen = st.multiselect(
            "What it may be used for", scopes, default=usual, format_func=MEANINGS.__getitem__
        )
        days = int(st.number_input("Days until it expires", 1, LONGEST_LIFE_DAYS, DAYS))
        if not st.form_submit_button("Make a token", icon=":material/key:"):
            return

    def make() -> None:
        made = arena().tokens.create(name=name, scopes=chosen, days=days, caller=caller, **owners[whose])
        st.session_state[SECRET] = made.secret

    attempt(make, "The token is made.", "tokens")


def _revoke(valid: Mapping[int, str], caller: Caller) -> None:
    with st.container(border=True):
        number = int(st.selectbox("Token to revoke", tuple(valid), format_func=valid.__getitem__))
        sure = "Yes, revoke it; this cannot be undone"
        if confirmed("Revoke", sure, icon="key_off", key=f"revoke-{number}"):
            revoke = partial(arena().tokens.revoke, number, caller=caller)
            attempt(revoke, f"The token {valid[number]} is revoked.", "tokens")
