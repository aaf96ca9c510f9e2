"""Gates of teams on another machine: put into the queue, judged by a worker, looked at by their team."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from arena.services.accounts.auth import Caller, require
from arena.services.gates.model import GateRequest
from arena.services.gates.versions import GateRules
from arena.services.jobs.service import JobService
from data.errors import NotFoundError, QuotaError
from data.records import Job, JobKind, NewJob, TokenScope
from data.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class GateStatus:
    """A gate in the queue; `result` is what `GateReport.as_json` gives, None before its end."""

    id: int
    state: str
    position: int | None
    error: str
    result: dict[str, Any] | None


class GateQueue:
    """Gates for workers; every method asks who the caller is."""

    def __init__(self, store: Store, jobs: JobService, rules: GateRules) -> None:
        self._store = store
        self._jobs = jobs
        self._rules = rules

    def put(self, request: GateRequest, *, caller: Caller) -> GateStatus:
        """Let a worker judge a gate, within the rule of the set.

        Raises:
            QuotaError: The team had as many gates today as the set allows.
            NotFoundError, ConflictError, ForbiddenError, InputError: As `GateRules.admit`.
        """
        versions = self._rules.admit(request, caller=caller)
        new = versions.new
        rule = self._store.policies.get(new.set_name).gate
        payload = {"request": versions.request.as_json(), "team": new.team, "set": new.set_name}
        with self._store.audit.audited():
            if not caller.organiser and rule is not None:
                self._store.teams.lock(new.team)
                if self._today(new.team, new.set_name) >= rule.per_day:
                    raise QuotaError(
                        f"{new.team} had its {rule.per_day} gates of today on {new.set_name}.",
                        advice="Try again after midnight UTC, or submit the file.",
                    )
            # Tried once: what its cap allows must not be spent again by another attempt.
            job = self._jobs.put(caller, NewJob(kind=JobKind.GATE, payload=payload, most_attempts=1))
        return self._status(job)

    def get(self, number: int, *, caller: Caller) -> GateStatus:
        """One gate, for its team and for organisers.

        Raises:
            AccessError: Nobody is signed in.
            NotFoundError: There is no such gate, or it is another team's.
        """
        require(caller, TokenScope.READ)
        nowhere = NotFoundError(f"There is no gate {number}.", advice="POST /gates answers with its number.")
        try:
            job = self._store.jobs.get(number)
        except NotFoundError:
            raise nowhere from None
        team = job.payload.get("team", "")
        if job.kind is not JobKind.GATE or not (caller.organiser or (team and caller.role_in(team))):
            raise nowhere
        return self._status(job)

    def _today(self, team: str, set_name: str) -> int:
        midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        gates = self._store.jobs.since(midnight, kind=JobKind.GATE)
        return sum((job.payload["team"], job.payload["set"]) == (team, set_name) for job in gates)

    def _status(self, job: Job) -> GateStatus:
        return GateStatus(
            id=job.id,
            state=job.state.value,
            position=self._store.jobs.position(job),
            error=job.error,
            result=None if job.result is None else dict(job.result),
        )
