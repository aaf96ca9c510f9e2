"""Submissions, teams, tokens and the log as JSON, the same for commands and routes."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from data.records import AuditEntry, Membership, Submission, Team, Token, UserAccount

if TYPE_CHECKING:
    from arena.services.submission_views import SubmissionLine, SubmissionView


def submission_json(one: Submission) -> dict[str, Any]:
    """A submission, as it was masked for whoever reads it."""
    fields = {
        **asdict(one),
        "state": one.state.value,
        "created_at": one.created_at.isoformat(),
        "withdrawn_at": one.withdrawn_at and one.withdrawn_at.isoformat(),
    }
    fields["set"] = fields.pop("set_name")
    return fields


def line_json(line: SubmissionLine | SubmissionView) -> dict[str, Any]:
    """A submission with where it stands; `eta` in ISO 8601, null where it is not known."""
    life = line.life
    return {
        **submission_json(line.submission),
        "state": life.state.value,
        "sight": line.sight.value,
        "rounds": list(life.rounds),
        "position": life.position,
        "eta": life.eta and life.eta.isoformat(),
        "charged": life.charged,
        "attempt": life.attempt,
        "attempts": life.attempts,
    }


def team_json(team: Team) -> dict[str, Any]:
    """A team, for those who belong to it."""
    return {
        "name": team.name,
        "title": team.title,
        "contact": team.contact,
        "created_at": team.created_at.isoformat(),
    }


def member_json(member: Membership) -> dict[str, Any]:
    """A member of a team."""
    return {"account": member.account, "role": member.role.value, "since": member.created_at.isoformat()}


def account_json(account: UserAccount) -> dict[str, Any]:
    """An account, for organisers."""
    return {
        "name": account.name,
        "subject": account.subject,
        "email": account.email,
        "organiser": account.is_organiser,
        "created_at": account.created_at.isoformat(),
    }


def token_json(token: Token) -> dict[str, Any]:
    """A token without its secret."""
    return {
        "id": token.id,
        "prefix": token.prefix,
        "name": token.name,
        "team": token.team,
        "account": token.account,
        "scopes": sorted(token.scopes),
        "created_at": token.created_at.isoformat(),
        "expires_at": token.expires_at and token.expires_at.isoformat(),
        "revoked_at": token.revoked_at and token.revoked_at.isoformat(),
        "used_at": token.used_at and token.used_at.isoformat(),
    }


def audit_json(entry: AuditEntry) -> dict[str, Any]:
    """A line of the log."""
    return {
        "id": entry.id,
        "at": entry.at.isoformat(),
        "actor": entry.actor,
        "action": entry.action.value,
        "subject": entry.subject,
        "team": entry.team,
        "detail": dict(entry.detail),
    }
