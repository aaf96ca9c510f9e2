"""Tables for teams, accounts, invitations, tokens, sessions, phases and changes."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import UniqueConstraint

from data.models import Role
from data.tables import columns as col
from data.tables.columns import Base


class TeamRow(Base, table=True):
    """Teams; a name never changes, since submissions bear it."""

    __tablename__ = "team"
    id: int | None = col.number()
    name: str = col.label(100, unique=True)
    title: str = col.prose()
    contact: str = col.prose()
    created_at: datetime = col.created()


teams = TeamRow.__table__


class AccountRow(Base, table=True):
    """People; `subject` and `email` are what an OIDC provider calls them, where they sign in by one.

    Who is closed signs in no more, until an organiser opens the account again.
    """

    __tablename__ = "account"
    id: int | None = col.number()
    name: str = col.label(100, unique=True)
    subject: str | None = col.label(255, nullable=True, unique=True)
    email: str | None = col.label(255, nullable=True, unique=True)
    is_organiser: bool = col.flag()
    closed_at: datetime | None = col.moment(nullable=True)
    created_at: datetime = col.created()


accounts = AccountRow.__table__


class MembershipRow(Base, table=True):
    """A membership."""

    __tablename__ = "membership"
    team_id: int = col.key_of("team.id")
    account_id: int = col.key_of("account.id", index=True)
    role: Role = col.word(Role)
    created_at: datetime = col.created()


memberships = MembershipRow.__table__


class TokenRow(Base, table=True):
    """Access tokens of teams and accounts; of a secret only the sha256 is kept."""

    __tablename__ = "token"
    id: int | None = col.number()
    prefix: str = col.label(16, unique=True)
    digest: str = col.label(64)
    name: str = col.label(100)
    team_id: int | None = col.parent("team.id", index=True, nullable=True)
    account_id: int | None = col.parent("account.id", index=True, nullable=True)
    scopes: Any = col.json()
    created_at: datetime = col.created()
    expires_at: datetime | None = col.moment(nullable=True)
    revoked_at: datetime | None = col.moment(nullable=True)
    used_at: datetime | None = col.moment(nullable=True)


tokens = TokenRow.__table__


class WebSessionRow(Base, table=True):
    """Browsers that are signed in, under the sha256 of their cookies."""

    __tablename__ = "web_session"
    digest: str = col.label(64, primary_key=True)
    token_id: int = col.parent("token.id", index=True)
    created_at: datetime = col.created()
    expires_at: datetime = col.moment()


web_sessions = WebSessionRow.__table__


class PhaseRow(Base, table=True):
    """Spans of time in which a set takes submissions, with their limits; null is without limit."""

    __tablename__ = "phase"
    __table_args__ = (UniqueConstraint("set_id", "name"),)
    id: int | None = col.number()
    set_id: int = col.parent("question_set.id")
    name: str = col.label(100)
    opens_at: datetime | None = col.moment(nullable=True)
    closes_at: datetime | None = col.moment(nullable=True)
    daily_quota: int | None = col.whole(nullable=True)
    total_quota: int | None = col.whole(nullable=True)
    file_mb: int | None = col.whole(nullable=True)
    answer_chars: int | None = col.whole(nullable=True)


phases = PhaseRow.__table__


class ChangeCounterRow(Base, table=True):
    """How many changes there were that readers may notice; one row."""

    __tablename__ = "change_counter"
    id: int | None = col.number()
    number: int = col.whole()


change_counter = ChangeCounterRow.__table__


class InvitationRow(Base, table=True):
    """Invitations to teams, under the sha256 of their codes."""

    __tablename__ = "invitation"
    digest: str = col.label(64, primary_key=True)
    team_id: int = col.parent("team.id", index=True)
    uses_left: int = col.whole()
    expires_at: datetime = col.moment()


invitations = InvitationRow.__table__
