"""Dry samples: a few battles of a planned round, judged and shown, stored as nobody's verdicts.

Their replies go into the cache like all others, so that the round, judging the same battles, pays once.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from arena.services.jobs.cancellation import StopEvent
from arena.services.judging.judges import JudgeService
from arena.services.rounds.models import PlannedRound, RoundRequest, judge_inputs
from arena.services.rounds.planning import RoundPlanner
from data.errors import InputError
from data.records import Outcome, PlannedBattle, Verdict
from data.store import Store
from judges.base import JudgeInput
from judges.llm.costs import MemoryLedger

TRIED = 20
CONCURRENCY = 4
LONGEST_TEXT = 1_500


class TrialService:
    """Judges dry samples; for workers, since judging never happens in the site's process."""

    def __init__(self, store: Store, planner: RoundPlanner, judges: JudgeService) -> None:
        self._store = store
        self._planner = planner
        self._judges = judges

    def run(self, request: RoundRequest, *, stop_event: StopEvent | None = None) -> dict[str, Any]:
        """Judge up to 20 battles of a planned round, spread over its systems and domains.

        What the round may spend, the sample may.

        Returns:
            `planned`, `tried`, `outcomes`, `cap_usd`, `cost_usd`, `cost_usd_battle` (the mean of the battles
            that were not skipped; None where a price is not known), `cost_usd_round` (that times the battles
            planned), and `verdicts`.

        Raises:
            InputError: There is nothing to judge.
            StoppedError: `stop_event` was set.
        """
        planned = self._planner.plan(request)
        open_battles = [battle for battle in planned.plan.battles if battle.outcome is None]
        if not open_battles:
            raise InputError(
                f"There is nothing to judge on {request.set_name} with the pairs {request.pairs}.",
                advice="Accept submissions first, or choose other pairs.",
            )
        numbered = self._store.sets.numbered(planned.summary.id)
        domains = {number: question.domain for number, question in numbered}
        inputs = tuple(judge_inputs(self._store, planned, spread(open_battles, domains, TRIED)))
        ledger = None if request.budget_usd is None else MemoryLedger(request.budget_usd)
        deciding = self._judges.decide_all(
            planned.spec, inputs, concurrency=CONCURRENCY, ledger=ledger, stop_event=stop_event
        )
        verdicts = asyncio.run(deciding)
        return _report(self._store, planned, inputs, verdicts, len(open_battles))


def spread(
    battles: Sequence[PlannedBattle], domains: Mapping[int, str], most: int
) -> Sequence[PlannedBattle]:
    """Up to `most` battles: each system as often as the others, then each domain, from all over the plan."""
    if len(battles) <= most:
        return battles
    cells: dict[tuple[int, int, str], list[PlannedBattle]] = defaultdict(list)
    for battle in battles:
        cells[battle.a, battle.b, domains[battle.question]].append(battle)
    counts: Counter[object] = Counter()
    chosen = []
    for number in range(most):
        cell = min(cells, key=lambda key: (counts[key[0]] + counts[key[1]], counts[key[2]], counts[key]))
        left = cells[cell]
        chosen.append(left.pop(number * len(left) // most))
        if not left:
            del cells[cell]
        counts.update((*cell, cell))
    return chosen


def _report(
    store: Store, planned: PlannedRound, inputs: Sequence[JudgeInput], verdicts: Sequence[Verdict], count: int
) -> dict[str, Any]:
    sides = {entrant.id: entrant.system for entrant in planned.entrants}
    reference = store.submissions.reference(planned.request.set_name)
    names = {battle.key: (battle.a, battle.b) for battle in planned.plan.battles}
    sides[reference.id] = reference.system
    costs = [_cost(verdict) for verdict in verdicts if verdict.outcome is not Outcome.SKIPPED]
    total = math.fsum(cost for cost in costs if cost is not None)
    all_priced = bool(costs) and all(cost is not None for cost in costs)
    per_battle = total / len(costs) if all_priced else None
    return {
        "planned": count,
        "tried": len(verdicts),
        "outcomes": dict(Counter(verdict.outcome.value for verdict in verdicts)),
        "cap_usd": planned.request.budget_usd,
        "cost_usd": total,
        "cost_usd_battle": per_battle,
        "cost_usd_round": None if per_battle is None else per_battle * count,
        "verdicts": [
            _shown(judge_input, verdict, *(sides[number] for number in names[judge_input.battle_id]))
            for judge_input, verdict in zip(inputs, verdicts, strict=True)
        ],
    }


def _shown(judge_input: JudgeInput, verdict: Verdict, system_a: str, system_b: str) -> Mapping[str, Any]:
    reasons = [judgment.rationale or judgment.detail for judgment in verdict.judgments]
    winner = {"a": system_a, "b": system_b, "tie": "tie"}.get(verdict.preference or "")
    return {
        "question_id": judge_input.question.id,
        "question": judge_input.question.question[:LONGEST_TEXT],
        "system_a": system_a,
        "system_b": system_b,
        "outcome": verdict.outcome.value,
        "winner": winner,
        "cost_usd": _cost(verdict),
        "why": "\n\n".join(filter(None, [verdict.detail, *reasons]))[:LONGEST_TEXT],
    }


def _cost(verdict: Verdict) -> float | None:
    """What the same verdict costs without the cache; None where a price is not known."""
    total = 0.0
    for judgment in verdict.judgments:
        reply = judgment.reply
        paid = reply.cost_usd if reply is not None and reply.cached else judgment.cost_usd
        if judgment.calls and paid is None:
            return None
        total += paid or 0.0
    return total
