"""What a round would be before there is one: its battles, what it leaves out, what it would cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from arena.services.attacks import canary_count
from arena.services.estimates import estimate_round
from arena.services.planning import Pairs, Sample, Scope, make_plan
from arena.services.round_requests import PlannedRound, RoundRequest, questions_in
from data.errors import NotFoundError
from data.records import Submission
from data.store import Store
from judges.llm.prices import Prices
from judges.spec import JudgeSpec

LoadPrices = Callable[[], Prices]
LoadSpec = Callable[[str], JudgeSpec]


class RoundPlanner:
    """Lays out rounds; stores nothing."""

    def __init__(self, store: Store, *, load_spec: LoadSpec, load_prices: LoadPrices) -> None:
        self._store = store
        self._load_spec = load_spec
        self._load_prices = load_prices

    def plan(self, request: RoundRequest) -> PlannedRound:
        """Lay out a round.

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
            questions=questions_in(request.domains, summary, self._store.sets.numbered(summary.id)),
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

    def entrants(self, set_name: str) -> tuple[Submission, ...]:
        """The submissions that a round of a set takes where none is named."""
        return self._store.submissions.find(set_name=set_name, newest=True)

    def _entrants(self, request: RoundRequest) -> tuple[Submission, ...]:
        live = self.entrants(request.set_name)
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
