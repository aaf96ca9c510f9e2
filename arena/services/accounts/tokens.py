"""Access tokens and browser sessions."""

import secrets
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from arena.services.accounts.auth import (
    MARK,
    OWNER,
    PUBLIC,
    SESSION_LIFETIME,
    Caller,
    CallerKind,
    IdentityService,
    digest_of,
    require,
)
from arena.services.accounts.visibility import Kind, Resource, Visibility, visibility_of
from data.errors import InputError, NotFoundError
from data.models import CreatedToken, Token, TokenScope, require_label
from data.store import Store

MAX_TOKEN_DAYS = 730
PREFIX_BYTES, SECRET_BYTES = 6, 32
COOKIE = "arena_session"
COOKIE_BYTES = 32
MAX_COOKIE = 200


class TokenService:
    """Service for access tokens of teams and accounts."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def create(
        self,
        *,
        name: str,
        scopes: Collection[TokenScope],
        team: str | None = None,
        account: str | None = None,
        days: int | None = None,
        caller: Caller,
    ) -> CreatedToken:
        """Create a token of a team or account (by default the caller's); its secret is returned only here.

        Team tokens never organise; without `days` a token does not expire.
        """
        require_label(name, "Token name")
        requested = frozenset(scopes)
        account = account if team or account else caller.account
        if (team is None) == (account is None) or not requested:
            raise InputError(
                "A token needs a team or an account, and a scope.",
                advice="Choose a team or an account, and at least one scope.",
            )
        if days is not None and not 1 <= days <= MAX_TOKEN_DAYS:
            raise InputError(f"A token cannot last {days} days.", advice=f"Use 1 to {MAX_TOKEN_DAYS} days.")
        self._require_granting(caller, team, account, requested)
        expires = None if days is None else datetime.now(UTC) + timedelta(days=days)
        prefix, secret = secrets.token_hex(PREFIX_BYTES), secrets.token_urlsafe(SECRET_BYTES)
        with self._store.changing(visible=False):
            token = self._store.tokens.add(
                prefix=prefix,
                digest=digest_of(secret),
                name=name,
                scopes=requested,
                expires_at=expires,
                team=None if team is None else self._store.teams.get(team).id,
                account=None if account is None else self._store.teams.account(account).id,
            )
        detail = {"name": name, "scopes": sorted(requested), "account": account}
        caller.log("token-created", f"token {token.id}", team=team or "", **detail)
        return CreatedToken(**dict(token), secret=f"{MARK}_{prefix}_{secret}")

    def all(self, *, team: str | None = None, caller: Caller) -> tuple[Token, ...]:
        """Return the tokens that the caller may see, without secrets."""
        require(caller, TokenScope.READ)
        return tuple(
            token
            for token in self._store.tokens.all(team=team)
            if visibility_of(caller, _resource_of(token)) is Visibility.FULL
        )

    def revoke(self, number: int, *, caller: Caller) -> Token:
        """Revoke a token and end its sessions."""
        token = self._store.tokens.get(number)
        if visibility_of(caller, _resource_of(token)) is not Visibility.FULL:
            raise NotFoundError(f"There is no token {number}.", advice="List your tokens.")
        self._require_managing(caller, token.team, token.account)
        with self._store.changing(visible=False):
            revoked = self._store.tokens.revoke(number)
        caller.log("token-revoked", f"token {number}", team=token.team or "")
        return revoked

    def _require_granting(
        self, caller: Caller, team: str | None, account: str | None, scopes: frozenset[TokenScope]
    ) -> None:
        self._require_managing(caller, team, account)
        if team is not None and TokenScope.ORGANISE in scopes:
            raise InputError(
                "A team's token cannot have the scope organise.", advice="Create a token for an account."
            )
        if account is not None:
            owner = self._store.teams.account(account)
            if owner.closed_at is not None:
                raise InputError(f"The account {account} is closed.", advice="Open it again first.")
            if TokenScope.ORGANISE in scopes and not owner.is_organiser:
                raise InputError(
                    f"{account} is not an organiser, so their token cannot have the scope organise.",
                    advice="Leave out that scope, or make the account an organiser first.",
                )
        for scope in scopes:
            require(caller, scope)

    @staticmethod
    def _require_managing(caller: Caller, team: str | None, account: str | None) -> None:
        """Refuse callers that may only read: they cannot even manage their own tokens."""
        own = team is not None or account == caller.account
        require(caller, TokenScope.MANAGE if own else TokenScope.ORGANISE, team=team)


def _resource_of(token: Token) -> Resource:
    return Resource(kind=Kind.TOKEN, team=token.team or "", account=token.account)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """New session; `cookie` is the value of the HttpOnly, SameSite=Lax cookie `COOKIE`."""

    cookie: str = field(repr=False)
    expires_at: datetime
    caller: Caller


class SessionService:
    """Sign-in on the site; an `owned` site has a single user."""

    def __init__(self, store: Store, identities: IdentityService, *, owned: bool = False) -> None:
        self._store = store
        self._identities = identities
        self._owned = owned

    def sign_in(self, token: str, *, client: str) -> Session:
        """Open a session with a token; it ends with the token at the latest."""
        stored = self._identities.token(token, client=client)
        caller = self._identities.caller_of(stored, CallerKind.SESSION)
        cookie = secrets.token_urlsafe(COOKIE_BYTES)
        expires = datetime.now(UTC) + SESSION_LIFETIME
        if stored.expires_at is not None:
            expires = min(expires, stored.expires_at)
        self._store.tokens.open_session(digest_of(cookie), stored.id, expires)
        caller.log("signed-in", f"token {stored.id}", team=stored.team or "")
        return Session(cookie=cookie, expires_at=expires, caller=caller)

    def who(self, cookie: str | None) -> Caller:
        """Return the caller of a browser; the public without a valid session."""
        if self._owned:
            return OWNER
        if not cookie or len(cookie) > MAX_COOKIE:
            return PUBLIC
        token = self._store.tokens.of_session(digest_of(cookie))
        if token is None or not token.valid(datetime.now(UTC)):
            return PUBLIC
        return self._identities.caller_of(token, CallerKind.SESSION)

    def sign_out_everywhere(self, caller: Caller) -> None:
        """End all OIDC sign-ins of a caller's account."""
        if caller.account is not None:
            self._store.teams.sign_out(caller.account)
            caller.log("signed-out", "provider")

    def sign_out(self, cookie: str) -> bool:
        """End a session, and return whether there was one."""
        caller = self.who(cookie)
        closed = self._store.tokens.close_session(digest_of(cookie))
        if closed and caller.signed_in:
            caller.log("signed-out", "session")
        return closed
