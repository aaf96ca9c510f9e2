"""Submissions as callers may see them, with their status.

The store has `checked`, `accepted` and `withdrawn`; `queued`, `judged` and `published` follow from rounds.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

from arena.models.submissions import Retraction, SubmissionDetails, SubmissionStatus
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


def state_of(stored: SubmissionState, rounds: Sequence[RoundState]) -> SubmissionState:
    """Return the state of a submission from its stored state and the states of its rounds."""
    if stored is not SubmissionState.ACCEPTED:
        return stored
    if RoundState.PUBLISHED in rounds:
        return SubmissionState.PUBLISHED
    if any(state in ENDED for state in rounds):
        return SubmissionState.JUDGED
    return SubmissionState.QUEUED if any(state in OPEN for state in rounds) else SubmissionState.ACCEPTED


def is_charged(rounds: Sequence[RoundOfSet]) -> bool:
    """Return whether judging began in any round that was not cancelled."""
    return any(round_.state in ENDED or (round_.state in OPEN and round_.began) for round_ in rounds)


def counts_now(submission: Submission, rounds: Sequence[RoundOfSet]) -> bool:
    """Return whether a submission counts against the quota, as waiting and judged ones do."""
    if submission.state is SubmissionState.ACCEPTED:
        return True
    return submission.state is SubmissionState.WITHDRAWN and is_charged(rounds_with(submission, rounds))


def rounds_with(submission: Submission, rounds: Sequence[RoundOfSet]) -> tuple[RoundOfSet, ...]:
    """Return the rounds of a submission."""
    return tuple(round_ for round_ in rounds if round_.systems.get(submission.system) == submission.version)


class StatusReader:
    """Reads the status of submissions to a set; reads its rounds once."""

    def __init__(self, store: Store, set_name: str) -> None:
        self._store = store
        self._set_name = set_name
        self._rounds = store.statuses.rounds_of(set_name)

    def published(self, submission: Submission) -> bool:
        """Return whether a submission is, or was, on a published board."""
        return any(round_.published for round_ in rounds_with(submission, self._rounds))

    def of(
        self, submission: Submission, *, view: Submission, visibility: Visibility, all_rounds: bool
    ) -> SubmissionStatus:
        """Return a submission as a caller sees it, with its published (or `all_rounds`) rounds."""
        rounds = rounds_with(submission, self._rounds)
        judged = [
            version for version in self._versions.get(submission.system, []) if self._was_judged(version)
        ]
        waiting = [round_.id for round_ in rounds if round_.state in OPEN]
        queued = submission.state is SubmissionState.ACCEPTED and bool(waiting)
        names = [
            round_.name
            for round_ in rounds
            if (round_.state is not RoundState.CANCELLED if all_rounds else round_.published)
        ]
        fields: dict[str, Any] = {
            **dict(view),
            "state": state_of(submission.state, [round_.state for round_ in rounds]),
        }
        return SubmissionStatus(
            **fields,
            visibility=visibility,
            rounds=tuple(names),
            # The queue is read only if the submission waits.
            position=list(self._waiting).index(waiting[0]) + 1 if queued else None,
            eta=self._eta(waiting[-1]) if queued else None,
            charged=counts_now(submission, self._rounds),
            attempt=next((at for at, version in enumerate(judged, 1) if version.id == submission.id), None),
            attempts=len(judged),
            published=any(round_.published for round_ in rounds),
            retracted=[
                Retraction(board=round_.name, notice=round_.notice)
                for round_ in rounds
                if round_.state is RoundState.RETRACTED
            ],
        )

    def attempts(self, system: str) -> int:
        """Count the judged versions of a system."""
        return sum(self._was_judged(version) for version in self._versions.get(system, []))

    def _was_judged(self, submission: Submission) -> bool:
        return any(round_.state in ENDED for round_ in rounds_with(submission, self._rounds))

    def _eta(self, last: int) -> datetime | None:
        ahead = 0
        for number, pending in self._waiting.items():
            ahead += pending
            if number == last:
                break
        pace = self._pace
        return None if pace is None else datetime.now(UTC) + timedelta(seconds=ahead / pace)

    @cached_property
    def _waiting(self) -> Mapping[int, int]:
        """Pending battles of each round in the queue."""
        return self._store.statuses.waiting(OPEN)

    @cached_property
    def _versions(self) -> Mapping[str, Sequence[Submission]]:
        versions: dict[str, list[Submission]] = {}
        for submission in self._store.submissions.find(set_name=self._set_name, kind=None):
            versions.setdefault(submission.system, []).append(submission)
        return versions

    @cached_property
    def _pace(self) -> float | None:
        """Battles per second of the running round; None if no round is running."""
        for number in self._store.statuses.waiting((RoundState.RUNNING,)):
            pace = self._store.statuses.pace(number)
            if pace.battles and pace.since is not None:
                return pace.battles / max(1.0, (datetime.now(UTC) - pace.since).total_seconds())
        return None


class SubmissionReader:
    """Submissions as a caller may see them: masked or not found."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def find(
        self, *, set_name: str | None = None, team: str | None = None, caller: Caller = PUBLIC
    ) -> tuple[SubmissionStatus, ...]:
        """Find submissions, of a set or a team if any, as the caller may see them."""
        if set_name is not None:
            self._store.sets.summary(set_name)
        submissions = self._store.submissions.find(set_name=set_name, kind=None)
        readers = {
            name: StatusReader(self._store, name)
            for name in {submission.set_name for submission in submissions}
        }
        places = {name: self._store.submissions.places(name) for name in readers}
        rows = (
            _visible(readers[submission.set_name], submission, places[submission.set_name], caller)
            for submission in submissions
        )
        visible = (row for row in rows if row is not None and (team is None or row.team == team))
        # Sorted by masked names: the position of a hidden name would reveal its first letters.
        return tuple(sorted(visible, key=lambda row: (row.set_name, row.system, row.version)))

    def view(self, number: int, *, caller: Caller = PUBLIC) -> SubmissionDetails:
        """Return a submission with its coverage."""
        submission = self._store.submissions.get(number)
        reader = StatusReader(self._store, submission.set_name)
        places = self._store.submissions.places(submission.set_name)
        details = _visible(reader, submission, places, caller)
        if details is None:
            raise no_submission(number)
        counts = self._store.submissions.domain_counts(submission.id)
        return SubmissionDetails(
            **dict(details),
            coverage={
                domain: counts.get(domain, (0, 0))[0] / total if total else 0.0
                for domain, total in self._store.sets.summary(submission.set_name).counts.items()
            },
            no_answer_share={domain: silent / count for domain, (count, silent) in counts.items()},
        )

    def known(self, number: int, *, caller: Caller) -> Submission:
        """Return a stored submission if the caller may know of it."""
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
    """Return the error for an unknown submission, or one that the caller may not know of."""
    return NotFoundError(f"There is no submission {number}.", advice="See `arena submissions list`.")


def _visible(
    reader: StatusReader, submission: Submission, places: Mapping[str, int], caller: Caller
) -> SubmissionStatus | None:
    """Return a submission as the caller sees it; only its team and organisers see unpublished rounds."""
    published = reader.published(submission)
    seen = redacted(caller, submission, published=published, places=places)
    if seen is None:
        return None
    report = submission_visibility(caller, submission, published=published, kind=Kind.REPORT)
    return reader.of(submission, view=seen[0], visibility=seen[1], all_rounds=report is Visibility.FULL)
