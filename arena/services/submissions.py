"""Submissions: check, add, look at, withdraw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from data.errors import ConflictError, InvalidFileError
from data.files import MEBIBYTE
from data.no_answer import is_no_answer
from data.records import Answer, Problem, Submission, SubmissionState, SystemCard, require_name
from data.store import Store
from data.store.submissions import NewSubmission
from submissions.card import load_card
from submissions.check import CheckResult, check_answers, read_answers
from submissions.limits import IntakeLimits
from submissions.template import answers_template, sample_answers


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedSubmission:
    """What `add` did; `created` is False where the newest version has the same content."""

    submission: Submission
    created: bool
    warnings: tuple[Problem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionView:
    """A submission with its coverage of the set: shares of the questions by domain, 0–1."""

    submission: Submission
    coverage: Mapping[str, float]
    no_answer_share: Mapping[str, float]


class SubmissionService:
    """Use cases around submissions."""

    def __init__(self, store: Store, *, max_upload_mb: int) -> None:
        self._store = store
        self._limits = IntakeLimits(file_bytes=max_upload_mb * MEBIBYTE)

    def check(self, path: Path, set_name: str) -> CheckResult:
        """Check a file against a set; every problem at once.

        Raises:
            NotFoundError: There is no such set.
        """
        return check_answers(path, self._store.sets.get(set_name), limits=self._limits)

    def add(
        self, path: Path, set_name: str, *, system: str, team: str = "", card: Path | None = None
    ) -> AddedSubmission:
        """Check a file and store it as the system's next version, whole or not at all.

        Raises:
            InvalidFileError: The file or the card has errors; all are listed and nothing is stored.
            NotFoundError: There is no such set.
            ConflictError: The name is the reference's.
        """
        require_name(system, "System name")
        questions = self._store.sets.get(set_name)
        read_card = SystemCard() if card is None else load_card(card)
        checked = check_answers(path, questions, limits=self._limits)
        if not checked.accepted:
            count = f"{checked.errors} {'error' if checked.errors == 1 else 'errors'}"
            raise InvalidFileError(
                f"{path} has {count}; nothing was stored.",
                checked.problems,
                advice="Mend the file and add it again.",
            )
        new = NewSubmission(
            set_name=set_name,
            system=system,
            team=team,
            card=read_card,
            content_hash=checked.content_hash,
        )
        rows = _with_no_answer(read_answers(path, questions, limits=self._limits))
        submission, created = self._store.submissions.add(new, rows)
        return AddedSubmission(submission=submission, created=created, warnings=checked.problems)

    def template(self, set_name: str, *, sample: bool) -> Iterator[str]:
        """The lines of a file to fill in for a set, or of a small file that would be accepted.

        Raises:
            NotFoundError: There is no such set.
        """
        questions = self._store.sets.get(set_name)
        return sample_answers(questions) if sample else answers_template(questions)

    def find(self, *, set_name: str | None = None) -> tuple[Submission, ...]:
        """Every submission, or those to one set."""
        if set_name is not None:
            self._store.sets.summary(set_name)
        return self._store.submissions.find(set_name=set_name)

    def view(self, number: int) -> SubmissionView:
        """A submission with its coverage.

        Raises:
            NotFoundError: No submission has this number.
        """
        submission = self._store.submissions.get(number)
        summary = self._store.sets.summary(submission.set_name)
        counts = self._store.submissions.domain_counts(number)
        return SubmissionView(
            submission=submission,
            coverage={
                domain: counts.get(domain, (0, 0))[0] / asked if asked else 0.0
                for domain, asked in summary.counts.items()
            },
            no_answer_share={domain: silent / count for domain, (count, silent) in counts.items()},
        )

    def withdraw(self, number: int) -> Submission:
        """Withdraw a submission: it enters no further round, and its tombstone stays.

        Raises:
            NotFoundError: No submission has this number.
            ConflictError: It is withdrawn already, or it is the reference of its set.
        """
        submission = self._store.submissions.get(number)
        if submission.id == self._store.submissions.reference(submission.set_name).id:
            raise ConflictError(
                f"Submission {number} is the reference of {submission.set_name}.",
                advice="A reference belongs to its set; import another set without it.",
            )
        if submission.state is SubmissionState.WITHDRAWN:
            raise ConflictError(f"Submission {number} is withdrawn already.")
        return self._store.submissions.set_state(number, SubmissionState.WITHDRAWN)


def _with_no_answer(answers: Iterator[Answer]) -> Iterator[tuple[Answer, bool]]:
    for answer in answers:
        yield answer, is_no_answer(answer.answer)
