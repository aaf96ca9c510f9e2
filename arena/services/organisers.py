"""Organisers' work: see waiting submissions, start, watch and preview rounds, and queue their jobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from arena.models.submissions import Block, SetInbox, WaitingSubmission
from arena.services.accounts.auth import OPERATOR, Caller, CallerKind, require
from arena.services.jobs.queue import JobService, JobStatus
from arena.services.rounds.visibility import RETRIED, RoundAccess
from arena.services.submissions.reader import rounds_with
from data.errors import ConflictError, InputError
from data.models import (
    BattleEvidence,
    Job,
    JobKind,
    Outcome,
    Round,
    RoundCounts,
    RoundState,
    SetSummary,
    Submission,
    SubmissionState,
    TokenScope,
)
from data.models.rounds import require_resumable
from data.store import Store

if TYPE_CHECKING:
    # To list jobs takes none of what judges and publishes.
    from arena.services.boards.people import VoteSource
    from arena.services.boards.service import BoardService
    from arena.services.rounds.battle_table import LiveStanding
    from arena.services.rounds.models import RoundRequest
    from arena.services.rounds.planning import RoundPlanner
    from arena.services.rounds.service import RoundService


MOST_WORKERS = 1_000
PUBLISHABLE = (RoundState.FINISHED, RoundState.CANCELLED)


class RoundJobs(JobService):
    """The queue, with what organisers put into it for rounds."""

    def judge(
        self,
        round_name: str,
        *,
        options: Mapping[str, Any] | None = None,
        workers: int | None = None,
        caller: Caller = OPERATOR,
    ) -> Job:
        """Let workers judge what is pending in a round.

        Options are `concurrency` and what goes before a worker's settings (see `LlmOverrides`).
        """
        require(caller, TokenScope.ORGANISE)
        round_ = self.store.rounds.get(round_name)
        workers = MOST_WORKERS if workers is None else workers
        if not 0 < workers <= MOST_WORKERS:
            raise InputError(f"{workers} workers cannot share a round.", advice=f"Use 1 to {MOST_WORKERS}.")
        self.job_leases.give_up_dead()
        require_resumable(round_)
        return self.put(
            caller, JobKind.JUDGE, round_id=round_.id, payload=dict(options or {}), workers=workers
        )

    def publish(
        self,
        round_name: str,
        *,
        metrics: bool = True,
        partial: bool = False,
        calibration: int | None = None,
        people: VoteSource | None = None,
        caller: Caller = OPERATOR,
    ) -> Job:
        """Let a worker score, rate and publish a finished round.

        With `partial`, it may be one of which less than 90 % was judged. `calibration` is the number of the
        one that the board reports, `people` are votes that say what people would say.
        """
        from arena.services.boards.people import section_of_round
        from arena.services.boards.standings import read_agreement, require_enough

        require(caller, TokenScope.ORGANISE)
        round_ = self.store.rounds.get(round_name)
        if round_.state not in PUBLISHABLE:
            message = f"Round {round_.name} is {round_.state}, so it cannot be published."
            raise ConflictError(message, advice="Only finished and cancelled rounds can be.")
        require_enough(self.store, round_name, partial=partial)
        if calibration is not None:
            read_agreement(self.store.jobs.get(calibration), round_.judge_name)
        if people is not None:
            # A worker would say the same, but much later.
            section_of_round(self.store, round_, people)
        payload = {
            "metrics": metrics,
            "partial": partial,
            "calibration": calibration,
            "people": None if people is None else people.as_json(),
            "asked_by": caller.name,
        }
        return self.put(caller, JobKind.PUBLISH, round_id=round_.id, payload=payload)


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


USUAL_CONCURRENCY = 16
UNDER_WAY = (RoundState.PLANNED, RoundState.RUNNING, RoundState.PAUSED, RoundState.FINISHED)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundProgress:
    """A round and how far it is; `job` is the one that moves it, None without."""

    round: Round
    counts: RoundCounts
    job: JobStatus | None

    @property
    def rate(self) -> float:
        """Battles a second, by all workers."""
        return 0.0 if self.job is None else self.job.rate

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the end, as measured by the replies of the one worker, else at this rate."""
        if self.job is not None and self.job.seconds_left is not None:
            return self.job.seconds_left
        return self.counts.pending / self.rate if self.rate else None

    @property
    def share(self) -> float:
        """Share of the planned battles that have ended, 0–1."""
        planned = self.counts.planned
        return (planned - self.counts.pending) / planned if planned else 1.0

    @property
    def waiting(self) -> bool:
        """True if a job of it is queued or running."""
        return self.job is not None and self.job.job.finished_at is None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundWatch(RoundProgress):
    """A round at this moment.

    `live` is how the systems stand, `warnings` say what is wrong with the judge, `capped` that the cap left
    battles out.
    """

    live: LiveStanding
    warnings: tuple[str, ...] = ()
    capped: bool = False

    @property
    def retriable(self) -> Mapping[str, int]:
        """Number of battles that a retry would judge, by outcome."""
        counts = {one.value: getattr(self.counts, one.value) for one in RETRIED}
        return {name: count for name, count in counts.items() if count}

    @property
    def workers(self) -> tuple[str, ...]:
        """Names of its workers; those whose lease ran out are marked."""
        leases = () if self.job is None else self.job.leases
        return tuple(f"{each.worker.name}{'' if each.lease_left > 0 else ' (lost)'}" for each in leases)

    @property
    def moving(self) -> bool:
        """True if its figures may change without an action."""
        return self.waiting or self.round.state in {RoundState.PLANNED, RoundState.RUNNING, RoundState.PAUSED}


