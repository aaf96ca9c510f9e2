"""Rounds: plan, run, resume, pause, cancel, retry, status."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from arena.services.attacks import RoundAttacks, attacks_of, canary_count, plant_canaries
from arena.services.estimates import estimate_round
from arena.services.interrupts import stopping_on_interrupt
from arena.services.planning import Pairs, Plan, Sample, Scope, make_plan
from arena.services.running import Report, judge_pending
from data.errors import ArenaError, ConflictError, InputError, NotFoundError, SpecError
from data.records import (
    BattleRecord,
    OrderPolicy,
    Outcome,
    Round,
    RoundCounts,
    RoundState,
    SetSummary,
    Submission,
    require_name,
)
from data.store import Store
from judges.base import Judge
from judges.llm.prices import Prices
from judges.spec import JudgeSpec

RESUMABLE = (RoundState.PLANNED, RoundState.RUNNING, RoundState.PAUSED)
REOPENABLE = (RoundState.FINISHED, RoundState.CANCELLED, RoundState.PAUSED)
RETRIED = (Outcome.FAILED, Outcome.SKIPPED)
CANCELLED = "The round was cancelled."
OpenJudge = Callable[[JudgeSpec, Round, int, asyncio.Event], AbstractAsyncContextManager[Judge]]
LoadPrices = Callable[[], Prices]
LoadSpec = Callable[[str], JudgeSpec]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRequest:
    """What an organiser asks a round to be.

    `pairs` and `sample` are in the words of the command line; `systems` empty takes every system.
    `canaries` None plants one of each family of attack where an LLM judges, but no more than a tenth of
    the battles.
    """

    set_name: str
    judge: str
    pairs: str = "reference"
    systems: tuple[str, ...] = ()
    sample: str | None = None
    order: OrderPolicy | None = None
    seed: int = 0
    budget_usd: float | None = None
    name: str | None = None
    canaries: int | None = None

    def __post_init__(self) -> None:
        if self.name is not None:
            require_name(self.name, "Round name")
        if self.budget_usd is not None and not 0 <= self.budget_usd < float("inf"):
            raise InputError(f"The budget {self.budget_usd} is no amount of money.", advice="Use 0 or more.")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRound:
    """A plan that is not stored yet: what would be judged, by whom, among whom."""

    request: RoundRequest
    summary: SetSummary
    spec: JudgeSpec
    entrants: tuple[Submission, ...]
    plan: Plan


class RoundService:
    """Use cases around rounds."""

    def __init__(
        self, store: Store, *, load_spec: LoadSpec, load_prices: LoadPrices, open_judge: OpenJudge
    ) -> None:
        self._store = store
        self._load_prices = load_prices
        self._load_spec = load_spec
        self._open_judge = open_judge

    def plan(self, request: RoundRequest) -> PlannedRound:
        """Lay out a round without storing anything.

        Raises:
            NotFoundError: The set, the judge or a named system does not exist.
            InputError: Pairs or sample cannot be read, or there is nothing to judge.
        """
        pairs, sample = Pairs.parse(request.pairs), Sample.parse(request.sample)
        summary = self._store.sets.summary(request.set_name)
        spec = self._load_spec(request.judge)
        if request.order is not None:
            spec = spec.using(order=request.order)
        entrants = self._entrants(request)
        reference = self._store.submissions.reference(request.set_name)
        scope = Scope(
            set_hash=summary.content_hash,
            questions=tuple(self._store.sets.numbered(summary.id)),
            entrants=entrants,
            reference=reference,
            answered={side.id: self._store.submissions.answered(side.id) for side in (*entrants, reference)},
            named=bool(request.systems),
        )
        plan = make_plan(
            scope, pairs=pairs, sample=sample, seed=request.seed, judge=spec.kind, yardstick=spec.yardstick
        )
        return PlannedRound(request=request, summary=summary, spec=spec, entrants=entrants, plan=plan)

    def estimate(self, request: RoundRequest) -> dict[str, Any]:
        """What `arena rounds plan` tells: battles, what is left out, requests, tokens, cost."""
        planned = self.plan(request)
        expected = estimate_round(self._store, planned, self._load_prices())
        return {
            "set": request.set_name,
            "judge": planned.spec.name,
            "pairs": request.pairs,
            "systems": [entrant.system for entrant in planned.entrants],
            "planned": len(planned.plan.battles),
            "missing": planned.plan.missing,
            "canaries": canary_count(planned),
            "left_out": dict(planned.plan.left_out),
            **asdict(expected),
        }

    def create(self, request: RoundRequest) -> Round:
        """Store a planned round with its battles.

        Raises:
            ConflictError: A round has this name.
            InputError: As `plan`, or the plan has no battles.
        """
        if request.name is not None:
            self._refuse_taken(request.name)
        planned = self.plan(request)
        canaries = plant_canaries(self._store, planned)
        if not planned.plan.battles:
            raise InputError(
                f"There is nothing to judge on {request.set_name} with --pairs {request.pairs}.",
                advice="Add submissions with `arena submissions add`, or choose other pairs.",
            )
        return self._store.rounds.create(
            name=request.name or self._free_name(planned),
            set_id=planned.summary.id,
            judge_name=planned.spec.name,
            judge={"source": request.judge, "hash": planned.spec.hash, **planned.spec.canonical},
            plan={
                "pairs": request.pairs,
                "sample": request.sample,
                "systems": {entrant.system: entrant.version for entrant in planned.entrants},
                "set_hash": planned.summary.content_hash,
                "left_out": dict(planned.plan.left_out),
                "canaries": len(canaries),
            },
            seed=request.seed,
            budget_usd=request.budget_usd,
            planned=planned.plan.battles,
            canaries=canaries,
        )

    def run(self, name: str, *, concurrency: int, report: Report) -> RoundCounts:
        """Judge what is pending in a round, until the end or until told to stop.

        Ctrl-C lets the battles in flight finish and pauses the round.

        Raises:
            ConflictError: The round has ended.
            SpecError: The judge's spec is not what the round began with.
            JudgeError: Judging cannot go on; the round is paused.
        """
        found = self._store.rounds.get(name)
        spec = self.spec_of(found)
        found = self._store.rounds.move(name, to=RoundState.RUNNING, allowed=RESUMABLE)
        try:
            self._store.ledgers.release(found.id)
            state = asyncio.run(self._judge(found, spec, concurrency, report))
        except BaseException:
            # A round whose database is gone stays `running`, which can be resumed as well.
            with suppress(ArenaError):
                self._store.rounds.move(name, to=RoundState.PAUSED, allowed=(RoundState.RUNNING,))
            raise
        counts = self._store.rounds.counts(name)
        if state is RoundState.RUNNING:
            open_ = counts.pending or self.attacks(name).pending
            end = RoundState.PAUSED if open_ else RoundState.FINISHED
            self._store.rounds.move(name, to=end, allowed=(RoundState.RUNNING,))
        return counts

    def rounds(self) -> tuple[Round, ...]:
        """Every round, newest first."""
        return self._store.rounds.all()

    def status(self, name: str) -> tuple[Round, RoundCounts]:
        """A round and its books."""
        return self._store.rounds.get(name), self._store.rounds.counts(name)

    def attacks(self, name: str) -> RoundAttacks:
        """How a round's canaries fared so far."""
        return attacks_of(self._store.canaries.of_round(name))

    def pause(self, name: str) -> Round:
        """Tell a running round to stop; its battles in flight finish."""
        return self._store.rounds.move(name, to=RoundState.PAUSED, allowed=RESUMABLE)

    def cancel(self, name: str) -> Round:
        """End a round; what is pending becomes `skipped`.

        Raises:
            ConflictError: It has ended already.
        """
        found = self._store.rounds.move(name, to=RoundState.CANCELLED, allowed=RESUMABLE)
        self._store.rounds.close_pending(name, Outcome.SKIPPED, CANCELLED)
        self._store.canaries.close_pending(found.id, Outcome.SKIPPED, CANCELLED)
        return found

    def retry(self, name: str) -> int:
        """Make failed and skipped battles and canaries pending again; no verdict is asked for twice.

        Returns:
            How many are pending again.

        Raises:
            ConflictError: The round is running, or published.
        """
        found = self._store.rounds.move(name, to=RoundState.PAUSED, allowed=REOPENABLE)
        reopened = self._store.rounds.reopen(name, RETRIED) + self._store.canaries.reopen(found.id, RETRIED)
        if not self._store.rounds.counts(name).pending and not self.attacks(name).pending:
            self._store.rounds.move(name, to=RoundState.FINISHED, allowed=(RoundState.PAUSED,))
        return reopened

    def battles(self, name: str) -> Iterator[BattleRecord]:
        """The battles of a round in a fixed order."""
        self._store.rounds.get(name)
        return self._store.verdicts.battles(name)

    async def _judge(self, found: Round, spec: JudgeSpec, concurrency: int, report: Report) -> RoundState:
        books = await asyncio.to_thread(self._store.rounds.counts, found.name)
        waiting = await asyncio.to_thread(self.attacks, found.name)
        stop = asyncio.Event()
        with stopping_on_interrupt(stop):
            async with self._open_judge(spec, found, concurrency, stop) as judge:
                return await judge_pending(
                    self._store,
                    found.name,
                    judge,
                    total=books.pending + waiting.pending,
                    concurrency=concurrency,
                    report=report,
                    stop=stop,
                )

    def _entrants(self, request: RoundRequest) -> tuple[Submission, ...]:
        live = self._store.submissions.find(set_name=request.set_name, newest=True)
        if not request.systems:
            return live
        by_name = {submission.system: submission for submission in live}
        unknown = [system for system in request.systems if system not in by_name]
        if unknown:
            known = ", ".join(by_name) or "none"
            raise NotFoundError(
                f"{', '.join(unknown)} did not submit to {request.set_name}.", advice=f"There are: {known}."
            )
        return tuple(by_name[system] for system in dict.fromkeys(request.systems))

    def spec_of(self, found: Round) -> JudgeSpec:
        """The spec that a round began with.

        Raises:
            SpecError: Its files are not what they were.
        """
        stored: Any = found.judge
        spec = self._load_spec(stored["source"]).using(order=OrderPolicy(stored["order"]))
        if spec.hash != stored["hash"]:
            raise SpecError(
                f"The judge {found.judge_name} is not what round {found.name} began with.",
                advice="Restore its spec and prompt, or judge a new round with the changed judge.",
            )
        return spec

    def _refuse_taken(self, name: str) -> None:
        if any(found.name == name for found in self._store.rounds.all()):
            raise ConflictError(
                f"There is a round {name!r} already.",
                advice=f"Go on with it by `arena rounds resume {name}`, or choose another --name.",
            )

    def _free_name(self, planned: PlannedRound) -> str:
        stem = f"{planned.summary.name}-{planned.spec.name}-{datetime.now(UTC):%Y%m%d}"
        taken = {found.name for found in self._store.rounds.all()}
        numbered: Sequence[str] = [stem, *(f"{stem}-{number}" for number in range(2, len(taken) + 3))]
        return next(name for name in numbered if name not in taken)
