"""A round before it is created: its battles, what it leaves out, what it would cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from arena.services.rounds.canaries import canary_count
from arena.services.rounds.controls import plan_controls
from arena.services.rounds.models import LoadSpec, PlannedRound, RoundRequest, judge_inputs, questions_in
from arena.services.rounds.pairing import Pairs, Sample, Scope, make_plan
from arena.services.rounds.readiness import Readiness
from arena.services.rounds.stopping import StopWhen
from data.errors import InputError, NotFoundError
from data.progress import working
from data.records import JudgeKind, Submission, SubmissionKind, Verdict
from data.records.retests import PlannedControls
from data.store import Store
from judges.base import JudgeInput
from judges.llm.prices import Prices
from judges.llm.token_counting import TokenCounter
from judges.pairwise.forecast import Estimate, cannot_decide, estimate
from judges.spec import JudgeSpec, asked_shares

LoadPrices = Callable[[], Prices]
Decide = Callable[[JudgeSpec, Sequence[JudgeInput]], Sequence[Verdict]]


class RoundPlanner:
    """Lays out rounds; stores nothing.

    Where replies are only `replayed`, there are control battles only where somebody says how many. `has_key`
    says whether LLM endpoints can be asked with a key.
    """

    def __init__(
        self,
        store: Store,
        *,
        load_spec: LoadSpec,
        load_prices: LoadPrices,
        replayed: bool = False,
        decide: Decide | None = None,
        has_key: bool = True,
    ) -> None:
        self._store = store
        self._replayed = replayed
        self._decide = decide
        self._load_spec = load_spec
        self._load_prices = load_prices
        self._readiness = Readiness(store=store, load_spec=load_spec, has_key=has_key)

    def plan(self, request: RoundRequest) -> PlannedRound:
        """Lay out a round.

        Raises:
            NotFoundError: The set, the judge or a named system does not exist.
            InputError: Pairs, sample or stopping rule cannot be read, or there is nothing to judge.
        """
        with working("laying out the battles"):
            return self._planned(request)

    def _planned(self, request: RoundRequest) -> PlannedRound:
        pairs, sample = Pairs.parse(request.pairs), Sample.parse(request.sample)
        summary = self._store.sets.summary(request.set_name)
        spec = self._load_spec(request.judge)
        if request.order is not None:
            spec = spec.using(order=request.order)
        entrants = self._entrants(request)
        reference = self._store.submissions.reference(request.set_name)
        scope = Scope(
            set_hash=summary.content_hash,
            questions=questions_in(request.domains, summary, self._store.sets.numbered(summary.id)),
            entrants=entrants,
            reference=reference,
            answered={side.id: self._store.submissions.answered(side.id) for side in (*entrants, reference)},
            silent={side.id: self._store.submissions.silent(side.id) for side in (*entrants, reference)},
            named=bool(request.systems),
        )
        if request.stop_when is not None:
            StopWhen.parse(request.stop_when).require([entrant.system for entrant in entrants])
        plan = make_plan(
            scope, pairs=pairs, sample=sample, seed=request.seed, cannot=partial(cannot_decide, spec)
        )
        return PlannedRound(request=request, summary=summary, spec=spec, entrants=entrants, plan=plan)

    def controls(self, planned: PlannedRound, name: str = "") -> PlannedControls | None:
        """The control battles that a planned round of this name will ask; None where there are none."""
        if self._replayed and planned.request.controls is None:
            return None
        return plan_controls(self._store, planned, name)

    def estimate(self, request: RoundRequest, *, judging: bool = True) -> dict[str, Any]:
        """What `arena rounds plan` prints: battles, what is left out, requests, tokens, cost, what lacks.

        Of a round in waves also `waves`: the expected width for numbers of verdicts. Embedded cheap judges
        are asked for it where `judging` is true.
        """
        planned = self.plan(request)
        controls = self.controls(planned)
        asked_anew = 0 if controls is None else len(controls.askings)
        with working("estimating the cost"):
            expected = estimate_round(self._store, planned, self._load_prices(), asked_anew)
        return {
            "set": request.set_name,
            "judge": planned.spec.name,
            "pairs": request.pairs,
            "systems": [entrant.system for entrant in planned.entrants],
            "planned": len(planned.plan.battles),
            "missing": planned.plan.missing,
            "canaries": canary_count(planned),
            "controls": asked_anew,
            "left_out": dict(planned.plan.left_out),
            "undecidable": dict(planned.plan.undecidable),
            **asdict(expected),
            **_escalated(planned.spec),
            **self._waves(planned, judging=judging),
            "to_do": [one.as_json() for one in self._readiness.missing(planned, expected.cost_usd)],
        }

    def _waves(self, planned: PlannedRound, *, judging: bool) -> dict[str, Any]:
        from arena.services.rounds.waves.settings import settings_of  # noqa: PLC0415 - of rounds in waves alone

        settings = settings_of(self._store, planned, load_spec=self._load_spec)
        if settings is None:
            return {}
        from arena.services.rounds.waves.forecast import forecast  # noqa: PLC0415 - loads what plain plans do without

        with working("expecting widths"):
            told = forecast(
                self._store,
                planned,
                settings,
                self._cost,
                self._load_spec,
                self._decide if judging else None,
            )
        return {"waves": told.as_json()}

    def _cost(self, planned: PlannedRound) -> float | None:
        return estimate_round(self._store, planned, self._load_prices()).cost_usd

    def entrants(self, set_name: str) -> tuple[Submission, ...]:
        """The submissions that a round of a set takes where none is named."""
        return self._store.submissions.find(set_name=set_name, newest=True)

    def _entrants(self, request: RoundRequest) -> tuple[Submission, ...]:
        live = self.entrants(request.set_name)
        if not request.systems:
            return live
        by_name = {submission.system: submission for submission in live}
        unknown = [system for system in request.systems if system not in by_name]
        contexts = self._store.submissions.find(set_name=request.set_name, kind=SubmissionKind.CONTEXTS)
        if without := sorted({entrant.system for entrant in contexts} & set(unknown)):
            raise InputError(
                f"{', '.join(without)} submitted contexts to {request.set_name}, and a round judges answers.",
                advice=f"See them with `arena retrieval board {request.set_name}`, or name other systems.",
            )
        if unknown:
            names = ", ".join(by_name) or "none"
            raise NotFoundError(
                f"{', '.join(unknown)} did not submit to {request.set_name}.", advice=f"There are: {names}."
            )
        return tuple(by_name[system] for system in dict.fromkeys(request.systems))


def _escalated(spec: JudgeSpec) -> dict[str, float | None]:
    """The part of a cascade's battles that is expected to go on; None where nobody knows."""
    if spec.kind is not JudgeKind.CASCADE:
        return {}
    return {"escalated": None if spec.guarantee is None else spec.guarantee.escalated}