class RoundAdmin:
    """Use cases of organisers who watch and start rounds; every one asks who the caller is."""

    def __init__(
        self, store: Store, rounds: RoundService, planner: RoundPlanner, jobs: RoundJobs, boards: BoardService
    ) -> None:
        self._store = store
        self._rounds = rounds
        self._planner = planner
        self._jobs = jobs
        self._boards = boards

    def rounds(self, *, caller: Caller) -> tuple[Round, ...]:
        """Every round, newest first."""
        require(caller, TokenScope.ORGANISE)
        return self._rounds.rounds()

    def under_way(self, *, caller: Caller) -> tuple[RoundProgress, ...]:
        """Return the rounds that are not published, retracted or cancelled, the newest first."""
        return tuple(
            RoundProgress(
                round=each, counts=self._rounds.status(each.name)[1], job=self._jobs.of_round(each.id)
            )
            for each in self.rounds(caller=caller)
            if each.state in UNDER_WAY
        )

    def estimate(self, request: RoundRequest, *, caller: Caller) -> dict[str, Any]:
        """Estimate the battles and cost of a round; see `RoundService.estimate`."""
        require(caller, TokenScope.ORGANISE)
        _require_registered(request, caller)
        return self._planner.estimate(request)

    def launch(self, request: RoundRequest, *, workers: int | None = None, caller: Caller) -> Job:
        """Create a round and put it into the queue; judging needs a cap where a paid LLM judges."""
        require(caller, TokenScope.ORGANISE)
        _require_registered(request, caller)
        self._planner.require_ready(request)
        created = self._rounds.create(request, caller=caller)
        return self.go_on(created.name, workers=workers, caller=caller)

    def go_on(
        self,
        name: str,
        *,
        budget_usd: float | None = None,
        workers: int | None = None,
        anyway: bool = False,
        retry: bool = False,
        caller: Caller,
    ) -> Job:
        """Let workers judge what is pending, with another cap where one is given.

        With `anyway` they go on whatever the judge's replies are like, with `retry` they judge failed and
        skipped battles again.
        """
        require(caller, TokenScope.ORGANISE)
        if budget_usd is not None:
            self._rounds.set_budget(name, budget_usd, caller=caller)
        if anyway:
            self._rounds.judge_anyway(name, caller=caller)
        if retry:
            self._rounds.retry(name, caller=caller)
        options = {"concurrency": USUAL_CONCURRENCY}
        return self._jobs.judge(name, options=options, workers=workers, caller=caller)

    def watch(self, name: str, *, caller: Caller) -> RoundWatch:
        """Return a round at this moment."""
        require(caller, TokenScope.ORGANISE)
        round_, counts = self._rounds.status(name)
        return RoundWatch(
            round=round_,
            counts=counts,
            job=self._jobs.of_round(round_.id),
            live=self._rounds.live(name),
            warnings=self._rounds.warnings(name),
            capped=bool(self._store.statuses.skipped_by_budget(round_.id)),
        )

    def without_verdict(
        self, name: str, outcome: Outcome, *, limit: int, caller: Caller
    ) -> tuple[BattleEvidence, ...]:
        """Battles that ended without a verdict in one way, with their replies; hidden texts stay hidden."""
        require(caller, TokenScope.ORGANISE)
        access = RoundAccess(self._store, caller, self._rounds.get(name))
        page = self._store.verdicts.page(name, after=0, limit=limit, outcome=outcome)
        return tuple(map(access.evidence, self._store.verdicts.of_battles([one.id for one in page])))

    def preview(self, name: str, *, caller: Caller) -> Mapping[str, Any]:
        """Return the standings that publishing a finished round would show."""
        require(caller, TokenScope.ORGANISE)
        state = self._rounds.get(name).state
        if state not in {RoundState.FINISHED, RoundState.CANCELLED, RoundState.PUBLISHED}:
            raise ConflictError(f"Round {name} is {state}.", advice="Only finished rounds have a board.")
        return self._boards.standings(name).as_json()

    def partial(self, name: str, *, caller: Caller) -> str:
        """Return the note of a partial board; empty where enough was judged."""
        from arena.services.boards.standings import partial_sentence_of

        require(caller, TokenScope.ORGANISE)
        return partial_sentence_of(self._store, name)


def _require_registered(request: RoundRequest, caller: Caller) -> None:
    from judges.catalogue import require_registered

    # Files of the machine are named by its operator alone.
    if caller.kind is not CallerKind.OPERATOR:
        require_registered(request.judge)
