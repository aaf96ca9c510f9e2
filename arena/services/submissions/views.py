"""Submissions as somebody may see them: in a list, alone with their coverage, their answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from arena.models import submissions as shapes
from arena.services.accounts.auth import PUBLIC, Caller
from arena.services.accounts.redaction import redacted, submission_visibility
from arena.services.accounts.set_access import SetAccess
from arena.services.accounts.visibility import Kind, Visibility
from arena.services.submissions.eligibility import no_submission
from arena.services.submissions.status import StatusReader, SubmissionStatus
from data.models import Answer, Submission
from data.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionLine:
    """A submission as somebody sees it."""

    submission: Submission
    visibility: Visibility
    status: SubmissionStatus

    def shown(self) -> shapes.SubmissionStatus:
        """Return the same as what routes and commands give."""
        return shapes.SubmissionStatus.of(self.status, self.submission, **self._more())

    def _more(self) -> dict[str, object]:
        retracted = [{"board": board, "notice": notice} for board, notice in self.status.retracted.items()]
        return {"visibility": self.visibility, "retracted": retracted}


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionView(SubmissionLine):
    """A submission with its coverage of the set: shares of the questions by domain, 0–1."""

    coverage: Mapping[str, float]
    no_answer_share: Mapping[str, float]

    def shown(self) -> shapes.SubmissionDetails:
        """Return the same as what routes and commands give."""
        return shapes.SubmissionDetails.of(self.status, self.submission, self, **self._more())


class SubmissionReader:
    """Shows submissions; what is not for the caller is masked or not found."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def find(
        self, *, set_name: str | None = None, team: str | None = None, caller: Caller = PUBLIC
    ) -> tuple[SubmissionLine, ...]:
        """Submissions, or those to one set or of one team, as the caller may see them."""
        if set_name is not None:
            self._store.sets.summary(set_name)
        submissions = self._store.submissions.find(set_name=set_name, kind=None)
        readers = {
            name: StatusReader(self._store, name)
            for name in {submission.set_name for submission in submissions}
        }
        places = {name: self._store.submissions.places(name) for name in readers}
        lines = []
        for submission in submissions:
            status = _status_for(readers[submission.set_name], submission, caller)
            seen = redacted(
                caller, submission, published=status.published, places=places[submission.set_name]
            )
            if seen is not None and (team is None or seen[0].team == team):
                lines.append(SubmissionLine(submission=seen[0], visibility=seen[1], status=status))
        # By the names that are shown: the position of a hidden name would reveal its first letters.
        return tuple(sorted(lines, key=_as_shown))

    def view(self, number: int, *, caller: Caller = PUBLIC) -> SubmissionView:
        """Return a submission with its coverage."""
        submission = self._store.submissions.get(number)
        status = _status_for(StatusReader(self._store, submission.set_name), submission, caller)
        places = self._store.submissions.places(submission.set_name)
        seen = redacted(caller, submission, published=status.published, places=places)
        if seen is None:
            raise no_submission(number)
        summary = self._store.sets.summary(submission.set_name)
        counts = self._store.submissions.domain_counts(submission.id)
        return SubmissionView(
            submission=seen[0],
            visibility=seen[1],
            status=status,
            coverage={
                domain: counts.get(domain, (0, 0))[0] / asked if asked else 0.0
                for domain, asked in summary.counts.items()
            },
            no_answer_share={domain: silent / count for domain, (count, silent) in counts.items()},
        )

    def known(self, number: int, *, caller: Caller) -> Submission:
        """Return a submission as it is stored, if the caller may know of it at all."""
        submission = self._store.submissions.get(number)
        published = StatusReader(self._store, submission.set_name).published(submission)
        if submission_visibility(caller, submission, published=published) is Visibility.NONE:
            raise no_submission(number)
        return submission

    def answers(self, number: int, *, caller: Caller) -> Mapping[str, Answer]:
        """Return the answers of a submission by question id."""
        submission = self._store.submissions.get(number)
        published = StatusReader(self._store, submission.set_name).published(submission)
        seen = SetAccess(self._store, caller, submission.set_name).answers(submission, published=published)
        if seen is not Visibility.FULL:
            raise no_submission(number)
        return self._store.submissions.answers(number)


def _as_shown(line: SubmissionLine) -> tuple[str, str, int]:
    submission = line.submission
    return submission.set_name, submission.system, submission.version


def _status_for(reader: StatusReader, submission: Submission, caller: Caller) -> SubmissionStatus:
    """Return a submission's status; rounds that are not public are named to its team and organisers."""
    status = reader.of(submission)
    if (
        submission_visibility(caller, submission, published=status.published, kind=Kind.REPORT)
        is Visibility.FULL
    ):
        return status
    return replace(status, rounds=reader.published_rounds(submission))
