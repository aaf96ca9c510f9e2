"""Submissions as callers may see them, with the status that follows from rounds and boards.

Stored are `checked`, `accepted` and `withdrawn`; `queued`, `judged` and `published` follow from the rounds
that have the submission.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

from arena.models import submissions as shapes
from arena.services.accounts.auth import PUBLIC, Caller
from arena.services.accounts.redaction import redacted, submission_visibility
from arena.services.accounts.set_access import SetAccess
from arena.services.accounts.visibility import Kind, Visibility
from data.errors import NotFoundError
from data.models import Answer, RoundState, Submission, SubmissionState
from data.store import Store
from data.store.status import RoundOfSet

OPEN = (RoundState.PLANNED, RoundState.RUNNING, RoundState.PAUSED)
ENDED = (RoundState.FINISHED, RoundState.PUBLISHED, RoundState.RETRACTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionStatus:
    """The status of a submission.

    Attributes:
        rounds: Names of the rounds that have it, cancelled ones left out.
        position: That in the queue of rounds, from 1, which is being judged or next; None if not in it.
        eta: When its last waiting round should be done, at the pace of the one running; None if unknown.
        charged: Whether it counts against the quota though it may be withdrawn: its judging began.
        attempt: Which judged version of its system it is, from 1; None if it was not judged.
        published: Whether it is, or was, on a published board.
        retracted: Boards with it that were taken down, name to notice.
    """

    state: SubmissionState
    rounds: tuple[str, ...]
    position: int | None
    eta: datetime | None
    charged: bool
    attempt: int | None
    attempts: int
    published: bool
    retracted: Mapping[str, str]


def state_of(stored: SubmissionState, rounds: Sequence[RoundState]) -> SubmissionState:
    """Return the state of a submission, by what is stored of it and the states of the rounds that have it."""
    if stored is not SubmissionState.ACCEPTED:
        return stored
    if RoundState.PUBLISHED in rounds:
        return SubmissionState.PUBLISHED
    if any(state in ENDED for state in rounds):
        return SubmissionState.JUDGED
    return SubmissionState.QUEUED if any(state in OPEN for state in rounds) else SubmissionState.ACCEPTED


def is_charged(rounds: Sequence[RoundOfSet]) -> bool:
    """Return whether some rounds spent judging; cancelled rounds charge nobody."""
    return any(round_.state in ENDED or (round_.state in OPEN and round_.began) for round_ in rounds)


def counts_now(submission: Submission, rounds: Sequence[RoundOfSet]) -> bool:
    """Return whether a submission counts against the quota: it waits or was judged."""
    if submission.state is SubmissionState.ACCEPTED:
        return True
    return submission.state is SubmissionState.WITHDRAWN and is_charged(rounds_with(submission, rounds))


def rounds_with(submission: Submission, rounds: Sequence[RoundOfSet]) -> tuple[RoundOfSet, ...]:
    """Return the rounds that have a submission."""
    return tuple(round_ for round_ in rounds if round_.systems.get(submission.system) == submission.version)


class StatusReader:
    """Reads the status of submissions; it reads a set's rounds, and what else it needs, once."""

    def __init__(self, store: Store, set_name: str) -> None:
        self._store = store
        self._set_name = set_name
        self._rounds = store.statuses.rounds_of(set_name)

    def published(self, submission: Submission) -> bool:
        """Return whether a submission is, or was, on a published board."""
        return any(round_.published for round_ in rounds_with(submission, self._rounds))

    def published_rounds(self, submission: Submission) -> tuple[str, ...]:
        """Names of the rounds with a submission whose boards are, or were, published."""
        return tuple(round_.name for round_ in rounds_with(submission, self._rounds) if round_.published)

    def of(self, submission: Submission) -> SubmissionStatus:
        """Return the status of a submission."""
        rounds = rounds_with(submission, self._rounds)
        judged = [
            version for version in self._versions.get(submission.system, []) if self._was_judged(version)
        ]
        waiting = [round_.id for round_ in rounds if round_.state in OPEN]
        queued = submission.state is SubmissionState.ACCEPTED and bool(waiting)
        return SubmissionStatus(
            state=state_of(submission.state, [round_.state for round_ in rounds]),
            rounds=tuple(round_.name for round_ in rounds if round_.state is not RoundState.CANCELLED),
            position=list(self._waiting).index(waiting[0]) + 1 if queued else None,
            eta=self._eta(waiting[-1]) if queued else None,
            charged=counts_now(submission, self._rounds),
            attempt=next((at for at, version in enumerate(judged, 1) if version.id == submission.id), None),
            attempts=len(judged),
            published=any(round_.published for round_ in rounds),
            retracted={
                round_.name: round_.notice for round_ in rounds if round_.state is RoundState.RETRACTED
            },
        )

    def attempts(self, system: str) -> int:
        """Count the judged versions of a system."""
        return sum(self._was_judged(version) for version in self._versions.get(system, []))

    def _was_judged(self, submission: Submission) -> bool:
        return any(round_.state in ENDED for round_ in rounds_with(submission, self._rounds))

    def _eta(self, last: int) -> datetime | None:
        """When a round of the queue ends, if all before it are judged at the pace of the one running now."""
        ahead = 0
        for number, pending in self._waiting.items():
            ahead += pending
            if number == last:
                break
        pace = self._pace
        return None if pace is None else datetime.now(UTC) + timedelta(seconds=ahead / pace)

    @cached_property
    def _waiting(self) -> Mapping[int, int]:
        """The queue, with the battles that are pending in each round; counted only where something waits."""
        return self._store.statuses.waiting(OPEN)

    @cached_property
    def _versions(self) -> Mapping[str, Sequence[Submission]]:
        """The versions of each system of the set."""
        versions: dict[str, list[Submission]] = {}
        for submission in self._store.submissions.find(set_name=self._set_name, kind=None):
            versions.setdefault(submission.system, []).append(submission)
        return versions

    @cached_property
    def _pace(self) -> float | None:
        """Battles a second in the round that runs; None where none does."""
        for number in self._store.statuses.waiting((RoundState.RUNNING,)):
            pace = self._store.statuses.pace(number)
            if pace.battles and pace.since is not None:
                return pace.battles / max(1.0, (datetime.now(UTC) - pace.since).total_seconds())
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionLine:
    """A submission as somebody sees it."""

    submission: Submission
    visibility: Visibility
    status: SubmissionStatus

    def shown(self) -> shapes.SubmissionStatus:
        """Return the same as what routes and commands give."""
        return shapes.SubmissionStatus(**self._fields())

    def _fields(self) -> dict[str, Any]:
        status = {name: getattr(self.status, name) for name in shapes.STATUS_FIELDS}
        retracted = [
            shapes.Retraction(board=board, notice=notice) for board, notice in self.status.retracted.items()
        ]
        return {**dict(self.submission), **status, "visibility": self.visibility, "retracted": retracted}


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionView(SubmissionLine):
    """A submission with its coverage of the set: shares of the questions by domain, 0–1."""

    coverage: Mapping[str, float]
    no_answer_share: Mapping[str, float]

    def shown(self) -> shapes.SubmissionDetails:
        """Return the same as what routes and commands give."""
        return shapes.SubmissionDetails(
            **self._fields(), coverage=self.coverage, no_answer_share=self.no_answer_share
        )


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


def no_submission(number: int) -> NotFoundError:
    """Return the error for a caller who may not know of a submission: the same as where there is none."""
    return NotFoundError(f"There is no submission {number}.", advice="`arena submissions list` names them.")


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
