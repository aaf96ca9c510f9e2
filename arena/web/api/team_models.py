"""What the API answers about teams, members and tokens."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field

from arena.services.identity import Caller
from arena.services.json_views import audit_json, member_json, team_json, token_json
from arena.services.teams import TeamView
from arena.services.tokens import CreatedToken
from data.records import AuditEntry, Membership, Role, Team, Token, TokenScope

LABEL = r"^[^/\x00-\x1f\x7f]{1,100}$"
TeamName = Annotated[str, Path(pattern=LABEL, max_length=100, description="Name of the team.")]
AccountName = Annotated[str, Path(pattern=LABEL, max_length=100, description="Name of the account.")]
TokenNumber = Annotated[int, Path(ge=1, le=2**31 - 1, description="Number of the token.")]


class Sent(BaseModel):
    """A body that somebody sends; a field that is not known is refused, never overlooked."""

    model_config = ConfigDict(extra="forbid")


class CallerLine(BaseModel):
    """Who a token stands for."""

    name: str
    account: str | None
    teams: dict[str, Role] = Field(description="Roles by team.")
    scopes: list[TokenScope]
    organiser: bool

    @classmethod
    def of(cls, caller: Caller) -> CallerLine:
        """Translate a caller."""
        return cls(
            name=caller.name,
            account=caller.account,
            teams=dict(caller.roles),
            scopes=sorted(caller.scopes),
            organiser=caller.organiser,
        )


class TeamLine(BaseModel):
    """A team."""

    name: str
    title: str
    contact: str
    created_at: datetime

    @classmethod
    def of(cls, team: Team) -> TeamLine:
        """Translate a team."""
        return cls.model_validate(team_json(team))


class TeamList(BaseModel):
    """The teams of whoever asks; organisers see all."""

    teams: list[TeamLine]


class MemberLine(BaseModel):
    """A member of a team."""

    account: str
    role: Role
    since: datetime

    @classmethod
    def of(cls, member: Membership) -> MemberLine:
        """Translate a membership."""
        return cls.model_validate(member_json(member))


class TeamFull(TeamLine):
    """A team with its members."""

    members: list[MemberLine]

    @classmethod
    def of_view(cls, view: TeamView) -> TeamFull:
        """Translate a view of a team."""
        members = [MemberLine.of(one) for one in view.members]
        return cls(**TeamLine.of(view.team).model_dump(), members=members)


class RoleChoice(Sent):
    """What an account shall be in a team."""

    role: Role = Role.MEMBER


class TokenWish(Sent):
    """What a new token shall be."""

    name: str = Field(min_length=1, max_length=100, description="What it is for.", examples=["CI"])
    scopes: list[TokenScope] = Field(
        min_length=1, description="What it may be used for.", examples=[["read", "submit"]]
    )
    days: int | None = Field(None, ge=1, le=730, description="Days until it expires; null: it does not.")


class TokenLine(BaseModel):
    """A token without its secret."""

    id: int
    prefix: str = Field(description="The part between the first two underscores.")
    name: str
    team: str | None
    account: str | None
    scopes: list[TokenScope]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    used_at: datetime | None

    @classmethod
    def of(cls, token: Token) -> TokenLine:
        """Translate a token."""
        return cls.model_validate(token_json(token))


class TokenSecret(TokenLine):
    """A new token; `token` is shown this once."""

    token: str

    @classmethod
    def of_new(cls, made: CreatedToken) -> TokenSecret:
        """Translate a token that was just made."""
        return cls.model_validate({**token_json(made.token), "token": made.secret})


class TokenList(BaseModel):
    """Tokens without their secrets."""

    tokens: list[TokenLine]


class LogLine(BaseModel):
    """One thing that was done."""

    id: int
    at: datetime
    actor: str
    action: str
    subject: str
    team: str
    detail: dict[str, Any]

    @classmethod
    def of(cls, entry: AuditEntry) -> LogLine:
        """Translate an entry of the audit log."""
        return cls.model_validate(audit_json(entry))


class LogPage(BaseModel):
    """What was done, the newest first."""

    log: list[LogLine]
    next: int | None = Field(description="Cursor of the next page; null after the last.")
