"""Canaries of rounds: planted when a round is made, judged beside its battles, counted apart from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arena.services.contests import contests_of
from data.records import CanaryRecord, JudgeKind, Outcome, PlannedBattle, PlannedCanary
from data.store import Store
from judges.base import Contest
from judges.canaries import Attack, AttackReport, attacks, count_attacks, plant, turn
from judges.pairwise import declined
from judges.spec import leaves

if TYPE_CHECKING:
    from arena.services.rounds import PlannedRound

BATTLES_A_CANARY = 10
LOOKED_AT = 20
"""Battles looked at for each canary: some decline, or have an opponent without an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundAttacks:
    """How a round's canaries fared; pending ones count as planted alone."""

    report: AttackReport
    pending: int
    cost_usd: float
    outcomes: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """The field `canaries` of `arena rounds status --json`."""
        found = self.report
        return {
            "planted": found.planted,
            "judged": found.judged,
            "succeeded": found.succeeded,
            "success_rate": found.rate,
            "pending": self.pending,
            "unjudged": dict(self.outcomes),
            "cost_usd": self.cost_usd,
            "by_family": {
                family: {"judged": judged, "succeeded": won}
                for family, (judged, won) in sorted(found.by_family.items())
            },
        }

    def __str__(self) -> str:
        found = self.report
        if not found.planted:
            return "no canaries planted"
        unjudged = f", {found.unjudged} without a verdict" if found.unjudged else ""
        if found.rate is None:
            return f"unknown: none of {found.planted} canaries was judged"
        return f"{found.rate:.1%} ({found.succeeded} of {found.judged} canaries{unjudged})"


def plant_canaries(store: Store, planned: PlannedRound) -> tuple[PlannedCanary, ...]:
    """The canaries of a planned round: as many as were asked for, of battles that its judge decides.

    A round without an LLM judge has none, unless they are asked for.
    """
    count = canary_count(planned)
    if not count:
        return ()
    seed = planned.request.seed
    first = sorted(_open(planned), key=lambda battle: turn(battle.key, seed))[: LOOKED_AT * count]
    fitting = _decidable(planned, contests_of(store, planned, first))
    return tuple(
        PlannedCanary(
            key=canary.contest.battle_id,
            battle=canary.battle_id,
            family=canary.family,
            attacker=canary.attacker,
            text=canary.text,
        )
        for canary in plant(fitting, count, seed=seed)
    )


def canary_count(planned: PlannedRound) -> int:
    """How many canaries a planned round gets, where that many of its battles fit."""
    battles, asked = len(_open(planned)), planned.request.canaries
    if asked is not None:
        return min(asked, battles)
    asks = any(leaf.kind is JudgeKind.LLM for leaf in leaves(planned.spec))
    return min(len(attacks()), -(-battles // BATTLES_A_CANARY)) if asks else 0


def attacks_of(canaries: Sequence[CanaryRecord]) -> RoundAttacks:
    """Count what is kept of a round's canaries."""
    unjudged = [
        one.outcome for one in canaries if one.outcome is not None and one.outcome is not Outcome.JUDGED
    ]
    return RoundAttacks(
        report=count_attacks(Attack(one.family, one.attacker, one.preference) for one in canaries),
        pending=sum(one.outcome is None for one in canaries),
        cost_usd=sum(one.cost_usd for one in canaries),
        outcomes={outcome.value: unjudged.count(outcome) for outcome in dict.fromkeys(unjudged)},
    )


def _open(planned: PlannedRound) -> list[PlannedBattle]:
    return [battle for battle in planned.plan.battles if battle.outcome is None]


def _decidable(planned: PlannedRound, contests: Iterator[Contest]) -> Iterator[Contest]:
    members = list(leaves(planned.spec))
    for contest in contests:
        if not any(declined(leaf.yardstick, contest) for leaf in members):
            yield contest
