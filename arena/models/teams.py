"""Teams, tokens and the log as JSON: one model each, for commands and routes alike."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import AliasChoices, AliasPath, BeforeValidator, Field

from arena.models.base import Value
from data.models import Role, TokenScope


class TeamLine(Value):
    """A team."""

    name: str
    title: str
    contact: str
    created_at: datetime


class MemberLine(Value):
    """A member of a team."""

    account: str
    role: Role
    since: datetime = Field(validation_alias="created_at")


class AccountLine(Value):
    """An account, for organisers."""

    name: str
    subject: str | None
    email: str | None
    organiser: bool = Field(validation_alias="is_organiser")
    created_at: datetime
    closed_at: datetime | None = None


class TokenLine(Value):
    """A token without its secret."""

    id: int
    prefix: str = Field(description="The part between the first two underscores.")
    name: str
    team: str | None
    account: str | None
    scopes: Annotated[list[TokenScope], BeforeValidator(sorted)]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    used_at: datetime | None


class BlockLine(Value):
    """One thing that a submission waits for."""

    why: str
    text: str
    round: str = Field(description="The round that it is about; empty for none.")


class WaitingLine(Value):
    """A submission that waits."""

    submission: int = Field(validation_alias=AliasPath("submission", "id"))
    system: str = Field(validation_alias=AliasPath("submission", "system"))
    version: int = Field(validation_alias=AliasPath("submission", "version"))
    team: str = Field(validation_alias=AliasPath("submission", "team"))
    plannable: bool = Field(description="Whether a new round would judge it.")
    blocks: list[BlockLine]
    warnings: list[str] = Field(description="Warnings of its check.")


class InboxLine(Value):
    """The submissions to a set that wait."""

    set: str = Field(validation_alias=AliasChoices("set_name", "set"))
    plannable: list[str] = Field(description="Systems that a new round would judge.")
    waiting: list[WaitingLine]
