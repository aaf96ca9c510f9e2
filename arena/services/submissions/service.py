"""Submissions: check, add, select, withdraw."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from arena.services.accounts.auth import OPERATOR, PUBLIC, Caller, CallerKind, IdentityService, require
from arena.services.accounts.set_access import SetAccess
from arena.services.accounts.teams import TeamService
from arena.services.submissions.eligibility import Intake, Quota, require_accepted
from arena.services.submissions.reader import SubmissionReader
from arena.services.submissions.uploads import FileChecks
from arena.services.system import Notifier, rare_collections
from arena.services.text_process import Poll
from data import models
from data.declines import declines
from data.errors import ConflictError, InputError, InvalidFileError
from data.models.words import DISQUALIFIED
from data.store import Store
from data.store.submissions import NewSubmission
from submissions.card import load_card
from submissions.check import CheckReport, read_answers
from submissions.context_files import read_contexts
from submissions.limits import IntakeLimits
from submissions.question_index import answers_template, sample_answers

UPLOAD_WAIT_MS = 180_000
"""Maximum wait of an upload for the database's write lock."""
MAX_REASON = 500
REPEATED_STATES = (models.SubmissionState.CHECKED, models.SubmissionState.ACCEPTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedSubmission:
    """Result of `add`; `created` is False if the newest version has the same content."""

    submission: models.Submission
    created: bool
    warnings: tuple[models.Problem, ...]


class SubmissionService(SubmissionReader):
    """Service for submissions; by default writes act as the operator and reads as the public."""

    def __init__(
        self,
        store: Store,
        teams: TeamService,
        notifier: Notifier,
        *,
        identities: IdentityService,
        limits: IntakeLimits,
        checks: FileChecks,
    ) -> None:
        super().__init__(store)
        self._teams = teams
        self._notifier = notifier
        self._identities = identities
        self._limits = limits
        self.checks = checks
        self._intake = Intake(store, limits)

    def check(
        self,
        path: Path,
        set_name: str,
        *,
        kind: models.SubmissionKind = models.SubmissionKind.ANSWERS,
        system: str = "",
        keep_na: bool = False,
        caller: Caller = OPERATOR,
        poll: Poll | None = None,
    ) -> CheckReport:
        """Check a file against a set and report every problem; hidden references are left out.

        Options are as in `add`.
        """
        limits = replace(self.limits(set_name), system=system, keep_na=keep_na)
        questions = self._questions(set_name, caller)
        return self.checks.file(path, kind, questions, limits, poll)

    @rare_collections()
    def add(
        self,
        path: Path,
        set_name: str,
        *,
        system: str,
        kind: models.SubmissionKind = models.SubmissionKind.ANSWERS,
        team: str = "",
        card: Path | models.SystemCard | None = None,
        anonymous: bool | None = None,
        confirm: bool = True,
        keep_na: bool = False,
        caller: Caller = OPERATOR,
        poll: Poll | None = None,
    ) -> AddedSubmission:
        """Check a file and store it as the system's next version, whole or not at all.

        Args:
            path: The answer file, or file of contexts.
            set_name: The question set.
            system: Name of the system; from a table of several systems its rows or column are read.
            kind: Kind of the file; a system submits one kind to a set.
            team: Name of the team; optional for a caller with only one. The operator creates new teams by
                naming them.
            card: System card, or its file.
            anonymous: Hide the names until publication; None as in the system's previous version.
            keep_na: Read words for missing values (`NA`) as texts.
            confirm: Accept it at once; else it is `checked` and waits for `confirm`.
            caller: The caller.
            poll: Called at intervals during the check; an exception from it stops the check.
        """
        models.require_system_name(system)
        team = self._intake.team_for(caller, team)
        policy = self._store.policies.get(set_name)
        phase = self._intake.open_phase(policy)
        limits = replace(self._intake.limits(phase), system=system, keep_na=keep_na)
        questions = self._questions(set_name, caller)
        read_card = (
            load_card(card, self.checks.card) if isinstance(card, Path) else card or models.SystemCard()
        )
        self._intake.require_free_name(caller, set_name, system, team, kind)
        checked = self.checks.file(path, kind, questions, limits, poll)
        _require_clean(path, checked)
        with self._store.changing(wait_ms=UPLOAD_WAIT_MS):
            # Rights and phases may have ended during the upload and the check.
            caller = self._identities.renewed(caller)
            self._intake.team_for(caller, team)
            policy = self._store.policies.get(set_name)
            if caller.organiser:
                self._teams.ensure(team, caller=caller)
            self._store.teams.lock(team)
            before = self._intake.require_free_name(caller, set_name, system, team, kind)
            if before is None or not _is_repeated(before, checked):
                phase = self._intake.open_phase(policy)
                if confirm:
                    self._intake.require_quota(policy, team)
            new = NewSubmission(
                set_name=set_name,
                system=system,
                team=team,
                card=read_card,
                content_hash=checked.content_hash,
                phase=phase.name,
                anonymous=(before.anonymous if before else False) if anonymous is None else anonymous,
                state=models.SubmissionState.ACCEPTED if confirm else models.SubmissionState.CHECKED,
                takes_over=caller.kind is CallerKind.OPERATOR,
                kind=kind,
            )
            rows = (
                ((answer, False) for answer in read_contexts(path, questions, limits=limits))
                if kind is models.SubmissionKind.CONTEXTS
                else _with_declines(read_answers(path, questions, limits=limits), questions)
            )
            submission, created = self._store.submissions.add(new, rows)
            if created:
                action = "submission-added" if confirm else "submission-checked"
                _log(caller, action, submission, content=submission.content_hash[:12])
        if created and confirm:
            self._notifier.submission_accepted(submission)
        if created:
            self._keep_warnings(submission, checked, path, kind, limits, policy)
        if not created and confirm and submission.state is models.SubmissionState.CHECKED:
            submission = self.confirm(submission.id, caller=caller)
        return AddedSubmission(submission=submission, created=created, warnings=checked.problems)

    def require_name(
        self, set_name: str, system: str, team: str, kind: models.SubmissionKind, *, caller: Caller
    ) -> None:
        """Refuse a system name that cannot be submitted."""
        models.require_system_name(system)
        self._intake.require_free_name(caller, set_name, system, team, kind)

    def confirm(self, number: int, *, caller: Caller = OPERATOR) -> models.Submission:
        """Accept a checked submission: it counts against the quota and enters rounds."""
        with self._store.changing(wait_ms=UPLOAD_WAIT_MS):
            policy = self._store.policies.get(self._own(caller, number).set_name)
            submission = self._store.submissions.locked(number)
            if submission.state is not models.SubmissionState.CHECKED:
                raise ConflictError(
                    f"Submission {number} is {submission.state}, so it cannot be confirmed.",
                    advice="Only checked submissions can be confirmed.",
                )
            self._intake.open_phase(policy)
            self._intake.require_quota(policy, submission.team)
            confirmed = self._store.submissions.confirm(number)
        _log(caller, "submission-confirmed", confirmed)
        self._notifier.submission_accepted(confirmed)
        return confirmed

    def limits(self, set_name: str) -> IntakeLimits:
        """Return the public limits on a file in the open phase, or the next."""
        return self._intake.limits(self._store.policies.get(set_name).nearest(datetime.now(UTC)))

    def template(self, set_name: str, *, sample: bool, caller: Caller = PUBLIC) -> str:
        """Return a JSONL file to fill in for a set, or a small valid sample."""
        questions = self._questions(set_name, caller)
        lines = sample_answers(questions) if sample else answers_template(questions)
        return "".join(f"{line}\n" for line in lines)

    def quota(self, set_name: str, team: str, *, caller: Caller) -> Quota:
        """Return the use of a team's quota for a set."""
        return self._intake.quota(self._store.policies.get(set_name), self._intake.team_for(caller, team))

    def select(self, number: int, *, caller: Caller = OPERATOR) -> models.Submission:
        """Choose the version that represents its system in future rounds."""
        with self._store.changing():
            self._own(caller, number)
            require_accepted(self._store.submissions.locked(number))
            selected = self._store.submissions.select(number)
        _log(caller, "submission-selected", selected)
        return selected

    def withdraw(
        self, number: int, *, reason: str = "", disqualify: bool = False, caller: Caller = OPERATOR
    ) -> models.Submission:
        """Withdraw a submission: hide its texts and leave a tombstone.

        It enters no more rounds, and its pending battles end as `missing`. If judging had not begun, the
        attempt is returned. Boards mark submissions that organisers `disqualify`.
        """
        if disqualify:
            require(caller, models.TokenScope.ORGANISE)
            if not reason.strip():
                raise InputError("The reason is missing.", advice="Add the reason for disqualification.")
            reason = f"{DISQUALIFIED}: {reason.strip()}"
        if len(reason) > MAX_REASON or not reason.isprintable():
            raise InputError(
                "The reason is invalid.", advice=f"Use at most {MAX_REASON} printable characters."
            )
        with self._store.changing():
            self._own(caller, number)
            if self._store.submissions.locked(number).state is models.SubmissionState.WITHDRAWN:
                raise ConflictError(f"Submission {number} is already withdrawn.")
            withdrawn = self._store.submissions.withdraw(number, reason)
            ended = self._store.battles.drop_side(number)
        _log(caller, "submission-withdrawn", withdrawn, reason=reason, battles_ended=ended)
        return withdrawn

    def _keep_warnings(
        self,
        submission: models.Submission,
        checked: CheckReport,
        path: Path,
        kind: models.SubmissionKind,
        limits: IntakeLimits,
        policy: models.SetPolicy,
    ) -> None:
        problems = checked.problems
        if policy.hidden_references and kind is models.SubmissionKind.ANSWERS:
            whole = self._store.sets.get(submission.set_name)
            problems = self.checks.file(path, kind, whole, limits).problems
        first: dict[str, str] = {}
        counts: Counter[str] = Counter()
        for problem in problems:
            counts[problem.code] += 1
            first.setdefault(problem.code, problem.message)
        warnings = [
            message if counts[code] == 1 else f"{message} ({counts[code]:,} times)"
            for code, message in first.items()
        ]
        if warnings:
            self._store.submissions.keep_warnings(submission.id, warnings)

    def _own(self, caller: Caller, number: int) -> models.Submission:
        caller = self._identities.renewed(caller)
        submission = self.known(number, caller=caller)
        self._intake.own(caller, submission)
        return submission

    def _questions(self, set_name: str, caller: Caller) -> models.QuestionSet:
        """Return the set as the caller may see it, so that warnings leak no hidden texts."""
        questions = self._store.sets.get(set_name)
        return questions.with_questions(
            map(SetAccess(self._store, caller, set_name).question, questions.questions)
        )


def _require_clean(path: Path, checked: CheckReport) -> None:
    if not checked.accepted:
        count = f"{checked.errors} {'error' if checked.errors == 1 else 'errors'}"
        raise InvalidFileError(
            f"{path.name} has {count}; nothing was stored.",
            checked.problems,
            advice="Correct the file and add it again.",
        )


def _is_repeated(before: models.Submission, checked: CheckReport) -> bool:
    return before.content_hash == checked.content_hash and before.state in REPEATED_STATES


def _with_declines(
    answers: Iterator[models.Answer], questions: models.QuestionSet
) -> Iterator[tuple[models.Answer, bool]]:
    texts = {question.id: question.question for question in questions.questions}
    for answer in answers:
        yield answer, declines(answer.answer, texts[answer.question_id])


def _log(caller: Caller, action: str, submission: models.Submission, **extra: object) -> None:
    detail = {"set": submission.set_name, "system": submission.system, "version": submission.version, **extra}
    caller.log(action, f"submission {submission.id}", team=submission.team, **detail)
