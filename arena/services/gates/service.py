"""Gates: battles of two versions against the reference, in growing waves, until the difference is clear.

Nothing but the replies is stored, in the cache, so that a round which judges the same battles pays once. No
round is made, no verdict is anybody's, and nothing is public.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from arena.services.accounts.auth import OPERATOR, Caller
from arena.services.gates.model import GateReport, GateRequest, GateVersion
from arena.services.gates.versions import GateRules, Versions
from arena.services.jobs.cancellation import StopEvent, raise_if_stopped
from arena.services.judging.judges import JudgeService
from arena.services.rounds.stopping import in_random_order
from data.errors import InputError
from data.records import GateRule, Outcome, Preference, Question, Submission, Verdict, battle_id
from data.store import Store
from judges.base import JudgeInput
from judges.llm.costs import MemoryLedger
from judges.pairwise.forecast import cannot_decide
from judges.spec import JudgeSpec
from leaderboard.gates import FIRST_WAVE, GateShare, GateVerdict, decide, gate_shares
from leaderboard.standings.judged_shares import LEAST_JUDGED

CONCURRENCY = 8


class GateService:
    """Holds versions of a system against each other."""

    def __init__(self, store: Store, judges: JudgeService, rules: GateRules) -> None:
        self._store = store
        self._judges = judges
        self._rules = rules

    def require_usable(self, rule: GateRule | None) -> None:
        """Check that the gates of a rule could be judged.

        Raises:
            NotFoundError: There is no such judge.
            InputError: It asks an LLM, and there is no cap.
        """
        if rule is None:
            return
        if self._judges.spec(rule.judge).models and rule.budget_usd is None:
            raise InputError(
                f"The judge {rule.judge} asks an LLM, so its gates need a cap.",
                advice="Give --gate-budget-usd.",
            )

    def run(
        self, request: GateRequest, *, stop_event: StopEvent | None = None, caller: Caller = OPERATOR
    ) -> GateReport:
        """Judge two versions against the reference until the gate is decided, or the cap is reached.

        Another thread may set `stop_event` to stop.

        Raises:
            StoppedError: `stop_event` was set.
            InputError: The judge can decide no question of the two.
            BudgetError: There is a cap, and no price is known for the model.
            NotFoundError, ConflictError, ForbiddenError: As `GateRules.admit`.
        """
        versions = self._rules.admit(request, caller=caller)
        spec = self._judges.spec(versions.judge)
        run = self._laid_out(versions, spec)
        if run.is_same:
            return run.report("questions")
        if not run.questions:
            raise InputError(
                f"{spec.name} can decide no question of {versions.new.set_name} that both versions answer.",
                advice="Name another --judge; the embedded one needs passages.",
            )
        stopped = "questions"
        for size in _looks(run.to_ask):
            raise_if_stopped(stop_event)
            stopped = self._look(run, spec, size, stop_event)
            if stopped != "questions":
                break
        return run.report(stopped)

    def _look(self, run: _Run, spec: JudgeSpec, size: int, stop_event: StopEvent | None) -> str:
        wave = run.next_wave(size)
        inputs = [entry for question in wave for entry in run.inputs_of(self._store, question)]
        deciding = self._judges.decide_all(
            spec, inputs, concurrency=CONCURRENCY, ledger=run.ledger, stop_event=stop_event
        )
        verdicts = dict(zip((entry.battle_id for entry in inputs), asyncio.run(deciding), strict=True))
        complete = run.take(wave, verdicts)
        if run.look() is not GateVerdict.UNDECIDED:
            return "decided"
        return "questions" if complete else "budget"

    def _laid_out(self, versions: Versions, spec: JudgeSpec) -> _Run:
        store, new, old = self._store, versions.new, versions.old
        summary = store.sets.summary(new.set_name)
        reference = store.submissions.reference(new.set_name)
        answered = {side.id: store.submissions.answered(side.id) for side in (new, old, reference)}
        silent = store.submissions.silent(new.id) | store.submissions.silent(old.id)
        undecidable: Counter[str] = Counter()
        chosen: dict[int, Question] = {}
        for number, question in store.sets.numbered(summary.id):
            if number not in answered[old.id] or number not in answered[reference.id]:
                continue
            reason = cannot_decide(spec, question, against_reference=True, silent=number in silent)
            if reason:
                undecidable[reason] += 1
            else:
                chosen[number] = question
        both = [number for number in chosen if number in answered[new.id]]
        texts = store.submissions.texts([(side.id, number) for side in (new, old) for number in both])
        budget = versions.request.budget_usd
        return _Run(
            versions=versions,
            reference=reference,
            set_hash=summary.content_hash,
            judge=spec.name,
            order=in_random_order(
                ((number, question.id) for number, question in chosen.items()), versions.request.seed
            ),
            questions=chosen,
            same=frozenset(number for number in both if texts[new.id, number] == texts[old.id, number]),
            lost=frozenset(chosen) - answered[new.id],
            added=len((answered[new.id] & answered[reference.id]) - answered[old.id]),
            undecidable=undecidable,
            ledger=None if budget is None else MemoryLedger(budget),
        )


@dataclass(slots=True, kw_only=True)
class _Run:
    """A gate on its way: what was asked so far, question by question in the random order.

    `values` are the differences of the first questions of `order`, NaN where one of two has no verdict.
    """

    versions: Versions
    reference: Submission
    set_hash: str
    judge: str
    order: Sequence[int]
    questions: Mapping[int, Question]
    same: frozenset[int]
    lost: frozenset[int]
    added: int
    undecidable: Mapping[str, int]
    ledger: MemoryLedger | None
    values: list[float] = field(default_factory=list)
    unjudged: Counter[str] = field(default_factory=Counter)
    waves: list[tuple[int, float, float]] = field(default_factory=list)
    asked: int = 0

    @property
    def is_same(self) -> bool:
        """Whether no answer differs, so that there is nothing to decide."""
        new, old = self.versions.new, self.versions.old
        return new.content_hash == old.content_hash or 0 < len(self.order) == len(self.same)

    @property
    def to_ask(self) -> int:
        """How many questions the judge would be asked in all."""
        return len(self.order) - len(self.same)

    def next_wave(self, size: int) -> Sequence[int]:
        """The following questions of the order, until `size` of them are to be asked."""
        wave: list[int] = []
        rest = iter(self.order[len(self.values) :])
        while size and (number := next(rest, None)) is not None:
            wave.append(number)
            size -= number not in self.same
        # What needs no asking is known at once.
        for number in rest:
            if number not in self.same:
                break
            wave.append(number)
        return wave

    def inputs_of(self, store: Store, number: int) -> Iterator[JudgeInput]:
        """The battles of a question: of each version that has an answer of its own, against the reference."""
        if number in self.same:
            return
        sides = [self.versions.old] if number in self.lost else [self.versions.new, self.versions.old]
        wanted = [(side.id, number) for side in (*sides, self.reference)]
        texts = store.submissions.texts(wanted)
        for side in sides:
            yield JudgeInput(
                battle_id=self._key(side, number),
                question=self.questions[number],
                answer_a=texts[side.id, number],
                answer_b=texts[self.reference.id, number],
                reference_side="b",
            )

    def take(self, wave: Sequence[int], verdicts: Mapping[str, Verdict]) -> bool:
        """Take the verdicts of a wave, up to the first that the cap left out; False where it left one out."""
        for number in wave:
            if number in self.same:
                self.values.append(0.0)
                continue
            new, old = (
                verdicts.get(self._key(side, number)) for side in (self.versions.new, self.versions.old)
            )
            outcomes = [verdict.outcome for verdict in (new, old) if verdict is not None]
            if Outcome.SKIPPED in outcomes:
                return False
            self.asked += 1
            failed = next((outcome for outcome in outcomes if outcome is not Outcome.JUDGED), None)
            if failed is not None:
                self.unjudged[failed.value] += 1
            self.values.append(math.nan if failed is not None else _taken(new) - _taken(old))
        return True

    def look(self) -> GateVerdict:
        """Decide by what is known now, and note the interval."""
        overall = self._shares()[0]
        self.waves.append((overall.questions, overall.lower, overall.upper))
        return self._decided(overall)

    def report(self, stopped: str) -> GateReport:
        """What the gate says."""
        new, old, request = self.versions.new, self.versions.old, self.versions.request
        overall, *domains = self._shares()
        verdict = GateVerdict.PASS if self.is_same else self._decided(overall)
        return GateReport(
            verdict=verdict,
            reason=self._reason(verdict, stopped),
            set=new.set_name,
            system=new.system,
            new=_version(new),
            old=_version(old),
            judge=self.judge,
            max_loss=request.max_loss,
            overall=overall,
            domains=tuple(domains),
            questions=len(self.order),
            asked=self.asked,
            same=len(self.same),
            lost=len(self.lost),
            added=self.added,
            undecidable=dict(self.undecidable),
            unjudged=dict(self.unjudged),
            waves=tuple(self.waves),
            stopped=stopped,
            budget_usd=request.budget_usd,
            cost_usd=0.0 if self.ledger is None else self.ledger.spent + self.ledger.lost,
            seed=request.seed,
        )

    @property
    def _hollow(self) -> bool:
        """Whether too many of the questions that were asked have no verdict to say that nothing was lost."""
        return sum(self.unjudged.values()) > (1 - LEAST_JUDGED) * self.asked

    def _decided(self, overall: GateShare) -> GateVerdict:
        verdict = decide(overall, max_loss=self.versions.request.max_loss)
        return GateVerdict.UNDECIDED if self._hollow else verdict

    def _reason(self, verdict: GateVerdict, stopped: str) -> str:
        if self.is_same:
            return "Both versions have the same answers."
        most = f"{self.versions.request.max_loss:g} points"
        if verdict is GateVerdict.PASS:
            return f"A loss of more than {most} of win + tie is ruled out."
        if verdict is GateVerdict.WORSE:
            return f"It loses more than {most} of win + tie."
        if self._hollow:
            return f"{sum(self.unjudged.values()):,} of {self.asked:,} questions asked have no verdict."
        end = "the cap" if stopped == "budget" else "the questions"
        return f"Whether it loses more than {most} of win + tie is open at the end of {end}."

    def _shares(self) -> tuple[GateShare, ...]:
        known = self.order[: len(self.values)]
        return gate_shares(np.array(self.values), [self.questions[number].domain for number in known])

    def _key(self, side: Submission, number: int) -> str:
        # That of a round's battle, so that a round finds the same replies in the cache.
        labels = (f"{part.system}@{part.version}" for part in (side, self.reference))
        return battle_id(self.set_hash, self.questions[number].id, *labels)


def _looks(to_ask: int) -> Iterator[int]:
    """How many further questions each look asks: 50, 50, 100, 200 and so on."""
    done, size = 0, FIRST_WAVE
    while done < to_ask:
        yield size
        done += size
        size = done


def _taken(verdict: Verdict | None) -> float:
    """1 for a win or a tie of side a, 0 for a loss; what has no answer loses."""
    return float(verdict is not None and verdict.preference is not Preference.B)


def _version(submission: Submission) -> GateVersion:
    return GateVersion(submission=submission.id, version=submission.version, state=submission.state.value)
