"""The tables of who may do what: teams, accounts, tokens, sessions, phases of sets, the audit log."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Column, ForeignKey, Index, UniqueConstraint
from sqlmodel import Field

from data.tables.base import TABLES, Base
from data.tables.columns import json_column, moment_column, reference_column, text_column


class TeamRow(Base, table=True):
    """A team; its name never changes, since submissions bear it."""

    __tablename__ = "team"
    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True, max_length=100)
    title: str = text_column()
    contact: str = text_column()
    created_at: datetime = moment_column()


class AccountRow(Base, table=True):
    """A person; `subject` and `email` are what an OIDC provider calls them, where they sign in by one."""

    __tablename__ = "account"
    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True, max_length=100)
    subject: str | None = Field(default=None, unique=True, max_length=255)
    email: str | None = Field(default=None, unique=True, max_length=255)
    is_organiser: bool
    created_at: datetime = moment_column()


class MembershipRow(Base, table=True):
    """An account's place in a team."""

    __tablename__ = "membership"
    team_id: int = Field(
        sa_column=Column(ForeignKey("team.id", ondelete="CASCADE"), primary_key=True, autoincrement=False)
    )
    account_id: int = Field(
        sa_column=Column(
            ForeignKey("account.id", ondelete="CASCADE"), primary_key=True, autoincrement=False, index=True
        )
    )
    role: str = Field(max_length=16)
    created_at: datetime = moment_column()


class TokenRow(Base, table=True):
    """An access token of a team or an account; of its secret only the sha256 is kept."""

    __tablename__ = "token"
    id: int | None = Field(default=None, primary_key=True)
    prefix: str = Field(unique=True, max_length=16)
    digest: str = Field(max_length=64)
    name: str = Field(max_length=100)
    team_id: int | None = reference_column("team.id", index=True, nullable=True)
    account_id: int | None = reference_column("account.id", index=True, nullable=True)
    scopes: list[str] = json_column()
    created_at: datetime = moment_column()
    expires_at: datetime | None = moment_column(nullable=True)
    revoked_at: datetime | None = moment_column(nullable=True)
    used_at: datetime | None = moment_column(nullable=True)


class WebSessionRow(Base, table=True):
    """A browser that is signed in, under the sha256 of its cookie."""

    __tablename__ = "web_session"
    digest: str = Field(primary_key=True, max_length=64)
    token_id: int = reference_column("token.id", index=True)
    created_at: datetime = moment_column()
    expires_at: datetime = moment_column()


class RefusedTokenRow(Base, table=True):
    """One refused token, under a key that stands for its prefix or for the client's address."""

    __tablename__ = "refused_token"
    __table_args__ = (Index(None, "key", "at"),)
    id: int | None = Field(default=None, primary_key=True)
    key: str = Field(max_length=64)
    at: datetime = moment_column()


class PhaseRow(Base, table=True):
    """A span of time in which a set takes submissions, with its limits; null is without limit."""

    __tablename__ = "phase"
    __table_args__ = (UniqueConstraint("set_id", "name"),)
    id: int | None = Field(default=None, primary_key=True)
    set_id: int = reference_column("question_set.id")
    name: str = Field(max_length=100)
    opens_at: datetime | None = moment_column(nullable=True)
    closes_at: datetime | None = moment_column(nullable=True)
    daily_quota: int | None = None
    total_quota: int | None = None
    file_mb: int | None = None
    answer_chars: int | None = None


class AuditRow(Base, table=True):
    """Who did what on what; rows are only ever added, which triggers of the database enforce."""

    __tablename__ = "audit"
    __table_args__ = (Index(None, "team"), Index(None, "subject"))
    id: int | None = Field(default=None, primary_key=True)
    at: datetime = moment_column()
    actor: str = text_column()
    action: str = Field(max_length=40)
    subject: str = Field(max_length=250)
    team: str = Field(max_length=100)
    detail: dict[str, Any] = json_column()


teams = TABLES["team"]
accounts = TABLES["account"]
memberships = TABLES["membership"]
tokens = TABLES["token"]
web_sessions = TABLES["web_session"]
refused_tokens = TABLES["refused_token"]
phases = TABLES["phase"]
audit = TABLES["audit"]
