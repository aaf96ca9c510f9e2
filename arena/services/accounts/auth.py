"""Callers and their rights, read from the database on every request."""

import hashlib
import hmac
import sys
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum, auto
from functools import cached_property
from typing import TYPE_CHECKING

from data.errors import AccessError, ForbiddenError, TooManyAttemptsError
from data.models import Role, Token, TokenScope, UserAccount

if TYPE_CHECKING:
    # Most commands need no database, and this import is slow.
    from limits.strategies import MovingWindowRateLimiter

    from data.store import Store

MARK = "aa"
SESSION_LIFETIME = timedelta(hours=12)
"""Time after which a browser must sign in again."""
WINDOW_MINUTES = 15
MAX_PREFIX_REFUSALS, MAX_CLIENT_REFUSALS = 10, 20
"""Number of refusals in the window after which a token prefix or client address must wait."""
PERSONAL = frozenset({TokenScope.READ, TokenScope.SUBMIT, TokenScope.MANAGE})
NOT_VALID = "Invalid or expired token."
ADVICE = "Ask an owner of your team for a new one: `arena teams token create`."


class CallerKind(StrEnum):
    """Kind of authentication."""

    PUBLIC = auto()
    TOKEN = auto()
    SESSION = auto()
    OPERATOR = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Caller with its teams and rights.

    `account` is None for team tokens. The operator runs commands on the database itself. `token` is the id of
    the token, if any.
    """

    kind: CallerKind
    name: str
    roles: tuple[tuple[str, Role], ...] = ()
    scopes: frozenset[TokenScope] = frozenset()
    organiser: bool = False
    account: str | None = None
    token: int | None = None

    @property
    def signed_in(self) -> bool:
        """True if the caller is authenticated."""
        return self.kind is not CallerKind.PUBLIC

    @property
    def display_name(self) -> str:
        """Name on pages: the account, or the team of a team's token; empty for the public."""
        return self.account or ", ".join(self.teams)

    @property
    def teams(self) -> tuple[str, ...]:
        """Names of their teams."""
        return tuple(team for team, _ in self.roles)

    def role_in(self, team: str) -> Role | None:
        """Role in a team, if any."""
        return dict(self.roles).get(team)

    def log(self, action: str, subject: str, **detail: object) -> None:
        """Log a change if the process has logs."""
        # The import is slow, and a process without logs does not need it.
        package = __name__.rsplit(".", 3)[0]
        if (logs := sys.modules.get(f"{package}.logs")) is not None:
            logs.log_change(self.name, action, subject, detail)


PUBLIC = Caller(kind=CallerKind.PUBLIC, name="public")
OPERATOR = Caller(kind=CallerKind.OPERATOR, name="operator", scopes=frozenset(TokenScope), organiser=True)
OWNER = replace(OPERATOR, name="owner")
"""Caller on a machine that serves an arena for a single user."""


def on_behalf(name: str | None) -> Caller:
    """Return the operator acting for an authorised request; the audit log has the requester's name."""
    return replace(OPERATOR, name=name) if name else OPERATOR


def require(caller: Caller, scope: TokenScope, *, team: str | None = None) -> None:
    """Refuse a caller without the scope, and without a role in `team` unless they organise."""
    if not caller.signed_in:
        suffix = " as an organiser" if scope is TokenScope.ORGANISE else ""
        raise AccessError(f"Sign in{suffix}.", advice="Send a token, or sign in on the site.")
    if scope is TokenScope.ORGANISE and not caller.organiser:
        raise ForbiddenError(
            f"{caller.name} is not an organiser.",
            advice="Sign in as an organiser, or use a token with the scope `organise`.",
        )
    if scope not in caller.scopes:
        raise ForbiddenError(
            f"This needs the scope {scope}, which {caller.name} does not have.",
            advice="Use a token with this scope.",
        )
    if team is None or caller.organiser:
        return
    role = caller.role_in(team)
    if role is None:
        raise ForbiddenError(
            f"{caller.name} does not belong to this team.", advice="Ask one of its owners to add you."
        )
    if scope is TokenScope.MANAGE and role is not Role.OWNER:
        raise ForbiddenError(f"{caller.name} is not an owner of {team}.", advice="Ask an owner to do it.")


def may(caller: Caller, scope: TokenScope, *, team: str | None = None) -> bool:
    """Return whether `require` would pass; pages use it to offer actions, never in place of `require`."""
    try:
        require(caller, scope, team=team)
    except (AccessError, ForbiddenError):
        return False
    return True


