"""Authentication of browsers: by the cookie of the sign-in route, else by the provider of `st.login`.

Read from the database at every rerun, never cached: revoking a token ends the session at once.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.auth_util import get_cookie_with_chunks
from streamlit.errors import StreamlitSecretNotFoundError
from streamlit.web.server.server_util import AUTH_COOKIE_NAME, get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value

from arena.container import Arena
from arena.services.accounts.auth import PUBLIC, Caller, CallerKind, IdentityService
from arena.services.accounts.tokens import COOKIE
from arena.site.services import arena, visitor_cookies
from arena.site.ui.html import Cell, anchor, link, note, paragraph
from arena.site.ui.messages import PageEndedError, show_error
from arena.site.ui.url_state import choose_one
from data.errors import AccessError

STYLE = Path(__file__).parent / "assets" / "team.css"
HOW_TO_GET_IN = (
    "You need an access token of your team (aa_…). The organisers create the team and its first token; its "
    "owners create more on the My team page."
)


def show_visitor(purpose: str) -> Caller:
    """Show who is signed in, or how to sign in; return the caller."""
    st.html(STYLE)
    caller = arena().sessions.who(st.context.cookies.get(COOKIE))
    if caller.kind is CallerKind.OPERATOR:
        paragraph("You are the owner: only this machine can reach the site.", class_="aa-eyebrow")
        return caller
    if not caller.signed_in:
        caller = _require_provider_caller() or _ask_in(purpose)
    if caller.signed_in:
        paragraph(f"Signed in as {caller.name} · ", anchor("Sign out", "auth/sign-out"), class_="aa-eyebrow")
    return caller


def choose_team(caller: Caller) -> str | None:
    """Return the visitor's team; without one, show a hint and return None."""
    teams = arena().teams.all(caller=caller)
    if not teams:
        st.info(
            "You are not in a team yet. Ask the organisers for an invitation.", icon=":material/group_off:"
        )
        return None
    titles = {team.name: team.title or team.name for team in teams}
    if len(titles) == 1:
        return teams[0].name
    return choose_one("team", "Team", titles)


def show_new_token(key: str) -> None:
    """Show the new token under a session key until the visitor dismisses it."""
    secret: str | None = st.session_state.get(key)
    if secret is None:
        return
    st.warning("Copy the token now: it is not stored and will not be shown again.", icon=":material/key:")
    st.code(secret, language=None, wrap_lines=True)
    st.button("I have copied it", key=f"copied-{key}", on_click=st.session_state.pop, args=(key,))


def present() -> Caller:
    """Return the browser's caller silently; the public without a sign-in."""
    if (cookies := visitor_cookies()) is not None:
        return caller_of_request(arena(), cookies)
    cookie: object = st.context.cookies.get(COOKIE)
    # Streamlit's page tests run without a browser, where cookies are not texts.
    caller = arena().sessions.who(cookie if isinstance(cookie, str) else None)
    with suppress(AccessError):
        return caller if caller.signed_in else _provider_caller() or caller
    return caller


def _provider_caller() -> Caller | None:
    return caller_of_claims(arena().identities, st.user) if provider_subject() else None


def caller_of_request(source: Arena, cookies: Mapping[str, str]) -> Caller:
    """Return the caller of a request outside of Streamlit, by its cookies."""
    caller = source.sessions.who(cookies.get(COOKIE))
    return caller if caller.signed_in else caller_of_cookies(source.identities, cookies)


def caller_of_cookies(identities: IdentityService, cookies: Mapping[str, str]) -> Caller:
    """Return the caller that an OIDC provider signed in, by their cookies; else the public."""

    def cookie_value(name: str) -> bytes | None:
        value = cookies.get(name)
        return None if value is None else decode_signed_value(get_cookie_secret(), name, value)

    claims = get_cookie_with_chunks(cookie_value, AUTH_COOKIE_NAME)
    return caller_of_claims(identities, json.loads(claims)) if claims else PUBLIC


def caller_of_claims(identities: IdentityService, claims: Mapping[str, Any]) -> Caller:
    """Return the caller whom a provider's claims identify, as stored in Streamlit's cookie."""
    return identities.of_oidc(
        _subject_of(claims),
        email=str(claims.get("email") or "") or None,
        verified=claims.get("email_verified") is True,
        since=datetime.fromtimestamp(float(claims.get("iat") or 0), UTC),
    )


def provider_subject() -> str:
    """Return the provider's subject with its issuer; empty without a sign-in."""
    return _subject_of(st.user) if providers() and st.user.get("is_logged_in") else ""


def _subject_of(claims: Mapping[str, Any]) -> str:
    subject = claims.get("sub")
    return f"{claims.get('iss', '')}#{subject}" if subject else ""


def _require_provider_caller() -> Caller | None:
    try:
        return _provider_caller()
    except AccessError as error:
        show_error(error)
        st.button("Sign out", on_click=st.logout)
        raise PageEndedError from error


def _ask_in(purpose: str) -> Caller:
    with st.container(border=True):
        paragraph(Cell(f"Sign in to {purpose}.", class_="aa-main"))
        note(HOW_TO_GET_IN)
        with st.container(horizontal=True, vertical_alignment="center"):
            paragraph(Cell("Sign in with a token", href=link("auth/sign-in"), class_="aa-button"))
            offer_providers()
    return PUBLIC


def offer_providers() -> None:
    """Show the sign-in buttons of the OIDC providers."""
    for provider, label in providers().items():
        st.button(label, on_click=st.login, args=(provider,) if provider else (), key=f"in-{provider}")


def providers() -> Mapping[str, str]:
    """Return the button labels of the OIDC providers in Streamlit's `[auth]` section, by name."""
    try:
        section: Mapping[str, Any] | None = st.secrets.get("auth")
    except StreamlitSecretNotFoundError:
        return {}
    if not section or find_spec("authlib") is None:
        return {}
    labels = {name: f"Sign in with {name}" for name, value in section.items() if isinstance(value, Mapping)}
    return {**({"": "Sign in with your organisation"} if "client_id" in section else {}), **labels}
