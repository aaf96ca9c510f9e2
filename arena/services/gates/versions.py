"""Which two versions a gate holds against each other, and who may have that done."""

from __future__ import annotations

from dataclasses import dataclass, replace

from arena.services.accounts.auth import Caller, CallerKind, require
from arena.services.gates.model import GateRequest
from arena.services.judging.judges import JudgeService
from arena.services.submissions.eligibility import no_submission
from arena.services.submissions.version_names import LAST, VERSIONS, number_in
from data.errors import ConflictError, ForbiddenError, InputError, NotFoundError
from data.records import GateRule, Submission, SubmissionKind, SubmissionState, TokenScope
from data.store import Store
from judges.catalogue import require_registered

EMBEDDED = "lexical"


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """The new and the old version, and the request with judge and cap filled in."""

    new: Submission
    old: Submission
    request: GateRequest

    @property
    def judge(self) -> str:
        """The judge's name."""
        return self.request.judge or EMBEDDED


class GateRules:
    """Decides what a gate may be of, and within what."""

    def __init__(self, store: Store, judges: JudgeService) -> None:
        self._store = store
        self._judges = judges

    def admit(self, request: GateRequest, *, caller: Caller) -> Versions:
        """The two versions, with the judge and the cap that the set's rule gives.

        The operator and organisers choose judge and cap themselves; a team's members have those of the set.

        Raises:
            NotFoundError: There is no such submission or version, or no such judge.
            InputError: The versions cannot be compared, or a judge asks an LLM and there is no cap.
            ForbiddenError: It is another team's, or the set's organisers allow no such gate.
        """
        new = self._store.submissions.get(request.submission)
        self._require_own(caller, new)
        if new.kind is not SubmissionKind.ANSWERS:
            raise InputError(f"Submission {new.id} holds contexts.", advice="A gate compares answers.")
        if new.state is SubmissionState.WITHDRAWN:
            raise ConflictError(f"Submission {new.id} is withdrawn.", advice="Send the file again.")
        old = self._old(new, request.against)
        rule = self._store.policies.get(new.set_name).gate
        if request.judge and caller.kind is not CallerKind.OPERATOR:
            require_registered(request.judge)
        allowed = request if caller.organiser else _within(rule, request, new.set_name)
        judge = allowed.judge or (rule.judge if rule is not None else EMBEDDED)
        budget = allowed.budget_usd
        if budget is None and rule is not None and judge == rule.judge:
            budget = rule.budget_usd
        if budget is None and self._judges.spec(judge).models:
            raise InputError(
                f"The judge {judge} asks an LLM, and the gate has no cap.", advice="Give --budget-usd."
            )
        return Versions(new=new, old=old, request=replace(allowed, judge=judge, budget_usd=budget))

    def _require_own(self, caller: Caller, new: Submission) -> None:
        require(caller, TokenScope.SUBMIT)
        if new.id == self._store.submissions.reference(new.set_name).id:
            raise no_submission(new.id)
        if caller.organiser or (new.team and caller.role_in(new.team) is not None):
            return
        if new.state is SubmissionState.ACCEPTED and not new.anonymous:
            raise ForbiddenError(f"Submission {new.id} is not your team's.", advice="Choose one of your own.")
        raise no_submission(new.id)

    def _old(self, new: Submission, against: str) -> Submission:
        versions = [
            version
            for version in self._store.submissions.find(set_name=new.set_name, system=new.system)
            if version.submitted_at is not None
        ]
        standing = [version for version in versions if version.state is SubmissionState.ACCEPTED]
        if against == LAST:
            if not standing:
                raise NotFoundError(
                    f"{new.system} has no submitted version on {new.set_name} to be held against.",
                    advice="Submit a first one: `arena submissions add`.",
                )
            return standing[-1]
        number = number_in(against)
        by_id = against.startswith("id:")
        chosen = next(
            (version for version in versions if number == (version.id if by_id else version.version)), None
        )
        if chosen is None:
            known = ", ".join(str(version.id if by_id else version.version) for version in standing) or "none"
            raise NotFoundError(
                f"{new.system} has no {'submission' if by_id else 'version'} {number} on {new.set_name}; "
                f"there are: {known}.",
                advice=VERSIONS,
            )
        if chosen.state is not SubmissionState.ACCEPTED:
            raise ConflictError(
                f"Version {chosen.version} of {new.system} is {chosen.state}.", advice="Name another version."
            )
        return chosen


def _within(rule: GateRule | None, request: GateRequest, set_name: str) -> GateRequest:
    if rule is None:
        raise ForbiddenError(
            f"The organisers of {set_name} allow no gates by teams.",
            advice=f"Ask them for `arena sets policy {set_name} --gate-judge JUDGE`.",
        )
    if request.judge is not None and request.judge != rule.judge:
        raise ForbiddenError(
            f"Gates on {set_name} are judged by {rule.judge}, not by {request.judge[:60]}.",
            advice="Leave out --judge.",
        )
    if rule.budget_usd is None:
        return replace(request, judge=rule.judge, budget_usd=None)
    wanted = rule.budget_usd if request.budget_usd is None else request.budget_usd
    return replace(request, judge=rule.judge, budget_usd=min(rule.budget_usd, wanted))
