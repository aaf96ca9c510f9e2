"""Control battles: some battles of a judge's first round on a set, which its later rounds ask again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.services.rounds.models import PlannedRound, entrants_of
from data.records import BattleRecord, Outcome, Round, RoundState
from data.records.retests import AskingRecord, PlannedAsking, PlannedControls
from data.store import Store

MOST_CONTROLS = 20
"""Control battles that a round asks where nobody says how many."""
POOL = 50
"""Control battles that a set keeps of a judge."""
BATTLES_A_CONTROL = 10
COMPLETE = (RoundState.FINISHED, RoundState.PUBLISHED)


def plan_controls(store: Store, planned: PlannedRound, name: str = "") -> PlannedControls | None:
    """The control battles that a planned round will ask; None where there are none.

    The set's own of this judge where it has some, else a draw from its first complete round.

    Args:
        store: Where earlier rounds are.
        planned: The round.
        name: Its name, so that no two rounds share a reply.
    """
    count = _wanted(planned)
    if not count:
        return None
    judge = judge_identity(planned.spec.name, planned.spec.canonical)
    pool = store.controls.pool(planned.summary.id, judge)
    drawn = () if pool else tuple(battle.id for battle in _draw_pool(store, planned, judge))
    chosen = (pool or drawn)[:count]
    if not chosen:
        return None
    askings = tuple(
        PlannedAsking(key=asking_key("control", name, battle), battle=battle) for battle in chosen
    )
    return PlannedControls(judge=judge, pool=drawn, askings=askings)


def _wanted(planned: PlannedRound) -> int:
    """How many control battles a round is to ask; an embedded judge says the same every time."""
    if not planned.spec.asks_llm:
        return 0
    battles = sum(battle.outcome is None for battle in planned.plan.battles)
    asked = planned.request.controls
    return min(MOST_CONTROLS, battles // BATTLES_A_CONTROL) if asked is None else min(asked, battles)


def judge_identity(name: str, canonical: Mapping[str, Any]) -> str:
    """Names a judge by its spec's name, its order and its prompts, whatever model answers to them."""
    material = json.dumps([name, canonical["order"], list(_prompts(canonical))])
    return hashlib.sha256(material.encode()).hexdigest()


def rounds_of_judge(store: Store, round_: Round) -> tuple[Round, ...]:
    """The rounds of a round's judge on the same version of its set, itself included, oldest first."""
    judge, content = judge_identity(round_.judge_name, round_.judge), round_.plan["set_hash"]
    return tuple(_rounds(store, round_.set_name, content, judge))


def _rounds(store: Store, set_name: str, content: str, judge: str) -> Iterator[Round]:
    for round_ in reversed(store.rounds.all()):
        if round_.set_name != set_name or round_.plan.get("set_hash") != content:
            continue
        if judge_identity(round_.judge_name, round_.judge) == judge:
            yield round_


def _prompts(canonical: Mapping[str, Any]) -> Iterator[str]:
    """The hashes of the prompts of a judge, a panel's members in their order."""
    yield str(canonical.get("prompt") or canonical["kind"])
    for member in canonical.get("members") or ():
        yield from _prompts(member)


def _draw_pool(store: Store, planned: PlannedRound, judge: str) -> Sequence[BattleRecord]:
    known = _rounds(store, planned.summary.name, planned.summary.content_hash, judge)
    first = next((round_ for round_ in known if round_.state in COMPLETE), None)
    return () if first is None else draw_battles(judged_battles(store, first), POOL, seed=first.seed)


def judged_battles(store: Store, round_: Round) -> list[BattleRecord]:
    """The judged battles of a round whose answers nobody withdrew."""
    withdrawn = {entrant.system for entrant in entrants_of(store, round_) if entrant.withdrawn_at}
    return [
        battle
        for battle in store.verdicts.battles(round_.name)
        if battle.outcome is Outcome.JUDGED and not {battle.system_a, battle.system_b} & withdrawn
    ]


def draw_battles(battles: Sequence[BattleRecord], count: int, *, seed: int) -> list[BattleRecord]:
    """Draw battles so that every domain and every pair of systems has its share.

    They are put in order of domain, pair and chance, and every N/n-th is taken from a random start on, so
    that each has the same chance. The draw is in an order of its own: any first part of it is one too.

    Source: Cochran (1977), section 8.1, systematic sampling with implicit strata.
    """
    ordered = sorted(battles, key=lambda battle: (*_stratum(battle), _chance(seed, battle.key)))
    size = min(count, len(ordered))
    start = _chance(seed, "start")
    places = (int((place + start) * len(ordered) / size) for place in range(size))
    return sorted(
        (ordered[place] for place in places), key=lambda battle: _chance(seed, f"turn {battle.key}")
    )


def _stratum(battle: BattleRecord) -> tuple[str, str, str]:
    first, second = sorted((battle.system_a, battle.system_b))
    return battle.domain, first, second


def _chance(seed: int, text: str) -> float:
    digest = hashlib.sha256(f"{seed}\x1f{text}".encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56


def asking_key(*parts: object) -> str:
    """The key of an asking, from what tells it from every other."""
    return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlResults:
    """What became of a round's control battles; pending ones count as planted alone."""

    planted: int
    judged: int
    changed: int
    pending: int
    cost_usd: float | None
    unjudged: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """The field `controls` of `arena rounds status --json`."""
        return {
            "planted": self.planted,
            "judged": self.judged,
            "changed": self.changed,
            "pending": self.pending,
            "unjudged": dict(self.unjudged),
            "cost_usd": self.cost_usd,
        }

    def __str__(self) -> str:
        if not self.planted:
            return "none"
        others = "".join(f", {count} {outcome}" for outcome, count in self.unjudged.items())
        pending = f", {self.pending} pending" if self.pending else ""
        return f"{self.changed} of {self.judged} changed their verdict{others}{pending}"


def control_results(records: Iterable[AskingRecord]) -> ControlResults:
    """Count what is stored of a round's control battles."""
    listed = tuple(records)
    before = {record.battle: record.preference for record in listed if not record.repeat}
    asked = [record for record in listed if record.repeat]
    ended = [record.outcome for record in asked if record.outcome is not None]
    costs = [record.cost_usd for record in asked]
    known = [cost for cost in costs if cost is not None]
    judged = [record for record in asked if record.preference is not None]
    return ControlResults(
        planted=len(asked),
        judged=len(judged),
        changed=sum(record.preference is not before[record.battle] for record in judged),
        pending=len(asked) - len(ended),
        cost_usd=sum(known) if len(known) == len(costs) else None,
        unjudged={
            outcome.value: ended.count(outcome)
            for outcome in Outcome
            if outcome is not Outcome.JUDGED and outcome in ended
        },
    )
