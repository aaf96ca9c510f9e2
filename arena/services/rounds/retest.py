"""Retests: a sample of a round's battles is asked anew by the round's judge, and its own verdicts stay."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from arena.services.accounts.auth import OPERATOR, Caller, require
from arena.services.jobs.cancellation import stopping_on_interrupt
from arena.services.jobs.job_leases import JobLeases
from arena.services.judging.judges import JudgeService
from arena.services.rounds.retest_loop import RetestLoop
from arena.services.rounds.retest_plan import (
    RetestRequest,
    draw_battles,
    judged_battles,
    new_retest,
    planned_calls,
)
from arena.services.rounds.retest_results import repeats, retest_section, write_calls
from arena.services.rounds.service import RoundService
from data.errors import ConflictError, InputError
from data.progress import Report
from data.records import (
    Action,
    BattleRecord,
    JobKind,
    Lease,
    NewJob,
    Outcome,
    Round,
    RoundCounts,
    RoundState,
    TokenScope,
)
from data.records.retests import (
    ORIGINAL,
    NewRetest,
    Retest,
    RetestCall,
)
from data.records.rounds import require_amount
from data.store import Store
from judges.pairwise.prompt import Prompt
from judges.spec import JudgeSpec

RETRIED = (Outcome.FAILED, Outcome.SKIPPED)
RETESTED = (RoundState.FINISHED, RoundState.PUBLISHED)


class RetestService:
    """Use cases around retests."""

    def __init__(
        self, store: Store, rounds: RoundService, judges: JudgeService, job_leases: JobLeases
    ) -> None:
        self._store = store
        self._rounds = rounds
        self._judges = judges
        self._job_leases = job_leases

    def begin(self, name: str, request: RetestRequest, *, caller: Caller = OPERATOR) -> tuple[Retest, bool]:
        """Plan a retest of a round, or find the one that is to go on; nothing is asked yet.

        The last retest goes on where nothing else is asked for, where it has the same plan and is not
        finished, or where it was finished today and nobody says `again`. What failed in it or was skipped is
        pending again.

        Returns:
            The retest, and whether it is new.

        Raises:
            InputError: The round's judge asks no LLM, or the request cannot be read.
            ConflictError: The round is not finished, or another retest of it is not.
            SpecError: The judge is not what the round began with, or a prompt does not go with it.
            ForbiddenError: Only organisers may.
        """
        require(caller, TokenScope.ORGANISE)
        round_ = self._store.rounds.get(name)
        spec = self._asked_spec(round_)
        last = next(reversed(self._store.retests.of_round(name)), None)
        if request.battles is None:
            if last is None:
                raise InputError(f"Round {name} has no retest yet.", advice="Say how many: --battles 100.")
            return self._again(last, request), False
        battles = judged_battles(self._store, round_)
        new = new_retest(round_, spec, request, len(battles))
        if last is not None and last.settings == new.settings and not (request.again and self._is_over(last)):
            if not self._is_over(last) or last.created_at.date() == datetime.now(UTC).date():
                return self._again(last, request), False
        elif last is not None and not self._is_over(last):
            raise ConflictError(
                f"Retest {last.number} of round {name} is not finished.",
                advice=f"Go on with it first: `arena rounds retest {name}`.",
            )
        return self._create(round_, new, battles, caller), True

    def run(self, retest: Retest, *, concurrency: int, report: Report) -> RoundCounts:
        """Ask what is pending of a retest, until the end or an interrupt; nothing is asked twice.

        Raises:
            ConflictError: Another process asks it.
            SpecError: The judge is not what the round began with.
            JudgeError: Asking cannot go on; what was decided until then is kept.
        """
        if not self._store.retests.counts(retest).pending:
            return self._store.retests.counts(retest)
        specs = self._specs(retest)
        lease, attempts = self._lease(retest)
        try:
            with self._job_leases.held(lease, attempts=attempts, is_done=lambda: self._is_over(retest)):
                asyncio.run(self._ask(retest, specs, lease, concurrency, report))
        finally:
            self._store.retests.free(retest.id, lease.id)
        return self._store.retests.counts(retest)

    def retests(self, name: str) -> tuple[Retest, ...]:
        """The retests of a round, oldest first.

        Raises:
            NotFoundError: There is no such round.
        """
        return self._store.retests.of_round(self._store.rounds.get(name).name)

    def report(self, name: str) -> dict[str, Any]:
        """What asking a round's judge again changed so far.

        Returns:
            `name`; `runs`: each retest with its plan and costs; and the fields of a board's section `retest`.

        Raises:
            InputError: Nothing of the round was asked again.
        """
        round_ = self._store.rounds.get(name)
        section = retest_section(self._store, round_)
        if section is None:
            self._asked_spec(round_)
            raise InputError(
                f"Nothing of round {name} was asked again yet.",
                advice=f"Ask a sample: `arena rounds retest {name} --battles 100`.",
            )
        runs = [self._as_json(retest) for retest in self.retests(name)]
        return {"name": name, "runs": runs, **section}

    def verdicts(self, name: str) -> tuple[RetestCall, ...]:
        """The own verdicts of the battles that retests drew (repeat 0), then what was said anew.

        Those without a verdict are among them, with their outcome. `share_a` is the share of the win that
        side a gets, `wording` is `original` or names another prompt.
        """
        return self._store.retests.calls(name)

    def export(self, name: str, path: Path) -> int:
        """Write these verdicts as battles with the columns `repeat` and `wording`, and return how many.

        Those in the other order are left out: they are no repeats of a request, and no other words.

        Raises:
            FileFormatError: The file cannot be written.
        """
        return write_calls(path, repeats(self._store.retests.calls(name)))

    def _asked_spec(self, round_: Round) -> JudgeSpec:
        """The judge of a round that can be asked again.

        Raises:
            InputError: It is embedded.
            ConflictError: The round is not finished.
        """
        spec = self._rounds.spec_of(round_)
        if not spec.asks_llm:
            raise InputError(
                f"Round {round_.name} has no retest: its judge {spec.name} is embedded and gives the same "
                "verdict every time.",
                advice="Ask a round of an LLM judge again.",
            )
        if round_.state not in RETESTED:
            raise ConflictError(
                f"Round {round_.name} is {round_.state}, so its battles cannot be asked again yet.",
                advice=f"Finish it first: `arena rounds resume {round_.name}`.",
            )
        return spec

    def _again(self, retest: Retest, request: RetestRequest) -> Retest:
        """Go on with a retest, under another budget where one is named."""
        if request.budget_usd is not None and request.budget_usd != retest.budget_usd:
            self._store.retests.set_budget(retest, require_amount(request.budget_usd))
        self._store.retests.reopen(retest.id, RETRIED)
        listed = self._store.retests.of_round(retest.round_name)
        return next(other for other in listed if other.id == retest.id)

    def _create(
        self, round_: Round, new: NewRetest, battles: Sequence[BattleRecord], caller: Caller
    ) -> Retest:
        earlier = self._store.retests.of_round(round_.name)
        drawn = draw_battles(battles, new.battles, seed=new.seed)
        first = 1 + sum(retest.repeat for retest in earlier)
        planned = tuple(planned_calls(f"{round_.name} {len(earlier) + 1}", new, drawn, first))
        with self._store.audit.audited() as notes:
            retest = self._store.retests.create(round_.id, new, planned)
            note = caller.note(Action.ROUND_RETESTED, f"round {round_.name}", calls=len(planned))
            notes.take(note)
        return retest

    def _specs(self, retest: Retest) -> dict[str, JudgeSpec]:
        """The judge in each wording, the round's own first."""
        spec = self._rounds.spec_of(self._store.rounds.get(retest.round_name))
        others = {
            wording.name: spec.reworded(Prompt(wording.name, wording.text)) for wording in retest.wordings
        }
        return {ORIGINAL: spec, **others}

    def _lease(self, retest: Retest) -> tuple[Lease, int]:
        """A lease for this process alone, which holds the retest, with its account in order.

        Raises:
            ConflictError: Another process asks it.
        """
        payload = {"round": retest.round_name, "retest": retest.number}
        new_job = NewJob(kind=JobKind.RETEST, payload=payload)
        job, lease = self._job_leases.begin(new_job, advice="Start the retest again.")
        if not self._store.retests.hold(retest.id, lease.id):
            self._store.jobs.cancel(job.id, "Another process asks the retest.")
            with self._job_leases.held(lease):
                raise ConflictError(
                    f"Retest {retest.number} of round {retest.round_name} is asked by another process.",
                    advice="Wait for it, or end it by Ctrl-C.",
                )
        self._store.retest_ledgers.release(retest.id)
        return lease, job.attempts

    async def _ask(
        self, retest: Retest, specs: dict[str, JudgeSpec], lease: Lease, concurrency: int, report: Report
    ) -> None:
        stop = asyncio.Event()
        total = (await asyncio.to_thread(self._store.retests.counts, retest)).pending
        with stopping_on_interrupt(stop):
            async with self._judges.open_for(retest, specs, concurrency, stop, lease.id) as judges:
                loop = RetestLoop(
                    store=self._store,
                    lease_id=lease.id,
                    lease=self._job_leases.lease,
                    total=total,
                    report=report,
                    stopping=stop,
                    retest=retest,
                    judges=judges,
                )
                await loop.run(concurrency, 2 * concurrency)

    def _is_over(self, retest: Retest) -> bool:
        return not self._store.retests.counts(retest).pending

    def _as_json(self, retest: Retest) -> dict[str, Any]:
        counts = self._store.retests.counts(retest)
        return {
            "number": retest.number,
            "created_at": retest.created_at.isoformat(),
            "battles": retest.battles,
            "repeat": retest.repeat,
            "swapped": retest.swapped,
            "wordings": [wording.name for wording in retest.wordings],
            "seed": retest.seed,
            "budget_usd": retest.budget_usd,
            **asdict(counts),
            "pending": counts.pending,
        }
