"""Teams, accounts, memberships and access tokens, with their tables."""

from datetime import datetime

from pydantic import Field, field_serializer

from data.errors import RecordError
from data.models import base as col
from data.models.base import Base, table
from data.models.words import Role, TokenScope

MAX_NAME = 100


class Team(Base, table=True):
    """Team; submissions refer to its name, which never changes, and readers see its title."""

    __tablename__ = "team"
    id: int = col.number(private=True)
    name: str = col.label(100, unique=True)
    title: str = col.prose()
    contact: str = col.prose()
    created_at: datetime = col.created()


teams = Team.__table__


class UserAccount(Base, table=True):
    """Account of a person; `subject` and `email` come from an OIDC provider.

    `closed_at` prevents signing in until an organiser reopens the account. Sessions of the provider from
    before `signed_out_at` are invalid.
    """

    __tablename__ = "account"
    id: int = col.number(private=True)
    name: str = col.label(100, unique=True)
    subject: str | None = col.label(255, nullable=True, unique=True)
    email: str | None = col.label(255, nullable=True, unique=True)
    is_organiser: bool = col.flag(alias="organiser")
    closed_at: datetime | None = col.moment(nullable=True)
    signed_out_at: datetime | None = col.moment(nullable=True, private=True)
    created_at: datetime = col.created()


accounts = UserAccount.__table__


class Membership(Base, table=True):
    """Membership of an account in a team."""

    __tablename__ = "membership"
    team_id: int = col.key_of("team.id", private=True)
    account_id: int = col.key_of("account.id", index=True, private=True)
    role: Role = col.word(Role)
    created_at: datetime = col.created(alias="since")
    team: str = col.joined(private=True)
    account: str = col.joined()


memberships = Membership.__table__


class TeamWithMembers(Team):
    """A team with its members."""

    members: tuple[Membership, ...]


class Token(Base, table=True):
    """Access token of a team or an account; only the sha256 of its secret is stored.

    `prefix` is the part between the first two underscores.
    """

    __tablename__ = "token"
    id: int = col.number()
    prefix: str = col.label(16, unique=True)
    digest: str = col.label(64, private=True)
    name: str = col.label(100)
    team_id: int | None = col.parent("team.id", index=True, nullable=True, private=True)
    account_id: int | None = col.parent("account.id", index=True, nullable=True, private=True)
    scopes: frozenset[TokenScope] = col.json()
    created_at: datetime = col.created()
    expires_at: datetime | None = col.moment(nullable=True)
    revoked_at: datetime | None = col.moment(nullable=True)
    used_at: datetime | None = col.moment(nullable=True)
    team: str | None = col.joined()
    account: str | None = col.joined()

    def valid(self, at: datetime) -> bool:
        """Return whether it is valid at a time."""
        return self.revoked_at is None and (self.expires_at is None or at < self.expires_at)

    @field_serializer("scopes")
    def _sorted(self, scopes: frozenset[TokenScope]) -> list[TokenScope]:
        return sorted(scopes)


tokens = Token.__table__


class CreatedToken(Token):
    """New token with its text, which is never available again."""

    secret: str = Field(serialization_alias="token", repr=False)


web_sessions = table(
    "web_session",
    digest=col.label(64, primary_key=True),
    token_id=col.parent("token.id", index=True),
    created_at=col.created(),
    expires_at=col.moment(),
)
"""Sessions of browsers by the sha256 of their cookies."""
invitations = table(
    "invitation",
    digest=col.label(64, primary_key=True),
    team_id=col.parent("team.id", index=True),
    uses_left=col.whole(),
    expires_at=col.moment(),
)
"""Invitations to teams by the sha256 of their codes."""
change_counter = table("change_counter", id=col.number(), number=col.whole())
"""Counter of visible changes; one row."""


def require_label(value: str, what: str) -> str:
    """Return the name of a team, account or token if it fits on one line."""
    fits = 0 < len(value) <= MAX_NAME and value == value.strip() and value.isprintable()
    if not fits or "/" in value:
        raise RecordError(
            f"{what} {value[:MAX_NAME]!r} is not a valid name.",
            advice="Use 1 to 100 printable characters without '/', and no spaces around them.",
        )
    return value
