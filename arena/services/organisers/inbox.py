"""The organisers' inbox: submissions that wait to be judged or published, with what each waits for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from arena.services.accounts.auth import Caller, require
from arena.services.submissions.status import rounds_with
from data.models import RoundState, SetSummary, Submission, SubmissionState, TokenScope
from data.store import Store


class Blocked(StrEnum):
    """What a submission waits for."""

    NO_ROUND = "no round"
    CHECKS = "not submitted"
    DOMAINS = "domains"
    NOT_STARTED = "not started"
    JUDGING = "judging"
    PAUSED = "paused"
    NOT_PUBLISHED = "not published"


WAITING: Mapping[RoundState, tuple[Blocked, str]] = MappingProxyType(
    {
        RoundState.PLANNED: (Blocked.NOT_STARTED, "not started"),
        RoundState.RUNNING: (Blocked.JUDGING, "being judged"),
        RoundState.PAUSED: (Blocked.PAUSED, "paused"),
        RoundState.FINISHED: (Blocked.NOT_PUBLISHED, "finished and not published"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One thing that a submission waits for; `round` names the round that it is about, else it is empty."""

    why: Blocked
    text: str
    round: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingSubmission:
    """A submission that is on no board yet, with what blocks it and the warnings of its check."""

    submission: Submission
    blocks: tuple[Block, ...]
    warnings: tuple[str, ...] = ()

    @property
    def plannable(self) -> bool:
        """Whether a new round would judge it."""
        return any(block.why is Blocked.NO_ROUND for block in self.blocks)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetInbox:
    """The submissions to a set that wait, those first that came first."""

    set_name: str
    title: str
    waiting: tuple[WaitingSubmission, ...]

    @property
    def plannable(self) -> tuple[str, ...]:
        """The systems that no round has, in the order in which they came."""
        return tuple(row.submission.system for row in self.waiting if row.plannable)


class InboxService:
    """Tells organisers what waits for them."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def waiting(self, *, set_name: str | None = None, caller: Caller) -> tuple[SetInbox, ...]:
        """The submissions that wait, by set; sets with none are left out.

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
        rows = (
            WaitingSubmission(submission=submission, blocks=blocks, warnings=warnings.get(submission.id, ()))
            for submission in submissions
            if (blocks := tuple(reader.blocks(submission)))
        )
        return SetInbox(set_name=summary.name, title=summary.title or summary.name, waiting=tuple(rows))


class _SetReader:
    """Says of the submissions to one set what blocks them; reads its rounds once."""

    def __init__(self, store: Store, summary: SetSummary) -> None:
        self._store = store
        self._summary = summary
        self._rounds = store.statuses.rounds_of(summary.name)
        standing = store.submissions.find(set_name=summary.name, newest=True)
        self._standing: Mapping[str, Submission] = {row.system: row for row in standing}

    def blocks(self, submission: Submission) -> Iterator[Block]:
        """What blocks a submission; nothing of one that was published, or has nothing to wait for."""
        rounds = rounds_with(submission, self._rounds)
        over = any(round_.published or round_.state is RoundState.RETRACTED for round_ in rounds)
        if over or submission.state is SubmissionState.WITHDRAWN:
            return
        if submission.state is SubmissionState.CHECKED:
            text = "It passed the checks, and its team has not submitted it yet."
            yield Block(why=Blocked.CHECKS, text=text)
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
        yield from in_rounds or [Block(why=Blocked.NO_ROUND, text="No round has it.")]
        yield from self._missing(submission)

    def _missing(self, submission: Submission) -> Iterator[Block]:
        """The domains of which it lacks answers: battles there would count as missing."""
        counts = self._store.submissions.domain_counts(submission.id)
        lacking = [
            f"{asked - answered:,} of {asked:,} in {self._summary.domains.get(domain, domain)}"
            for domain, asked in self._summary.counts.items()
            if (answered := counts.get(domain, (0, 0))[0]) < asked
        ]
        if lacking:
            yield Block(why=Blocked.DOMAINS, text=f"It lacks answers: {', '.join(lacking)}.")
