"""Rules for submissions: ownership of the system, phase, quota, limits."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from arena.services.accounts.auth import Caller, CallerKind, require
from arena.services.accounts.redaction import NAMELESS
from arena.services.question_sets.policies import closed_error
from arena.services.submissions.reader import counts_now
from data.errors import ConflictError, ForbiddenError, InputError, QuotaError
from data.files.text_files import MEBIBYTE
from data.models import Phase, SetPolicy, Submission, SubmissionKind, SubmissionState, TokenScope
from data.store import Store
from data.store.submissions import other_kind
from data.system_names import name_key
from submissions.limits import IntakeLimits

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """A team's used quota on a set, in the open phase if any.

    A submission does not count if it was withdrawn before judging or all its rounds were cancelled.
    """

    phase: Phase | None
    used_today: int
    used: int

    @property
    def left_today(self) -> int | None:
        """Remaining submissions today (UTC); None without a limit."""
        limit = None if self.phase is None else self.phase.daily_quota
        return None if limit is None else max(0, limit - self.used_today)

    @property
    def sentence(self) -> str:
        """Number of the next submission among the allowed ones."""
        phase = self.phase or Phase()
        spans = [
            f"submission {used + 1} of {limit} {span}"
            for used, limit, span in (
                (self.used, phase.total_quota, f"in phase {phase.name}"),
                (self.used_today, phase.daily_quota, "today (UTC)"),
            )
            if limit
        ]
        if not spans:
            return "This phase has no limit. You can withdraw the submission at any time."
        return f"This is {' and '.join(spans)}. Withdrawing it before judging begins gives it back."

    @property
    def left(self) -> int | None:
        """Remaining submissions of the phase; None without a limit."""
        limit = None if self.phase is None else self.phase.total_quota
        return None if limit is None else max(0, limit - self.used)


class Intake:
    """Admission checks, called inside the transaction that stores the submission."""

    def __init__(self, store: Store, limits: IntakeLimits) -> None:
        self._store = store
        self._limits = limits

    def team_for(self, caller: Caller, team: str) -> str:
        """Return the team that a caller submits for: `team`, else their only team."""
        if not team and not caller.organiser:
            require(caller, TokenScope.SUBMIT)
            if len(caller.teams) != 1:
                teams = ", ".join(caller.teams) or "none"
                raise InputError("The team to submit for is missing.", advice=f"Your teams: {teams}.")
            team = caller.teams[0]
        require(caller, TokenScope.SUBMIT, team=team or None)
        return team

    def limits(self, phase: Phase | None) -> IntakeLimits:
        """Return the limits on a file in a phase, capped by the installation's limits."""
        limits = self._limits
        if phase is not None and phase.file_mb is not None:
            limits = replace(limits, file_bytes=min(limits.file_bytes, phase.file_mb * MEBIBYTE))
        if phase is not None and phase.answer_chars is not None:
            limits = replace(limits, answer_chars=min(limits.answer_chars, phase.answer_chars))
        return limits

    def open_phase(self, policy: SetPolicy) -> Phase:
        """Return the phase that is open now."""
        phase = policy.current(datetime.now(UTC))
        if phase is None:
            raise closed_error(policy)
        return phase

    def require_free_name(
        self,
        caller: Caller,
        set_name: str,
        system: str,
        team: str,
        kind: SubmissionKind = SubmissionKind.ANSWERS,
    ) -> Submission | None:
        """Return the system's newest version, if any; refuse another team's name."""
        if name_key(system).startswith(name_key(NAMELESS)):
            raise ConflictError(
                f"Names like {system} are reserved for hidden systems.", advice="Choose another name."
            )
        self._store.submissions.require_distinct(set_name, system)
        versions = self._store.submissions.find(set_name=set_name, system=system, kind=None)
        if versions and versions[-1].team != team and caller.kind is not CallerKind.OPERATOR:
            raise ConflictError(
                f"The name {system} is taken on {set_name}.", advice="Choose another name for your system."
            )
        newest = max(versions, key=lambda version: version.id, default=None)
        if newest is not None and newest.kind is not kind:
            raise other_kind(system, set_name, newest.kind)
        return newest

    def quota(self, policy: SetPolicy, team: str) -> Quota:
        """Return the use of a team's quota."""
        at = datetime.now(UTC)
        phase = policy.current(at)
        rounds = self._store.statuses.rounds_of(policy.set_name)
        versions = self._store.submissions.versions(policy.set_name, team)
        charged = [submission for submission in versions if counts_now(submission, rounds)]
        return Quota(
            phase=phase,
            used_today=_today(charged, at),
            used=sum(phase is not None and submission.phase == phase.name for submission in charged),
        )

    def require_quota(self, policy: SetPolicy, team: str) -> None:
        """Refuse a team whose quota is used up; the operator, without a team, has none."""
        if not team:
            return
        self._store.teams.lock(team)
        quota = self.quota(policy, team)
        phase = quota.phase
        if phase is None:
            raise closed_error(policy)
        if quota.left == 0:
            raise QuotaError(
                f"{team} has used its {phase.total_quota} submissions to {policy.set_name} "
                f"in phase {phase.name}.",
                advice="Withdraw a submission that is not judged yet to get its attempt back.",
            )
        if quota.left_today == 0:
            raise QuotaError(
                f"{team} has used its {phase.daily_quota} submissions to {policy.set_name} for today.",
                advice="Try again after midnight UTC, or withdraw a submission that is not judged yet.",
            )

    def own(self, caller: Caller, submission: Submission) -> None:
        """Refuse a caller who may not change a submission."""
        require(caller, TokenScope.SUBMIT)
        if not caller.organiser and (not submission.team or caller.role_in(submission.team) is None):
            raise ForbiddenError(
                f"Submission {submission.id} belongs to another team.", advice="Choose one of your own."
            )
        if submission.id == self._store.submissions.reference(submission.set_name).id:
            raise ConflictError(
                f"Submission {submission.id} is the reference of {submission.set_name}.",
                advice="A reference belongs to its set; import another set without it.",
            )


def require_accepted(submission: Submission) -> None:
    """Refuse submissions that are withdrawn or unconfirmed."""
    if submission.state is SubmissionState.WITHDRAWN:
        raise ConflictError(
            f"Submission {submission.id} is already withdrawn.", advice="Submit another version."
        )
    if submission.state is SubmissionState.CHECKED:
        raise ConflictError(f"Submission {submission.id} is not confirmed.", advice="Confirm it first.")


def _today(submissions: Sequence[Submission], at: datetime) -> int:
    midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
    return sum(midnight <= submission.created_at < midnight + DAY for submission in submissions)