def digest_of(secret: str) -> str:
    """Hash a secret with sha256; 256 random bits need no slower hash."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


class IdentityService:
    """Authentication of callers."""

    def __init__(self, store: "Store") -> None:
        self._store = store

    def of_token(self, text: str, *, client: str) -> Caller:
        """Authenticate a token; refusals are limited by client and prefix."""
        return self.caller_of(self.token(text, client=client), CallerKind.TOKEN)

    def token(self, text: str, *, client: str) -> Token:
        """Look up a token before counting refusals, so that guesses cannot lock out its owner."""
        prefix, secret = _split(text)
        stored = self._store.tokens.with_prefix(prefix)
        # Compare even without a stored token, so that timing does not reveal known prefixes.
        matches = hmac.compare_digest(digest_of(secret), stored.digest if stored else digest_of(""))
        if stored is None or not matches or not stored.valid(datetime.now(UTC)):
            self._count_guess(prefix, client)
            raise AccessError(NOT_VALID, advice=ADVICE)
        self._store.tokens.used(stored)
        return stored

    @cached_property
    def _guesses(self) -> "MovingWindowRateLimiter":
        from limits.storage import MemoryStorage
        from limits.strategies import MovingWindowRateLimiter

        return MovingWindowRateLimiter(MemoryStorage())

    def _count_guess(self, prefix: str, client: str) -> None:
        from limits import RateLimitItemPerMinute

        for limit, *key in ((MAX_PREFIX_REFUSALS, "prefix", prefix), (MAX_CLIENT_REFUSALS, "client", client)):
            rate = RateLimitItemPerMinute(limit, WINDOW_MINUTES)
            if not self._guesses.hit(rate, *key):
                wait = max(1, round(self._guesses.get_window_stats(rate, *key).reset_time - time.time()))
                raise TooManyAttemptsError(
                    "Too many tokens were refused.", retry_after=wait, advice=f"Try again in {wait} seconds."
                )

    def caller_of(self, token: Token, kind: CallerKind) -> Caller:
        """Return the caller of a valid token with its current rights."""
        scopes = _with_implied(token.scopes)
        name = f"token {token.name!r} ({MARK}_{token.prefix}_…)"
        if token.account is None:
            roles = ((token.team, Role.OWNER),) if token.team else ()
            return Caller(
                kind=kind,
                name=f"{name} of {token.team}",
                roles=roles,
                scopes=scopes - {TokenScope.ORGANISE},
                token=token.id,
            )
        account = self._store.teams.account(token.account)
        caller = self._of_account(account, kind, scopes, f"{account.name}, {name}")
        return replace(caller, token=token.id)

    def renewed(self, caller: Caller) -> Caller:
        """Reload a caller's rights before a change that took long to prepare."""
        if caller.token is not None:
            token = self._store.tokens.get(caller.token)
            if not token.valid(datetime.now(UTC)):
                raise AccessError(NOT_VALID, advice=ADVICE)
            return self.caller_of(token, caller.kind)
        if caller.account is None:
            return caller
        account = self._store.teams.account(caller.account)
        if account.closed_at is not None:
            raise AccessError(f"The account {account.name} is closed.", advice="Ask the organisers.")
        return self._of_account(account, caller.kind, frozenset(TokenScope), account.name)

    def of_oidc(self, subject: str, *, email: str | None, verified: bool, since: datetime) -> Caller:
        """Authenticate an OIDC sign-in; a verified address binds an account that has no subject yet.

        It lasts as long as a token's session and ends with a sign-out in any browser.
        """
        if not subject:
            raise AccessError("The sign-in has no subject.", advice="Sign in again.")
        if datetime.now(UTC) - since > SESSION_LIFETIME:
            raise AccessError("The sign-in has expired.", advice="Sign out, and sign in again.")
        verified_email = email if verified else None
        account = self._store.teams.account_of(subject=subject, email=verified_email)
        if account is not None and account.subject is None:
            # Two browsers may sign in at once for the first time: the first one binds the account.
            account = self._store.teams.bind(account.name, subject)
        if account is None or account.subject != subject or account.closed_at is not None:
            raise AccessError(
                "No account belongs to this sign-in.", advice="Ask the organisers to add your address."
            )
        if account.signed_out_at is not None and since <= account.signed_out_at:
            raise AccessError("You have signed out.", advice="Sign out here too, and sign in again.")
        return self._of_account(account, CallerKind.SESSION, frozenset(TokenScope), account.name)

    def _of_account(
        self, account: UserAccount, kind: CallerKind, scopes: frozenset[TokenScope], name: str
    ) -> Caller:
        allowed = scopes if account.is_organiser else scopes & PERSONAL
        roles = tuple((member.team, member.role) for member in self._store.teams.teams_of(account.name))
        organiser = TokenScope.ORGANISE in allowed
        return Caller(
            kind=kind, name=name, roles=roles, scopes=allowed, organiser=organiser, account=account.name
        )


def _split(text: str) -> tuple[str, str]:
    mark, _, rest = text.strip().partition("_")
    prefix, _, secret = rest.partition("_")
    shaped = mark == MARK and prefix.isascii() and prefix.isalnum() and bool(secret)
    return (prefix, secret) if shaped else ("", text)


def _with_implied(scopes: frozenset[TokenScope]) -> frozenset[TokenScope]:
    """Add implied scopes: every scope includes reading, and organising includes all."""
    if TokenScope.ORGANISE in scopes:
        return frozenset(TokenScope)
    return scopes | {TokenScope.READ}
