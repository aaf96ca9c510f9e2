"""Rounds: create, judge, correct, end."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from arena.services.accounts.auth import OPERATOR, Caller, require
from arena.services.jobs.cancellation import StopEvent
from arena.services.jobs.service import JobService
from arena.services.judging.traffic import GO_ON
from arena.services.rounds import models
from arena.services.rounds.judging_loop import RoundRunner
from arena.services.rounds.pairing import left_out_of
from arena.services.rounds.planning import RoundPlanner, check_judge
from arena.services.rounds.visibility import RoundReader
from arena.services.system import Notifier
from data.errors import ConflictError, InputError, NotFoundError, SpecError
from data.models import (
    BattleEvidence,
    Job,
    Lease,
    OrderPolicy,
    Outcome,
    Preference,
    Round,
    RoundCounts,
    RoundState,
    TokenScope,
    Verdict,
)
from data.models.judgments import CORRECTION
from data.models.rounds import RESUMABLE, require_amount
from data.progress import Report
from data.store import Store
from judges.catalogue import source_of
from judges.spec import JudgeSpec

MAX_REASON = 1_000
TIE = "tie"
CANCELLED = "The round was cancelled."
PAUSED = "The round was paused."
DEFAULT_CONCURRENCY = 16
ACTIVE = (RoundState.PLANNED, RoundState.RUNNING, RoundState.PAUSED, RoundState.FINISHED)


class RoundService(RoundReader):
    """Service for rounds."""

    def __init__(
        self,
        store: Store,
        planner: RoundPlanner,
        jobs: JobService,
        *,
        load_spec: models.LoadSpec,
        notifier: Notifier,
        runner: RoundRunner,
    ) -> None:
        super().__init__(store)
        self._planner = planner
        self._jobs = jobs
        self._load_spec = load_spec
        self._notifier = notifier
        self.runner = runner

    def create(self, request: models.RoundRequest, *, caller: Caller = OPERATOR) -> Round:
        """Store a planned round with its battles."""
        require(caller, TokenScope.ORGANISE)
        check_judge(request, caller)
        return self.begin(self._planner.plan(request), caller=caller)

    def begin(self, planned: models.PlannedRound, *, caller: Caller) -> Round:
        """Store a planned round with its battles."""
        request = planned.request
        require(caller, TokenScope.ORGANISE)
        check_judge(request, caller)
        if request.name is not None:
            self._refuse_taken(request.name)
        if not planned.plan.battles:
            raise InputError(
                f"There is nothing to judge on {request.set_name} with the pairs {request.pairs}"
                f"{left_out_of(planned.plan)}.",
                advice="Add submissions with `arena submissions add`, or choose other pairs.",
            )
        self._refuse_hopeless(planned)
        name = request.name or self._free_name(planned)
        with self._store.changing():
            created = self._create(name, request, planned)
        caller.log("round-created", f"round {name}", battles=len(planned.plan.battles))
        return created

    def _create(self, name: str, request: models.RoundRequest, planned: models.PlannedRound) -> Round:
        return self._store.rounds.create(
            name=name,
            set_id=planned.summary.id,
            judge_name=planned.spec.name,
            judge={
                "source": source_of(request.judge, planned.spec),
                "hash": planned.spec.hash,
                **planned.spec.canonical,
            },
            plan={
                "pairs": request.pairs,
                "sample": request.sample,
                "systems": {entrant.system: entrant.version for entrant in planned.entrants},
                "set_hash": planned.summary.content_hash,
                **({"domains": list(request.domains)} if request.domains else {}),
                "missing": request.missing.value,
                "without_judge": planned.plan.without_judge,
                "left_out": dict(planned.plan.left_out),
                "undecidable": dict(planned.plan.undecidable),
            },
            seed=request.seed,
            budget_usd=request.budget_usd,
            planned=planned.plan.battles,
        )

    def launch(self, request: models.RoundRequest, *, workers: int | None = None, caller: Caller) -> Job:
        """Create and queue a round; a judge with a paid LLM needs a cap."""
        require(caller, TokenScope.ORGANISE)
        check_judge(request, caller)
        planned = self._planner.plan(request)
        self._planner.require_ready(planned)
        created = self.begin(planned, caller=caller)
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
        """Queue the pending battles, with a new cap if any.

        With `anyway` workers continue despite an unfit judge; with `retry` they retry failed and skipped
        battles.
        """
        require(caller, TokenScope.ORGANISE)
        if budget_usd is not None:
            self.set_budget(name, budget_usd, caller=caller)
        if anyway:
            self.judge_anyway(name, caller=caller)
        if retry:
            self.retry(name, caller=caller)
        options = {"concurrency": DEFAULT_CONCURRENCY}
        return self._jobs.judge(name, options=options, workers=workers, caller=caller)

    def under_way(self, *, caller: Caller) -> tuple[models.RoundProgress, ...]:
        """Return the rounds that are not published, retracted or cancelled, newest first."""
        require(caller, TokenScope.ORGANISE)
        return tuple(
            models.RoundProgress(
                round=row, counts=self._store.rounds.counts(row.name), job=self._jobs.of_round(row.id)
            )
            for row in self._store.rounds.all()
            if row.state in ACTIVE
        )

    def watch(self, name: str, *, caller: Caller) -> models.RoundWatch:
        """Return the current state of a round."""
        require(caller, TokenScope.ORGANISE)
        round_, counts = self.status(name, caller=caller)
        return models.RoundWatch(
            round=round_,
            counts=counts,
            job=self._jobs.of_round(round_.id),
            live=self.live(name, caller=caller),
            warnings=self.warnings(name),
            capped=bool(self._store.statuses.skipped_by_budget(round_.id)),
        )

    def run(
        self, name: str, *, concurrency: int, report: Report, halt: StopEvent | None = None
    ) -> RoundCounts:
        """Judge the pending battles of a round; Ctrl-C or `halt` finishes battles in flight and pauses it."""
        spec = self.adopt(name)
        round_ = self._store.rounds.get(name)
        self.runner.run_alone(round_, spec, concurrency=concurrency, report=report, halt=halt)
        self._notifier.round_ended(name)
        return self._store.rounds.counts(name)

    async def judge(
        self, name: str, lease: Lease, *, concurrency: int, report: Report, stop: asyncio.Event, shared: bool
    ) -> None:
        """Judge a round under a lease, with other workers if `shared`."""
        spec = await asyncio.to_thread(self.adopt, name)
        round_ = await asyncio.to_thread(self._store.rounds.get, name)
        await self.runner.judge(
            round_, spec, lease, concurrency=concurrency, report=report, stop=stop, shared=shared
        )

    def pause(self, name: str, *, caller: Caller = OPERATOR) -> Round:
        """Pause a round and cancel its job; battles in flight finish."""
        require(caller, TokenScope.ORGANISE)
        with self._store.changing():
            round_ = self._store.rounds.move(name, to=RoundState.PAUSED, allowed=RESUMABLE)
            self._store.jobs.withdraw(PAUSED, round_id=round_.id)
        caller.log("round-paused", f"round {name}")
        return round_

    def cancel(self, name: str, *, caller: Caller = OPERATOR) -> Round:
        """Cancel a round; pending battles become `skipped`."""
        require(caller, TokenScope.ORGANISE)
        with self._store.changing():
            round_ = self._store.rounds.move(name, to=RoundState.CANCELLED, allowed=RESUMABLE)
            self._store.jobs.withdraw(CANCELLED, round_id=round_.id)
            self._store.battles.close_pending(round_.id, Outcome.SKIPPED, CANCELLED)
        caller.log("round-cancelled", f"round {name}")
        return round_

    def delete(self, name: str, *, caller: Caller = OPERATOR) -> None:
        """Delete an unpublished round with its verdicts; its name can be used again."""
        require(caller, TokenScope.ORGANISE)
        with self._store.changing():
            counts = self._store.rounds.counts(name)
            self._store.rounds.delete(name, allowed=models.DELETABLE)
        caller.log("round-deleted", f"round {name}", judged=counts.judged)

    def retry(
        self, name: str, *, unreadable: bool = False, published: bool = False, caller: Caller = OPERATOR
    ) -> int:
        """Make failed and skipped battles pending again, and return their number.

        Args:
            name: The round.
            unreadable: Also retry unreadable and refused replies, which stay stored.
            published: Allow a published round, whose board stays until the next publication.
            caller: The caller.
        """
        require(caller, TokenScope.ORGANISE)
        with self._store.changing():
            allowed = (*models.REOPENABLE, *([RoundState.PUBLISHED] if published else []))
            round_ = self._store.rounds.move(name, to=RoundState.PAUSED, allowed=allowed)
            retried = (*models.RETRIED, Outcome.UNREADABLE, Outcome.REFUSED) if unreadable else models.RETRIED
            reopened = self._store.battles.reopen(round_.id, retried)
            if not self._store.rounds.counts(name).pending:
                self._store.rounds.move(name, to=RoundState.FINISHED, allowed=(RoundState.PAUSED,))
        caller.log("round-retried", f"round {name}", reopened=reopened)
        return reopened

    def adopt(self, name: str, *, new_judge: bool = False) -> JudgeSpec:
        """Return the current spec of a round's judge, and store changes to it.

        After the first verdict only endpoints and prices may change, unless `new_judge` records that the
        rest is judged by another judge.
        """
        round_ = self._store.rounds.get(name)
        stored, spec, changed = self._present_spec(round_)
        if spec.hash == stored["hash"]:
            return spec
        judged = self._store.rounds.counts(name).judged
        former = list(round_.plan.get(models.FORMER) or [])
        if judged and not models.same_verdicts(stored, spec.canonical):
            if not new_judge:
                raise SpecError(
                    f"The judge {round_.judge_name} has changed since round {name} began: {changed}.",
                    advice="Restore its spec and prompt, or judge the rest as another judge: "
                    f"`arena rounds resume {name} --new-judge`.",
                )
            former.append({"hash": stored["hash"], "judged": judged, "changed": changed})
        judge = {"source": stored["source"], "hash": spec.hash, **spec.canonical}
        self._store.rounds.amend(name, judge=judge, **({models.FORMER: former} if former else {}))
        return spec

    def correct(
        self,
        round_name: str,
        question_id: str,
        systems: tuple[str, str],
        *,
        winner: str,
        reason: str,
        caller: Caller,
    ) -> BattleEvidence:
        """Correct the verdict on two systems and a question; `winner` is a system or `tie`."""
        require(caller, TokenScope.ORGANISE)
        reason = reason.strip()
        if not reason or len(reason) > MAX_REASON or not reason.isprintable():
            raise InputError("The reason is invalid.", advice=f"Use 1 to {MAX_REASON} printable characters.")
        self._store.rounds.get(round_name)
        for evidence in self._store.verdicts.of_question(round_name, question_id):
            battle = evidence.battle
            if {battle.system_a, battle.system_b} == {*systems}:
                break
        else:
            raise NotFoundError(f"{round_name} has no battle of {' and '.join(systems)} on {question_id}.")
        winners = {battle.system_a: Preference.A, battle.system_b: Preference.B, TIE: Preference.TIE}
        if winner not in winners:
            raise InputError(f"{winner} is not in the battle.", advice=f"Choose {', '.join(winners)}.")
        verdict = Verdict(outcome=Outcome.JUDGED, preference=winners[winner], detail=f"{CORRECTION}{reason}")
        with self._store.changing():
            self._store.verdicts.revise([(battle.id, evidence.judgments, verdict)])
            subject = f"battle {battle.key} of {round_name}"
        caller.log("verdict-corrected", subject, winner=winner, reason=reason)
        (corrected,) = self._store.verdicts.of_battles([battle.id])
        return corrected

    def judge_anyway(self, name: str, *, caller: Caller = OPERATOR) -> Round:
        """Let a round continue to the end despite an unfit judge."""
        require(caller, TokenScope.ORGANISE)
        return self._store.rounds.amend(name, **{GO_ON: True})

    def set_budget(self, name: str, budget_usd: float, *, caller: Caller = OPERATOR) -> Round:
        """Change a round's cap, so that battles skipped by the old one can be retried."""
        require(caller, TokenScope.ORGANISE)
        require_amount(budget_usd)
        with self._store.changing():
            changed = self._store.rounds.set_budget(name, budget_usd)
        caller.log("round-budget-changed", f"round {name}", budget_usd=budget_usd)
        return changed

    def spec_of(self, round_: Round) -> JudgeSpec:
        """Return the original spec of a round's judge."""
        stored, spec, changed = self._present_spec(round_)
        if spec.hash == stored["hash"] or models.same_verdicts(stored, spec.canonical):
            return spec
        raise SpecError(
            f"The judge {round_.judge_name} has changed since round {round_.name} began: {changed}.",
            advice="Restore its spec and prompt, or judge a new round.",
        )

    def _present_spec(self, round_: Round) -> tuple[Mapping[str, Any], JudgeSpec, str]:
        stored = round_.judge
        spec = self._load_spec(stored["source"]).using(order=OrderPolicy(stored["order"]))
        changed = "; ".join(models.differences(stored, spec.canonical)) or "settings that were not stored"
        return stored, spec, changed

    def _refuse_hopeless(self, planned: models.PlannedRound) -> None:
        """Refuse a round whose judge can decide no battle."""
        undecidable, battles = planned.plan.undecidable, planned.plan.ended[None]
        if undecidable and sum(undecidable.values()) >= battles:
            raise InputError(
                f"The judge {planned.spec.name} can decide none of the {battles:,} battles: "
                f"{'; '.join(undecidable)}.",
                advice="Add references or passages, choose a judge that needs neither, or other pairs.",
            )

    def _refuse_taken(self, name: str) -> None:
        if any(round_.name == name for round_ in self._store.rounds.all()):
            raise ConflictError(
                f"Round {name!r} already exists.",
                advice=f"Continue it with `arena rounds resume {name}`, or choose another name.",
            )

    def _free_name(self, planned: models.PlannedRound) -> str:
        stem = f"{planned.summary.name}-{planned.spec.name}-{datetime.now(UTC):%Y%m%d}"
        names = {round_.name for round_ in self._store.rounds.all()}
        numbered: Sequence[str] = [stem, *(f"{stem}-{number}" for number in range(2, len(names) + 3))]
        return next(name for name in numbered if name not in names)