SAMPLED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundEstimate:
    """What a round with its canaries takes; the costs are None where a model has no known price.

    `cost_usd` expects every request to return its most tokens once, and of a cascade's battles the part to be
    escalated that was expected when its threshold was set, all where none was; `cost_usd_most` has every
    battle re-asked, swapped and escalated as often as the judge may.
    """

    requests: int
    requests_most: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    cost_usd_most: float | None


def estimate_round(store: Store, planned: PlannedRound, prices: Prices, controls: int = 0) -> RoundEstimate:
    """Estimate a planned round with its control battles from up to 200 of its battles, spread evenly."""
    open_battles = [battle for battle in planned.plan.battles if battle.outcome is None]
    step = max(1, len(open_battles) // SAMPLED)
    sample = open_battles[::step][:SAMPLED]
    inputs = tuple(judge_inputs(store, planned, sample))
    counter = TokenCounter()
    asked = len(open_battles) + canary_count(planned) + controls
    factor = asked / len(sample) if sample else 0.0
    total = Estimate()
    cost: float | None = 0.0
    most: float | None = 0.0
    for leaf, share in asked_shares(planned.spec):
        if leaf.kind is not JudgeKind.LLM:
            continue
        every = estimate(leaf, inputs, tokens=counter.expected).scaled(factor)
        part = replace(every.scaled(share), battles=every.battles, requests_most=every.requests_most)
        total = _added(total, part)
        cost, most = _priced(prices, leaf, part, cost), _priced(prices, leaf, every, most, again=True)
    return RoundEstimate(
        requests=total.requests,
        requests_most=total.requests_most,
        input_tokens=total.prompt_tokens,
        output_tokens=total.output_tokens,
        cost_usd=cost,
        cost_usd_most=most,
    )


def _priced(
    prices: Prices, leaf: JudgeSpec, part: Estimate, before: float | None, *, again: bool = False
) -> float | None:
    """What has been added up and this part cost; `again` has all asked as often as the judge may."""
    paid = prices.cost(leaf.endpoint, leaf.model, part.prompt_tokens, part.output_tokens)
    if paid is None or before is None:
        return None
    asked_again = part.requests_most / part.requests if again and part.requests else 1.0
    return before + paid * asked_again


def _added(first: Estimate, second: Estimate) -> Estimate:
    return Estimate(
        battles=max(first.battles, second.battles),
        requests=first.requests + second.requests,
        requests_most=first.requests_most + second.requests_most,
        prompt_characters=first.prompt_characters + second.prompt_characters,
        prompt_tokens=first.prompt_tokens + second.prompt_tokens,
        output_tokens=first.output_tokens + second.output_tokens,
    )
