"""Who takes part and what they did: teams, accounts, memberships, access tokens, the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any

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
    """Return the name of a team, account or token where it can stand on one line.

    Raises:
        RecordError: It is empty, longer than 100 characters, padded, or holds what cannot be printed.
    """
    fits = 0 < len(value) <= LONGEST_NAME and value == value.strip() and value.isprintable()
    if not fits or "/" in value:
        raise RecordError(
            f"{what} {value[:LONGEST_NAME]!r} is not a usable name.",
            advice="Use 1 to 100 printable characters without '/', and no space around them.",
        )
    return value


class Action(StrEnum):
    """Every change that is written down."""

    TEAM_ADDED = "team-added"
    TEAM_CHANGED = "team-changed"
    ACCOUNT_ADDED = "account-added"
    ACCOUNT_CHANGED = "account-changed"
    MEMBER_ADDED = "member-added"
    MEMBER_REMOVED = "member-removed"
    TOKEN_CREATED = "token-created"  # noqa: S105 - the name of an action
    TOKEN_REVOKED = "token-revoked"  # noqa: S105 - the name of an action
    MEMBER_INVITED = "member-invited"
    SIGNED_IN = "signed-in"
    SIGNED_OUT = "signed-out"
    SET_IMPORTED = "set-imported"
    QRELS_ATTACHED = "qrels-attached"
    POLICY_CHANGED = "policy-changed"
    SUBMISSION_CHECKED = "submission-checked"
    SUBMISSION_ADDED = "submission-added"
    SUBMISSION_CONFIRMED = "submission-confirmed"
    SUBMISSION_SELECTED = "submission-selected"
    SUBMISSION_WITHDRAWN = "submission-withdrawn"
    VERDICT_CORRECTED = "verdict-corrected"
    ROUND_CREATED = "round-created"
    ROUND_PAUSED = "round-paused"
    ROUND_CANCELLED = "round-cancelled"
    ROUND_DELETED = "round-deleted"
    ROUND_RETRIED = "round-retried"
    ROUND_BUDGET_CHANGED = "round-budget-changed"
    JOB_QUEUED = "job-queued"
    JOB_CANCELLED = "job-cancelled"
    BOARD_PUBLISHED = "board-published"
    BOARD_RETRACTED = "board-retracted"
    BOARD_NOTED = "board-noted"
    BOARD_CORRECTED = "board-corrected"
    BOARD_RENEWED = "board-renewed"

    @property
    def words(self) -> str:
        """What people read for it, between who did it and what it was done to."""
        return _ACTION_WORDS[self]


_ACTION_WORDS: Mapping[Action, str] = MappingProxyType(
    {
        Action.TEAM_ADDED: "added a team",
        Action.TEAM_CHANGED: "changed a team",
        Action.ACCOUNT_ADDED: "added an account",
        Action.ACCOUNT_CHANGED: "changed an account",
        Action.MEMBER_ADDED: "put a member into a team",
        Action.MEMBER_REMOVED: "removed a member from a team",
        Action.TOKEN_CREATED: "made a token",
        Action.TOKEN_REVOKED: "revoked a token",
        Action.MEMBER_INVITED: "made an invitation",
        Action.SIGNED_IN: "signed in",
        Action.SIGNED_OUT: "signed out",
        Action.SET_IMPORTED: "imported a question set",
        Action.QRELS_ATTACHED: "attached relevance judgments",
        Action.POLICY_CHANGED: "changed the rules of a question set",
        Action.SUBMISSION_CHECKED: "checked a file",
        Action.SUBMISSION_ADDED: "submitted a file",
        Action.SUBMISSION_CONFIRMED: "confirmed a submission",
        Action.SUBMISSION_SELECTED: "chose a submission for the board",
        Action.SUBMISSION_WITHDRAWN: "withdrew a submission",
        Action.VERDICT_CORRECTED: "corrected a verdict",
        Action.ROUND_CREATED: "planned a round",
        Action.ROUND_PAUSED: "paused a round",
        Action.ROUND_CANCELLED: "cancelled a round",
        Action.ROUND_DELETED: "deleted a round",
        Action.ROUND_RETRIED: "retried a round",
        Action.ROUND_BUDGET_CHANGED: "changed the cap of a round",
        Action.JOB_QUEUED: "queued a job",
        Action.JOB_CANCELLED: "cancelled a job",
        Action.BOARD_PUBLISHED: "published a board",
        Action.BOARD_RETRACTED: "retracted a board",
        Action.BOARD_NOTED: "wrote a notice on a board",
        Action.BOARD_CORRECTED: "corrected a board",
        Action.BOARD_RENEWED: "renewed a board",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditNote:
    """What is to be written down with a change.

    Attributes:
        actor: Who did it, in words; never a secret.
        action: What was done.
        subject: What it was done to, as "submission 12" or "team Example".
        team: The team it concerns, whose members may read it; empty for none.
        detail: What else there is to know; JSON values, never texts of answers or secrets.
    """

    actor: str
    action: Action
    subject: str
    team: str = ""
    detail: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One line of the log."""

    id: int
    at: datetime
    actor: str
    action: Action
    subject: str
    team: str
    detail: Mapping[str, Any]
