"""Phases, deadlines and quotas of question sets."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from arena.services.accounts.auth import OPERATOR, Caller, require
from data.errors import ClosedError, NotFoundError
from data.models import Phase, SetPolicy, TokenScope
from data.store import Store


class PolicyService:
    """Use cases around what holds for submissions to a set."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, set_name: str) -> SetPolicy:
        """The policy of a set; it is public, so that teams know their deadlines.

        Raises:
            NotFoundError: There is no such set.
        """
        return self._store.policies.get(set_name)

    def put_phase(self, set_name: str, phase: Phase, *, caller: Caller = OPERATOR) -> SetPolicy:
        """Add a phase to a set, or replace the one of its name.

        Raises:
            NotFoundError: There is no such set.
            RecordError: It overlaps another phase.
            ForbiddenError: Only organisers may.
        """
        policy = self.get(set_name)
        names = [existing.name for existing in policy.phases]
        phases = (
            tuple(phase if existing.name == phase.name else existing for existing in policy.phases)
            if phase.name in names
            else (*policy.phases, phase)
        )
        return self.put(replace(policy, phases=phases), caller=caller)

    def drop_phase(self, set_name: str, name: str, *, caller: Caller = OPERATOR) -> SetPolicy:
        """Take a phase from a set.

        Raises:
            NotFoundError: There is no such set or phase.
            ForbiddenError: Only organisers may.
        """
        policy = self.get(set_name)
        remaining = tuple(phase for phase in policy.phases if phase.name != name)
        if remaining == policy.phases:
            raise NotFoundError(
                f"{set_name} has no phase {name!r}.", advice=f"`arena sets policy {set_name}` shows them."
            )
        return self.put(replace(policy, phases=remaining), caller=caller)

    def hide_references(self, set_name: str, *, hidden: bool, caller: Caller = OPERATOR) -> SetPolicy:
        """Hide the references of a set's test questions from everybody, or show them.

        Raises:
            NotFoundError: There is no such set.
            ForbiddenError: Only organisers may.
        """
        return self.put(replace(self.get(set_name), hidden_references=hidden), caller=caller)

    def show_texts(self, set_name: str, *, public: bool, caller: Caller = OPERATOR) -> SetPolicy:
        """Say whether the licence of a set lets everybody see its texts; without, visitors cannot label.

        Raises:
            NotFoundError: There is no such set.
            ForbiddenError: Only organisers may.
        """
        return self.put(replace(self.get(set_name), public_texts=public), caller=caller)

    def put(self, policy: SetPolicy, *, caller: Caller = OPERATOR) -> SetPolicy:
        """Replace the policy of a set; raises as `put_phase`."""
        require(caller, TokenScope.ORGANISE)
        with self._store.changing():
            stored = self._store.policies.put(policy)
            subject = f"set {policy.set_name}"
        caller.log("policy-changed", subject, **policy_json(stored))
        return stored


def policy_json(policy: SetPolicy) -> dict[str, Any]:
    """A policy as JSON; moments in ISO 8601."""
    return {
        "set": policy.set_name,
        "hidden_references": policy.hidden_references,
        "public_texts": policy.public_texts,
        "phases": [
            {
                **asdict(phase),
                "opens_at": phase.opens_at and phase.opens_at.isoformat(),
                "closes_at": phase.closes_at and phase.closes_at.isoformat(),
            }
            for phase in policy.phases
        ],
    }


def closed_error(policy: SetPolicy) -> ClosedError:
    """Why a set takes nothing now, with the moments that matter."""
    spans = "; ".join(
        f"{phase.name} is open {_moment('from', phase.opens_at)}{_moment('until', phase.closes_at)}".rstrip()
        for phase in policy.phases
    )
    return ClosedError(
        f"{policy.set_name} takes no submissions now: {spans}.",
        advice="Ask the organisers about other phases.",
    )


def _moment(word: str, moment: object) -> str:
    return f"{word} {moment:%Y-%m-%d %H:%M} UTC " if moment else ""
