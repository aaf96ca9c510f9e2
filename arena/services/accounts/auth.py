"""Callers and their rights, read from the database for every request and never remembered."""

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
    # Commands import this module before they know that they need a database.
    from limits.strategies import MovingWindowRateLimiter

    from data.store import Store

MARK = "aa"
LASTS = timedelta(hours=12)
"""Time after which a browser signs in again."""
WINDOW_MINUTES = 15
MOST_FOR_PREFIX, MOST_FOR_CLIENT = 10, 20
"""Refusals in the window after which a prefix, or all clients at an address, must wait."""
PERSONAL = frozenset({TokenScope.READ, TokenScope.SUBMIT, TokenScope.MANAGE})
NOT_VALID = "This token is not valid."
ADVICE = "Ask an owner of your team for another: `arena teams token create`."


class CallerKind(StrEnum):
    """Kind of authentication."""

    PUBLIC = auto()
    TOKEN = auto()
    SESSION = auto()
    OPERATOR = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """An authenticated caller: `kind` and `name` in logs, teams and rights.

    `account` is None for tokens of teams; the operator runs commands on the database itself. `token` is the
    number of the token that the rights are from, if any.
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
    def called(self) -> str:
        """Name on pages: the account, or the team of a team's token; empty for the public."""
        return self.account or ", ".join(self.teams)

    @property
    def teams(self) -> tuple[str, ...]:
        """The names of their teams."""
        return tuple(team for team, _ in self.roles)

    def role_in(self, team: str) -> Role | None:
        """Their role in a team, None where they have none."""
        return dict(self.roles).get(team)

    def log(self, action: str, subject: str, **detail: object) -> None:
        """Log a change that they made, where the process has logs."""
        # Its import takes long, and a process without logs has not done it.
        package = __name__.rsplit(".", 3)[0]
        if (logs := sys.modules.get(f"{package}.logs")) is not None:
            logs.log_change(self.name, action, subject, detail)


PUBLIC = Caller(kind=CallerKind.PUBLIC, name="public")
OPERATOR = Caller(kind=CallerKind.OPERATOR, name="operator", scopes=frozenset(TokenScope), organiser=True)
OWNER = replace(OPERATOR, name="owner")
"""Caller on the one machine that serves an arena for its user alone."""


def on_behalf(name: str | None) -> Caller:
    """Return the operator acting for an authorised request; the audit log has the requester's name."""
    return replace(OPERATOR, name=name) if name else OPERATOR


def require(caller: Caller, scope: TokenScope, *, team: str | None = None) -> None:
    """Refuse a caller without the permission: the scope, and in a team a role.

    Organisers may act for every team; managing a team needs an owner.
    """
    if not caller.signed_in:
        suffix = " as an organiser" if scope is TokenScope.ORGANISE else ""
        raise AccessError(f"Sign in{suffix}.", advice="Send a token, or sign in on the site.")
    if scope is TokenScope.ORGANISE and not caller.organiser:
        raise ForbiddenError(
            f"{caller.name} has no organiser's rights here.",
            advice="They need an organiser's account, signed in or with a token of the scope organise.",
        )
    if scope not in caller.scopes:
        raise ForbiddenError(
            f"This needs the scope {scope}, which {caller.name} does not have.",
            advice="Use a token that has it.",
        )
    if team is None or caller.organiser:
        return
    role = caller.role_in(team)
    if role is None:
        raise ForbiddenError(f"{caller.name} does not belong to this team.", advice="Ask one of its owners.")
    if scope is TokenScope.MANAGE and role is not Role.OWNER:
        raise ForbiddenError(f"{caller.name} is not an owner of {team}.", advice="Ask one of its owners.")


def may(caller: Caller, scope: TokenScope, *, team: str | None = None) -> bool:
    """Return whether `require` would pass; for what pages offer, never instead of `require`."""
    try:
        require(caller, scope, team=team)
    except (AccessError, ForbiddenError):
        return False
    return True


def digest_of(secret: str) -> str:
    """Hash a random secret for storage by sha256; 256 random bits need no slower hash."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


class IdentityService:
    """Finds out who asks."""

    def __init__(self, store: "Store") -> None:
        self._store = store

    def of_token(self, text: str, *, client: str) -> Caller:
        """Authenticate a token; refusals are counted by its address and prefix."""
        return self.caller_of(self.token(text, client=client), CallerKind.TOKEN)

    def token(self, text: str, *, client: str) -> Token:
        """Look up a token; it is checked first, so that others' guesses cannot lock its owner out."""
        prefix, secret = _split(text)
        stored = self._store.tokens.with_prefix(prefix)
        # Something is compared in any case, so that the time reveals nothing of what exists.
        right = hmac.compare_digest(digest_of(secret), stored.digest if stored else digest_of(""))
        if stored is None or not right or not stored.valid(datetime.now(UTC)):
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

        for most, *key in ((MOST_FOR_PREFIX, "prefix", prefix), (MOST_FOR_CLIENT, "client", client)):
            rate = RateLimitItemPerMinute(most, WINDOW_MINUTES)
            if not self._guesses.hit(rate, *key):
                wait = max(1, round(self._guesses.get_window_stats(rate, *key).reset_time - time.time()))
                raise TooManyAttemptsError(
                    "Too many tokens were refused.", retry_after=wait, advice=f"Try again in {wait} seconds."
                )

    def caller_of(self, token: Token, kind: CallerKind) -> Caller:
        """Return the rights of a valid token, as the database has them now."""
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
        """Read a caller's rights again, before a change that took long to prepare."""
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
        """Authenticate an OIDC sign-in; a verified address leads to an account without a subject.

        It lasts as long as a session by a token, from `since`, and ends with a sign-out in any browser.
        """
        if not subject:
            raise AccessError("The sign-in names nobody.", advice="Sign in again.")
        if datetime.now(UTC) - since > LASTS:
            raise AccessError("The sign-in has expired.", advice="Sign out, and sign in again.")
        verified_email = email if verified else None
        account = self._store.teams.account_of(subject=subject, email=verified_email)
        if account is not None and account.subject is None:
            # Two browsers may come for the first time at once: the account is the first one's.
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
    """Add implied rights: a right to change something includes reading it; organisers have every right."""
    if TokenScope.ORGANISE in scopes:
        return frozenset(TokenScope)
    return scopes | {TokenScope.READ}
