"""Sessions of browsers: an opaque cookie, stored hashed."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from arena.services.accounts.auth import OWNER, PUBLIC, Caller, CallerKind, IdentityService, digest_of
from data.store import Store

COOKIE = "arena_session"
LASTS = timedelta(hours=12)
COOKIE_BYTES = 32
LONGEST_COOKIE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """A new session.

    Attributes:
        cookie: What the browser stores, as an HttpOnly, SameSite=Lax cookie named `COOKIE`.
    """

    cookie: str = field(repr=False)
    expires_at: datetime
    caller: Caller


class SessionService:
    """Use cases around signing in on the site; where it is `owned`, nobody else reaches it."""

    def __init__(self, store: Store, identities: IdentityService, *, owned: bool = False) -> None:
        self._store = store
        self._identities = identities
        self._owned = owned

    def sign_in(self, token: str, *, client: str) -> SignedIn:
        """Open a session for the holder of a token; it ends with the token at the latest."""
        stored = self._identities.token(token, client=client)
        caller = self._identities.caller_of(stored, CallerKind.SESSION)
        cookie = secrets.token_urlsafe(COOKIE_BYTES)
        expires = datetime.now(UTC) + LASTS
        if stored.expires_at is not None:
            expires = min(expires, stored.expires_at)
        self._store.tokens.open_session(digest_of(cookie), stored.id, expires)
        caller.log("signed-in", f"token {stored.id}", team=stored.team or "")
        return SignedIn(cookie=cookie, expires_at=expires, caller=caller)

    def who(self, cookie: str | None) -> Caller:
        """Return the caller of a browser; the public without a valid session and token."""
        if self._owned:
            return OWNER
        if not cookie or len(cookie) > LONGEST_COOKIE:
            return PUBLIC
        token = self._store.tokens.of_session(digest_of(cookie))
        if token is None or not token.valid(datetime.now(UTC)):
            return PUBLIC
        return self._identities.caller_of(token, CallerKind.SESSION)

    def sign_out(self, cookie: str) -> bool:
        """End a session; whether there was one."""
        caller = self.who(cookie)
        closed = self._store.tokens.close_session(digest_of(cookie))
        if closed and caller.signed_in:
            caller.log("signed-out", "session")
        return closed
