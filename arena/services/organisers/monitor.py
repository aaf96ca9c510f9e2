"""Rounds as organisers see them: watched, tried, previewed and started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from arena.services.accounts.auth import Caller, CallerKind, require
from arena.services.boards.service import BoardService
from arena.services.boards.standings import partial_sentence_of
from arena.services.jobs.service import JobStatus
from arena.services.judging.judges import JudgeService
from arena.services.organisers.round_jobs import RoundJobs
from arena.services.question_sets.phases import PolicyService
from arena.services.rounds.live import LiveStanding
from arena.services.rounds.models import RoundRequest
from arena.services.rounds.planning import RoundPlanner
from arena.services.rounds.service import RETRIED, RoundService
from arena.services.rounds.visibility import RoundAccess
from data.errors import ConflictError
from data.records import (
    OUT_OF_BUDGET,
    BattleEvidence,
    Board,
    Job,
    Outcome,
    Round,
    RoundCounts,
    RoundState,
    TokenScope,
)
from data.store import Store
from judges.catalogue import require_registered
from leaderboard.standings.diff import Changes, changes

RECENT = 5
USUAL_CONCURRENCY = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundWatch:
    """A round at this moment.

    `rate` is in battles a second, `seconds_left` None where nobody judges; `share` of the
    planned battles has ended. `alive` and `dead` are names of workers, `live` is how the systems stand.
    `warnings` say what is wrong with the judge. `capped`
    says that the cap left battles out.
    """

    round: Round
    counts: RoundCounts
    job: JobStatus | None
    recent: tuple[BattleEvidence, ...]
    live: LiveStanding
    warnings: tuple[str, ...] = ()
    capped: bool = False

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
    def retriable(self) -> Mapping[str, int]:
        """How many battles a retry would judge, by how they ended."""
        counts = {one.value: getattr(self.counts, one.value) for one in RETRIED}
        return {name: count for name, count in counts.items() if count}

    @property
    def alive(self) -> tuple[str, ...]:
        """Workers of its job with a recent heartbeat."""
        return () if self.job is None else tuple(lease.worker.name for lease in self.job.alive)

    @property
    def dead(self) -> tuple[str, ...]:
        """Workers whose lease ran out."""
        leases = () if self.job is None else self.job.leases
        return tuple(lease.worker.name for lease in leases if lease.lease_left <= 0)

    @property
    def moving(self) -> bool:
        """Whether its figures may change without anybody's doing here."""
        return self.waiting or self.round.state in {RoundState.PLANNED, RoundState.RUNNING, RoundState.PAUSED}

    @property
    def waiting(self) -> bool:
        """Whether a job of it is in the queue or in somebody's hands."""
        return self.job is not None and self.job.job.finished_at is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What publishing a round would show; `before` names the set's last board, None where there is none."""

    standings: Mapping[str, Any]
    before: str | None
    changes: Changes | None


