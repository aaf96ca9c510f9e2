"""The audit log: who did what on what, and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


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
    SIGNED_IN = "signed-in"
    SIGNED_OUT = "signed-out"
    SET_IMPORTED = "set-imported"
    POLICY_CHANGED = "policy-changed"
    SUBMISSION_CHECKED = "submission-checked"
    SUBMISSION_ADDED = "submission-added"
    SUBMISSION_CONFIRMED = "submission-confirmed"
    SUBMISSION_SELECTED = "submission-selected"
    SUBMISSION_WITHDRAWN = "submission-withdrawn"
    ROUND_CREATED = "round-created"
    ROUND_PAUSED = "round-paused"
    ROUND_CANCELLED = "round-cancelled"
    ROUND_RETRIED = "round-retried"
    ROUND_BUDGET_CHANGED = "round-budget-changed"
    JOB_QUEUED = "job-queued"
    JOB_CANCELLED = "job-cancelled"
    BOARD_PUBLISHED = "board-published"
    BOARD_RETRACTED = "board-retracted"
    ANNOTATION_OPENED = "annotation-opened"
    ANNOTATION_CLOSED = "annotation-closed"
    BOARD_NOTED = "board-noted"


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
