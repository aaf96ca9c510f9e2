"""What a retest is to ask: the request, the other wordings, and every asking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.services.rounds.controls import asking_key
from arena.services.rounds.pairing import Sample
from data.errors import InputError
from data.records import BattleRecord, OrderPolicy, Round
from data.records.retests import ORIGINAL, NewRetest, PlannedAsking, Wording
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


def planned_askings(
    label: str, new: NewRetest, battles: Sequence[BattleRecord], first: int
) -> Iterator[PlannedAsking]:
    """Each battle of a sample, as often as it is asked: the same, in the other order, in other words."""
    variants = [(ORIGINAL, False)]
    variants += [(ORIGINAL, True)] if new.swapped else []
    variants += [(wording.name, False) for wording in new.wordings]
    for battle in battles:
        for wording, turned in variants:
            for repeat in range(first, first + new.repeat):
                key = asking_key("retest", label, battle.id, wording, turned, repeat)
                yield PlannedAsking(key=key, battle=battle.id, repeat=repeat, wording=wording, turned=turned)
