"""Submissions that wait for an organiser, and what blocks them."""

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
"""Reasons of waiting by the state of the round: a word and a sentence."""


class InboxService:
    """Tells organisers what waits for them."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def waiting(self, *, set_name: str | None = None, caller: Caller) -> tuple[SetInbox, ...]:
        """Return the submissions that wait, by set; sets with none are left out.

        Submissions of contexts enter no round, so they are not here.
        """
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
                submission=one.id,
                system=one.system,
                version=one.version,
                team=one.team,
                since=one.submitted_at or one.created_at,
                plannable=any(block.why == NO_ROUND for block in blocks),
                blocks=blocks,
                warnings=list(warnings.get(one.id, ())),
            )
            for one in submissions
            if (blocks := list(reader.blocks(one)))
        ]
        plannable = [row.system for row in rows if row.plannable]
        return SetInbox(
            set=summary.name, title=summary.title or summary.name, plannable=plannable, waiting=rows
        )


class _SetReader:
    """Says of the submissions to one set what blocks them; reads its rounds once."""

    def __init__(self, store: Store, summary: SetSummary) -> None:
        self._store = store
        self._summary = summary
        self._rounds = store.statuses.rounds_of(summary.name)
        standing = store.submissions.find(set_name=summary.name, newest=True)
        self._standing: Mapping[str, Submission] = {row.system: row for row in standing}

    def blocks(self, submission: Submission) -> Iterator[Block]:
        """Yield the blocks of a submission; none for one that was published, or has nothing to wait for."""
        rounds = rounds_with(submission, self._rounds)
        over = any(round_.published or round_.state is RoundState.RETRACTED for round_ in rounds)
        if over or submission.state is SubmissionState.WITHDRAWN:
            return
        if submission.state is SubmissionState.CHECKED:
            text = "It passed the checks, and its team has not submitted it yet."
            yield Block(why="not submitted", text=text)
            return
        in_rounds = [
            Block(why=why, text=f"Round {each.name} is {text}.", round=each.name)
            for each in rounds
            if each.state in WAITING
            for why, text in [WAITING[each.state]]
        ]
        standing = self._standing.get(submission.system, submission)
        if not in_rounds and standing.id != submission.id:
            return
        yield from in_rounds or [Block(why=NO_ROUND, text="No round has it.")]
        yield from self._missing(submission)

    def _missing(self, submission: Submission) -> Iterator[Block]:
        """Yield the domains of which it lacks answers: battles there would count as missing."""
        counts = self._store.submissions.domain_counts(submission.id)
        lacking = [
            f"{asked - answered:,} of {asked:,} in {self._summary.domains.get(domain, domain)}"
            for domain, asked in self._summary.counts.items()
            if (answered := counts.get(domain, (0, 0))[0]) < asked
        ]
        if lacking:
            yield Block(why="domains", text=f"It lacks answers: {', '.join(lacking)}.")
