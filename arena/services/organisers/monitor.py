"""Rounds as organisers see them: watched, tried, previewed and started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from arena.services.accounts.auth import Caller, CallerKind, require
from arena.services.boards.service import BoardService
from arena.services.boards.standings import partial_sentence_of
from arena.services.jobs.service import JobStatus
from arena.services.organisers.round_jobs import RoundJobs
from arena.services.rounds.live import LiveStanding
from arena.services.rounds.models import RoundRequest
from arena.services.rounds.planning import RoundPlanner
from arena.services.rounds.service import RETRIED, RoundService
from arena.services.rounds.visibility import RoundAccess
from data.errors import ConflictError
from data.models import (
    BattleEvidence,
    Job,
    Outcome,
    Round,
    RoundCounts,
    RoundState,
    TokenScope,
)
from data.store import Store
from judges.catalogue import require_registered

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
        """Whether a job of it is in the queue or in somebody's hands."""
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
        """How many battles a retry would judge, by how they ended."""
        counts = {one.value: getattr(self.counts, one.value) for one in RETRIED}
        return {name: count for name, count in counts.items() if count}

    @property
    def workers(self) -> tuple[str, ...]:
        """Names of its workers; those whose lease ran out are marked."""
        leases = () if self.job is None else self.job.leases
        return tuple(f"{each.worker.name}{'' if each.lease_left > 0 else ' (lost)'}" for each in leases)

    @property
    def moving(self) -> bool:
        """Whether its figures may change by themselves."""
        return self.waiting or self.round.state in {RoundState.PLANNED, RoundState.RUNNING, RoundState.PAUSED}


class RoundAdmin:
    """Use cases of organisers who watch and start rounds; every one asks who the caller is."""

    def __init__(
        self,
        store: Store,
        rounds: RoundService,
        planner: RoundPlanner,
        jobs: RoundJobs,
        boards: BoardService,
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
        """The rounds that are not published, retracted or cancelled, the newest first."""
        return tuple(
            RoundProgress(
                round=each, counts=self._rounds.status(each.name)[1], job=self._jobs.of_round(each.id)
            )
            for each in self.rounds(caller=caller)
            if each.state in UNDER_WAY
        )

    def estimate(self, request: RoundRequest, *, caller: Caller) -> dict[str, Any]:
        """What a round would judge and cost; see `RoundService.estimate`."""
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
        """A round at this moment."""
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
        """The standings that publishing a finished round would show."""
        require(caller, TokenScope.ORGANISE)
        state = self._rounds.get(name).state
        if state not in {RoundState.FINISHED, RoundState.CANCELLED, RoundState.PUBLISHED}:
            raise ConflictError(f"Round {name} is {state}.", advice="Only finished rounds have a board.")
        return self._boards.standings(name).as_json()

    def partial(self, name: str, *, caller: Caller) -> str:
        """What the board of a round would have to say of how little was judged; empty where enough was."""
        require(caller, TokenScope.ORGANISE)
        return partial_sentence_of(self._store, name)


def _require_registered(request: RoundRequest, caller: Caller) -> None:
    # Files of the machine are named by its operator alone.
    if caller.kind is not CallerKind.OPERATOR:
        require_registered(request.judge)
