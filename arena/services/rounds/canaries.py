"""Canaries of rounds: planted when a round is made, judged alongside its battles, counted separately."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arena.services.rounds.models import PlannedRound, judge_inputs
from data.intervals import wilson
from data.percent import percent
from data.records import CanaryRecord, JudgeKind, Outcome, PlannedBattle, PlannedCanary
from data.store import Store
from judges.pairwise.attack_report import Attack, AttackReport, count_attacks

if TYPE_CHECKING:
    # Judges load where canaries are planted: to count those of a round takes none.
    from judges.base import JudgeInput

BATTLES_A_CANARY = 10
"""Of an embedded judge, which reads no instructions; of an LLM each family of attack is planted once."""
CANDIDATES_A_CANARY = 20
"""Battles considered for each canary: some decline, or have an opponent without an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryResults:
    """How a round's canaries fared; pending ones count as planted alone."""

    report: AttackReport
    pending: int
    cost_usd: float | None
    outcomes: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """The field `canaries` of `arena rounds status --json`."""
        report = self.report
        return {
            "planted": report.planted,
            "judged": report.judged,
            "succeeded": report.succeeded,
            "success_rate": report.rate,
            "interval": self.interval,
            "pending": self.pending,
            "unjudged": dict(self.outcomes),
            "cost_usd": self.cost_usd,
            "by_family": {
                family: {"judged": judged, "succeeded": won}
                for family, (judged, won) in sorted(report.by_family.items())
            },
        }

    @property
    def interval(self) -> dict[str, float] | None:
        """Wilson's 95 % interval of the share that succeeded; None where none was judged."""
        report = self.report
        found = None if report.rate is None else wilson(report.rate, report.judged)
        return None if found is None else {"lower": found.lower, "upper": found.upper}

    def __str__(self) -> str:
        report = self.report
        if not report.planted:
            return "no canaries planted"
        unjudged = f", {report.unjudged} without a verdict" if report.unjudged else ""
        if report.rate is None:
            return f"unknown: none of {report.planted} canaries was judged"
        found = self.interval or {"lower": 0.0, "upper": 1.0}
        between = f"95 % interval {percent(found['lower'])} to {percent(found['upper'])}"
        counts = f"{report.succeeded} of {report.judged} canaries{unjudged}"
        return f"{percent(report.rate)} ({counts}; {between})"


def plant_canaries(store: Store, planned: PlannedRound) -> tuple[PlannedCanary, ...]:
    """The canaries of a planned round: as many as were asked for, of battles that its judge decides.

    LLM judges are attacked by instructions, the embedded judge by cheap tricks.
    """
    from judges.lexical.canaries import plant_tricks  # noqa: PLC0415 - loads judges, see above
    from judges.pairwise.canaries import plant, turn  # noqa: PLC0415 - as above

    count = canary_count(planned)
    if not count:
        return ()
    seed = planned.request.seed
    first = sorted(_open(planned), key=lambda battle: turn(battle.key, seed))[: CANDIDATES_A_CANARY * count]
    fitting = _decidable(planned, judge_inputs(store, planned, first))
    return tuple(
        PlannedCanary(
            key=canary.judge_input.battle_id,
            battle=canary.battle_id,
            family=canary.family,
            attacker=canary.attacker,
            text=canary.text,
        )
        for canary in (plant if _asks(planned) else plant_tricks)(fitting, count, seed=seed)
    )


def canary_count(planned: PlannedRound) -> int:
    """How many canaries a planned round gets, where that many of its battles fit."""
    from judges.lexical.tricks import families  # noqa: PLC0415 - as above
    from judges.pairwise.canaries import attacks  # noqa: PLC0415 - as above

    battles, asked = len(_open(planned)), planned.request.canaries
    if asked is not None:
        return min(asked, battles)
    if _asks(planned):
        return min(len(attacks()), battles)
    return min(len(families()), -(-battles // BATTLES_A_CANARY))


def _asks(planned: PlannedRound) -> bool:
    """Whether the judge of a planned round asks an LLM."""
    from judges.spec import leaves  # noqa: PLC0415 - as above

    return any(leaf.kind is JudgeKind.LLM for leaf in leaves(planned.spec))


def canary_results(canaries: Sequence[CanaryRecord]) -> CanaryResults:
    """Count what is stored of a round's canaries."""
    unjudged = [
        canary.outcome
        for canary in canaries
        if canary.outcome is not None and canary.outcome is not Outcome.JUDGED
    ]
    return CanaryResults(
        report=count_attacks(
            Attack(canary.family, canary.attacker, canary.preference) for canary in canaries
        ),
        pending=sum(canary.outcome is None for canary in canaries),
        cost_usd=_sum_known(canary.cost_usd for canary in canaries),
        outcomes={outcome.value: unjudged.count(outcome) for outcome in dict.fromkeys(unjudged)},
    )


def _sum_known(amounts: Iterable[float | None]) -> float | None:
    """Their sum; None where one is not known."""
    listed = list(amounts)
    known_amounts = [amount for amount in listed if amount is not None]
    return sum(known_amounts) if len(known_amounts) == len(listed) else None


def _open(planned: PlannedRound) -> list[PlannedBattle]:
    return [battle for battle in planned.plan.battles if battle.outcome is None]


def _decidable(planned: PlannedRound, inputs: Iterator[JudgeInput]) -> Iterator[JudgeInput]:
    from judges.pairwise.llm_judge import declined  # noqa: PLC0415 - as above
    from judges.spec import leaves  # noqa: PLC0415 - as above

    members = list(leaves(planned.spec))
    for judge_input in inputs:
        if not any(declined(leaf.ground_truth, judge_input) for leaf in members):
            yield judge_input