class RoundAdmin:
    """Use cases of organisers who watch and start rounds; every one asks who the caller is."""

    def __init__(
        self,
        store: Store,
        rounds: RoundService,
        planner: RoundPlanner,
        judges: JudgeService,
        jobs: RoundJobs,
        policies: PolicyService,
        boards: BoardService,
    ) -> None:
        self._store = store
        self._rounds = rounds
        self._planner = planner
        self._judges = judges
        self._jobs = jobs
        self._policies = policies
        self._boards = boards

    def rounds(self, *, caller: Caller) -> tuple[Round, ...]:
        """Every round, newest first."""
        require(caller, TokenScope.ORGANISE)
        return self._rounds.rounds()

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
        caller: Caller,
    ) -> Job:
        """Let workers judge what is pending, with another cap where one is given.

        With `anyway` they go on whatever the judge's replies are like.
        """
        require(caller, TokenScope.ORGANISE)
        self._raise(name, budget_usd, caller)
        if anyway:
            self._rounds.judge_anyway(name, caller=caller)
        options = {"concurrency": USUAL_CONCURRENCY}
        return self._jobs.judge(name, options=options, workers=workers, caller=caller)

    def retry(self, name: str, *, budget_usd: float | None = None, caller: Caller) -> Job:
        """Let workers judge failed and skipped battles again, with another cap where one is given."""
        require(caller, TokenScope.ORGANISE)
        self._raise(name, budget_usd, caller)
        self._rounds.retry(name, caller=caller)
        return self._jobs.judge(name, options={"concurrency": USUAL_CONCURRENCY}, caller=caller)

    def watch(self, name: str, *, caller: Caller) -> RoundWatch:
        """A round at this moment, with the battles judged last; hidden texts stay hidden."""
        require(caller, TokenScope.ORGANISE)
        round_, counts = self._rounds.status(name)
        access = RoundAccess(self._store, caller, round_)
        recent = self._store.verdicts.recent(round_.id, RECENT)
        return RoundWatch(
            round=round_,
            counts=counts,
            job=self._jobs.of_round(round_.id),
            recent=tuple(map(access.evidence, recent)),
            live=self._rounds.live(name),
            warnings=self._rounds.warnings(name),
            capped=bool(counts.skipped) and self._left_out(name),
        )

    def _left_out(self, name: str) -> bool:
        """Whether the cap left out battles, as the first of those that were skipped say."""
        skipped = self._store.verdicts.page(name, after=0, limit=RECENT, outcome=Outcome.SKIPPED)
        return any(battle.detail == OUT_OF_BUDGET for battle in skipped)

    def without_verdict(
        self, name: str, outcome: Outcome, *, after: int = 0, limit: int, caller: Caller
    ) -> tuple[BattleEvidence, ...]:
        """Battles of a round that ended without a verdict in one way, with every reply to them.

        Up to `limit`, from the one after number `after` on; hidden texts stay hidden.
        """
        require(caller, TokenScope.ORGANISE)
        access = RoundAccess(self._store, caller, self._rounds.get(name))
        page = self._store.verdicts.page(name, after=after, limit=limit, outcome=outcome)
        return tuple(map(access.evidence, self._store.verdicts.of_battles([one.id for one in page])))

    def preview(self, name: str, *, caller: Caller) -> Preview:
        """The board that a finished round would make, and how it differs from the set's last one."""
        require(caller, TokenScope.ORGANISE)
        round_ = self._rounds.get(name)
        if round_.state not in {RoundState.FINISHED, RoundState.CANCELLED, RoundState.PUBLISHED}:
            raise ConflictError(
                f"Round {name} is {round_.state}.", advice="Only finished rounds have a board."
            )
        standings = self._boards.standings(name).as_json()
        last = self._last_board(round_)
        return Preview(
            standings=standings,
            before=None if last is None else last.name,
            changes=None if last is None else changes(last.standings, standings),
        )

    def partial(self, name: str, *, caller: Caller) -> str:
        """What the board of a round would have to say of how little was judged; empty where enough was."""
        require(caller, TokenScope.ORGANISE)
        return partial_sentence_of(self._store, name)

    def _last_board(self, round_: Round) -> Board | None:
        sets = {other.name: other.set_name for other in self._rounds.rounds()}
        boards = self._boards.published()
        same = [
            board
            for board in boards
            if board.name != round_.name and sets.get(board.round_name or "") == round_.set_name
        ]
        return max(same, key=lambda board: board.published_at, default=None)

    def _raise(self, name: str, budget_usd: float | None, caller: Caller) -> None:
        if budget_usd is not None:
            self._rounds.set_budget(name, budget_usd, caller=caller)


def _require_registered(request: RoundRequest, caller: Caller) -> None:
    """Only whoever sits at the machine may name files of it."""
    if caller.kind is not CallerKind.OPERATOR:
        require_registered(request.judge)
