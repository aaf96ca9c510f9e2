"""What a retest is to ask: the request, the other wordings, and every call."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.services.rounds.models import entrants_of
from arena.services.rounds.pairing import Sample
from data.errors import InputError
from data.records import BattleRecord, OrderPolicy, Outcome, Round
from data.records.retests import ORIGINAL, NewRetest, PlannedCall, Wording
from data.store import Store
from judges.pairwise.prompt import load_prompt
from judges.spec import JudgeSpec, leaves

HASH_SHOWN = 8
NAME_SHOWN = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class RetestRequest:
    """What an organiser asks a retest to be.

    Attributes:
        battles: `N` or `P%` of the round's judged battles; None goes on with the last retest.
        wordings: Names or paths of other prompts.
        repeat: How often each request is asked.
        swap: Whether each battle is also asked in the other order.
        seed: Of the draw; None takes the round's.
        budget_usd: The most that the retest may spend.
        again: Whether to ask even where the same was asked today.
    """

    battles: str | None = None
    wordings: tuple[str, ...] = ()
    repeat: int = 1
    swap: bool = True
    seed: int | None = None
    budget_usd: float | None = None
    again: bool = False


def new_retest(round_: Round, spec: JudgeSpec, request: RetestRequest, judged: int) -> NewRetest:
    """What a request makes of a round of so many judged battles.

    Raises:
        InputError: It cannot be read, or there is no judged battle.
        SpecError: A prompt does not go with the judge.
    """
    sample = Sample.parse(request.battles)
    count = sample.number or max(1, round(judged * (sample.share or 0.0)))
    if not judged:
        raise InputError(f"Round {round_.name} has no judged battle.", advice="Judge it first.")
    return NewRetest(
        seed=round_.seed if request.seed is None else request.seed,
        battles=min(count, judged),
        repeat=request.repeat,
        swapped=request.swap and any(leaf.order is not OrderPolicy.BOTH for leaf in leaves(spec)),
        wordings=tuple(_wordings(spec, request.wordings)),
        budget_usd=request.budget_usd,
    )


def _wordings(spec: JudgeSpec, names: Sequence[str]) -> Iterator[Wording]:
    """The other prompts, each once, checked against the judge.

    Raises:
        SpecError: There is no such prompt, or it does not go with the judge.
        InputError: It is the round's own.
    """
    own = {leaf.prompt.hash for leaf in leaves(spec) if leaf.prompt is not None}
    for prompt in {
        prompt.hash: prompt for name in names for prompt in [load_prompt(name, beside=Path())]
    }.values():
        if prompt.hash in own:
            raise InputError(
                f"{prompt.name} is the prompt that the round was judged with.",
                advice="Name a prompt with other words; without --wording the same is asked again.",
            )
        spec.reworded(prompt)
        yield Wording(name=f"{prompt.name[:NAME_SHOWN]}@{prompt.hash[:HASH_SHOWN]}", text=prompt.text)


def planned_calls(
    label: str, new: NewRetest, battles: Sequence[BattleRecord], first: int
) -> Iterator[PlannedCall]:
    """Each battle of a sample, as often as it is asked: the same, in the other order, in other words."""
    variants = [(ORIGINAL, False)]
    variants += [(ORIGINAL, True)] if new.swapped else []
    variants += [(wording.name, False) for wording in new.wordings]
    for battle in battles:
        for wording, turned in variants:
            for repeat in range(first, first + new.repeat):
                key = call_key("retest", label, battle.id, wording, turned, repeat)
                yield PlannedCall(key=key, battle=battle.id, repeat=repeat, wording=wording, turned=turned)


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


def call_key(*parts: object) -> str:
    """The key of a call, from what tells it from every other."""
    return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()[:32]
