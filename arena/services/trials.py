"""Dry samples: a few battles of a planned round, judged and shown, stored as nobody's verdicts.

Their replies go into the cache like all others, so that the round, judging the same battles, pays once.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from arena.services.contests import contests_of
from arena.services.interrupts import Halt
from arena.services.judges import JudgeService
from arena.services.planner import RoundPlanner
from arena.services.round_requests import PlannedRound, RoundRequest
from data.errors import InputError
from data.records import Outcome, PlannedBattle, Verdict
from data.store import Store
from judges.base import Contest
from judges.llm.budget import MemoryLedger

TRIED = 20
CONCURRENCY = 4
LONGEST_TEXT = 1_500


class TrialService:
    """Judges dry samples; for workers, since judging never happens in the site's process."""

    def __init__(self, store: Store, planner: RoundPlanner, judges: JudgeService) -> None:
        self._store = store
        self._planner = planner
        self._judges = judges

    def run(self, request: RoundRequest, *, halt: Halt | None = None) -> dict[str, Any]:
        """Judge up to 20 battles of a planned round, spread evenly over it.

        Args:
            request: The round; what it may spend, the sample may.
            halt: Set from another thread to stop.

        Returns:
            `planned`, `tried`, `outcomes`, `cap_usd`, `cost_usd`, `cost_usd_round` (the cost of a battle that
            was not skipped times the battles planned; None where a price is not known), and `verdicts`.

        Raises:
            InputError: There is nothing to judge.
            StoppedError: `halt` was set.
        """
        planned = self._planner.plan(request)
        open_battles = [battle for battle in planned.plan.battles if battle.outcome is None]
        if not open_battles:
            raise InputError(
                f"There is nothing to judge on {request.set_name} with the pairs {request.pairs}.",
                advice="Accept submissions first, or choose other pairs.",
            )
        contests = tuple(contests_of(self._store, planned, spread(open_battles, TRIED)))
        ledger = None if request.budget_usd is None else MemoryLedger(request.budget_usd)
        deciding = self._judges.decide_all(
            planned.spec, contests, concurrency=CONCURRENCY, ledger=ledger, halt=halt
        )
        verdicts = asyncio.run(deciding)
        return _report(self._store, planned, contests, verdicts, len(open_battles))


def spread(battles: Sequence[PlannedBattle], most: int) -> list[PlannedBattle]:
    """Up to `most` battles, evenly spread."""
    if len(battles) <= most:
        return list(battles)
    return [battles[place * len(battles) // most] for place in range(most)]


def _report(
    store: Store, planned: PlannedRound, contests: Sequence[Contest], verdicts: Sequence[Verdict], count: int
) -> dict[str, Any]:
    sides = {one.id: one.system for one in planned.entrants}
    reference = store.submissions.reference(planned.request.set_name)
    names = {battle.key: (battle.a, battle.b) for battle in planned.plan.battles}
    sides[reference.id] = reference.system
    costs = [_cost(verdict) for verdict in verdicts if verdict.outcome is not Outcome.SKIPPED]
    total = math.fsum(cost for cost in costs if cost is not None)
    known = bool(costs) and all(cost is not None for cost in costs)
    return {
        "planned": count,
        "tried": len(verdicts),
        "outcomes": dict(Counter(verdict.outcome.value for verdict in verdicts)),
        "cap_usd": planned.request.budget_usd,
        "cost_usd": total,
        "cost_usd_round": total / len(costs) * count if known else None,
        "verdicts": [
            _shown(contest, verdict, *(sides[number] for number in names[contest.battle_id]))
            for contest, verdict in zip(contests, verdicts, strict=True)
        ],
    }


def _shown(contest: Contest, verdict: Verdict, system_a: str, system_b: str) -> Mapping[str, Any]:
    said = [judgment.rationale or judgment.detail for judgment in verdict.judgments]
    winner = {"a": system_a, "b": system_b, "tie": "tie"}.get(verdict.preference or "")
    return {
        "question_id": contest.question.id,
        "question": contest.question.question[:LONGEST_TEXT],
        "system_a": system_a,
        "system_b": system_b,
        "outcome": verdict.outcome.value,
        "winner": winner,
        "cost_usd": _cost(verdict),
        "why": "\n\n".join(filter(None, [verdict.detail, *said]))[:LONGEST_TEXT],
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
