"""Submissions waiting for an organiser, with their blockers."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from arena.models.submissions import Block, SetInbox, WaitingSubmission
from arena.services.accounts.auth import Caller, require
from arena.services.submissions.reader import rounds_with
from data.models import RoundState, SetSummary, Submission, SubmissionState, TokenScope
from data.store import Store

NO_ROUND = "no round"
WAITING: Mapping[RoundState, tuple[str, str]] = MappingProxyType(
    {
        RoundState.PLANNED: ("not started", "not started"),
        RoundState.RUNNING: ("judging", "being judged"),
        RoundState.PAUSED: ("paused", "paused"),
        RoundState.FINISHED: ("not published", "finished and not published"),
    }
)
"""Reason for waiting and its text, by state of the round."""


class InboxService:
    """Inbox of organisers."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def waiting(self, *, set_name: str | None = None, caller: Caller) -> tuple[SetInbox, ...]:
        """Return the waiting submissions by set, without submissions of contexts, which enter no round."""
        require(caller, TokenScope.ORGANISE)
        sets = self._store.sets.summaries() if set_name is None else (self._store.sets.summary(set_name),)
        inboxes = (self._of_set(summary) for summary in sets)
        return tuple(inbox for inbox in inboxes if inbox.waiting)

    def _of_set(self, summary: SetSummary) -> SetInbox:
        reader = _SetReader(self._store, summary)
        submissions = sorted(self._store.submissions.find(set_name=summary.name), key=lambda row: row.id)
        warnings = self._store.submissions.warnings(summary.name)
        rows = [
            WaitingSubmission(
                submission=row.id,
                system=row.system,
                version=row.version,
                team=row.team,
                since=row.submitted_at or row.created_at,
                plannable=any(block.why == NO_ROUND for block in blocks),
                blocks=blocks,
                warnings=list(warnings.get(row.id, ())),
            )
            for row in submissions
            if (blocks := list(reader.blocks(row)))
        ]
        plannable = [row.system for row in rows if row.plannable]
        return SetInbox(
            set=summary.name, title=summary.title or summary.name, plannable=plannable, waiting=rows
        )


class _SetReader:
    """Blockers of the submissions to one set; reads its rounds once."""

    def __init__(self, store: Store, summary: SetSummary) -> None:
        self._store = store
        self._summary = summary
        self._rounds = store.statuses.rounds_of(summary.name)
        newest = store.submissions.find(set_name=summary.name, newest=True)
        self._newest: Mapping[str, Submission] = {row.system: row for row in newest}

    def blocks(self, submission: Submission) -> Iterator[Block]:
        """Yield the blockers of a submission; none once it is published or superseded."""
        rounds = rounds_with(submission, self._rounds)
        over = any(round_.published or round_.state is RoundState.RETRACTED for round_ in rounds)
        if over or submission.state is SubmissionState.WITHDRAWN:
            return
        if submission.state is SubmissionState.CHECKED:
            text = "It passed the checks, but its team has not confirmed it."
            yield Block(why="not submitted", text=text)
            return
        in_rounds = [
            Block(why=why, text=f"Round {round_.name} is {text}.", round=round_.name)
            for round_ in rounds
            if round_.state in WAITING
            for why, text in [WAITING[round_.state]]
        ]
        newest = self._newest.get(submission.system, submission)
        if not in_rounds and newest.id != submission.id:
            return
        yield from in_rounds or [Block(why=NO_ROUND, text="It is not in any round.")]
        yield from self._missing(submission)

    def _missing(self, submission: Submission) -> Iterator[Block]:
        """Yield the domains with missing answers, since battles there would count as missing."""
        counts = self._store.submissions.domain_counts(submission.id)
        lacking = [
            f"{total - answered:,} of {total:,} in {self._summary.domains.get(domain, domain)}"
            for domain, total in self._summary.counts.items()
            if (answered := counts.get(domain, (0, 0))[0]) < total
        ]
        if lacking:
            yield Block(why="domains", text=f"Answers are missing: {', '.join(lacking)}.")
