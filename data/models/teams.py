"""Teams, accounts, memberships and access tokens."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from data.errors import RecordError

LONGEST_NAME = 100


class Role(StrEnum):
    """What an account is in a team: owners also manage members and tokens."""

    OWNER = "owner"
    MEMBER = "member"


class TokenScope(StrEnum):
    """What a token may be used for."""

    READ = "read"
    SUBMIT = "submit"
    MANAGE = "manage"
    ORGANISE = "organise"


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """A team. Its name never changes, since submissions bear it; the title is what readers see."""

    id: int
    name: str
    title: str
    contact: str
    created_at: datetime

    def __post_init__(self) -> None:
        require_label(self.name, "Team name")


@dataclass(frozen=True, slots=True, kw_only=True)
class UserAccount:
    """A person; `subject` and `email` are what an OIDC provider calls them, None without one.

    `closed_at` is since when they cannot sign in; None while they can.
    """

    id: int
    name: str
    subject: str | None
    email: str | None
    is_organiser: bool
    created_at: datetime
    closed_at: datetime | None = None

    def __post_init__(self) -> None:
        require_label(self.name, "Account name")


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """An account's place in a team."""

    team: str
    account: str
    role: Role
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """An access token without its secret: of a team (`account` None) or of an account (`team` None)."""

    id: int
    prefix: str
    name: str
    team: str | None
    account: str | None
    scopes: frozenset[TokenScope]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    used_at: datetime | None

    def valid(self, at: datetime) -> bool:
        """Whether it may be used at a moment."""
        return self.revoked_at is None and (self.expires_at is None or at < self.expires_at)


def require_label(value: str, what: str) -> str:
    """Return the name of a team, account or token where it can stand on one line."""
    fits = 0 < len(value) <= LONGEST_NAME and value == value.strip() and value.isprintable()
    if not fits or "/" in value:
        raise RecordError(
            f"{what} {value[:LONGEST_NAME]!r} is not a usable name.",
            advice="Use 1 to 100 printable characters without '/', and no space around them.",
        )
    return value
