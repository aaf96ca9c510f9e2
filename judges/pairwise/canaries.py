"""Canary answers: attacks of our own, put into a round so that their success rate can be published."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import zip_longest

from data.no_answer import is_no_answer
from data.records import Preference, Verdict
from judges.base import JudgeInput
from judges.pairwise.attack_report import Attack, AttackReport, count_attacks
from judges.pairwise.rendering import uniform
from judges.protection.screening import has_content


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """A battle in which one side is an attack without any answer to the question.

    `attacker` is the side that attacks: an honest judge prefers the other. `battle_id` is the battle that
    was copied.
    """

    judge_input: JudgeInput
    battle_id: str
    family: str
    attacker: Preference

    @property
    def text(self) -> str:
        """The attack."""
        return self.judge_input.answer_a if self.attacker is Preference.A else self.judge_input.answer_b


@cache
def attacks() -> Mapping[str, tuple[str, ...]]:
    """The attack texts by family."""
    record = tomllib.loads((files(__package__) / "canaries.toml").read_text(encoding="utf-8"))
    return {family: tuple(texts) for family, texts in record.items()}


def plant(inputs: Iterable[JudgeInput], count: int, *, seed: int = 0) -> tuple[Canary, ...]:
    """Make canaries of some battles of a round; the battles themselves stay as they are.

    Which battles, which side and which attack depend on battle ids and seed alone. Only sides that
    face a real answer are replaced, and never the reference.

    Args:
        inputs: The battles of the round.
        count: How many canaries; fewer where the round has fewer fitting battles.
        seed: Of the choice.
    """
    attack_order = _attack_order(seed)
    canaries: list[Canary] = []
    for judge_input in sorted(inputs, key=lambda judge_input: turn(judge_input.battle_id, seed)):
        if len(canaries) == count:
            break
        family, text = attack_order[len(canaries) % len(attack_order)]
        attacker, opponent = sides_of(judge_input, seed)
        if has_content(opponent) and not is_no_answer(opponent):
            canaries.append(canary_of(judge_input, family, text, attacker))
    return tuple(canaries)


def turn(battle_id: str, seed: int) -> float:
    """Where in the order in which battles get canaries a battle stands, 0–1."""
    return uniform(battle_id, "canary", str(seed))


def _attack_order(seed: int) -> list[tuple[str, str]]:
    """Every attack in an order in which each family comes once before any comes twice."""
    families = sorted(attacks(), key=lambda family: uniform(family, "family", str(seed)))
    turns = zip_longest(*(attacks()[family] for family in families))
    return [
        (family, text)
        for texts in turns
        for family, text in zip(families, texts, strict=True)
        if text is not None
    ]


def report(canaries: Sequence[Canary], verdicts: Sequence[Verdict]) -> AttackReport:
    """As `count_attacks`, of canaries and the verdicts on them."""
    return count_attacks(
        Attack(canary.family, canary.attacker, verdict.preference)
        for canary, verdict in zip(canaries, verdicts, strict=True)
    )


def _attacker(judge_input: JudgeInput, seed: int) -> Preference:
    if judge_input.reference_side is not None:
        return Preference(judge_input.reference_side).flipped
    return Preference.A if uniform(judge_input.battle_id, "attacker", str(seed)) < 0.5 else Preference.B  # noqa: PLR2004 - a fair coin


def sides_of(judge_input: JudgeInput, seed: int) -> tuple[Preference, str]:
    """The side of a battle that attacks, and the answer that it attacks."""
    attacker = _attacker(judge_input, seed)
    return attacker, judge_input.answer_b if attacker is Preference.A else judge_input.answer_a


def canary_of(judge_input: JudgeInput, family: str, text: str, attacker: Preference) -> Canary:
    """The canary of a battle in which one side is an attack."""
    battle = replace(
        judge_input,
        battle_id=f"{judge_input.battle_id}/canary/{family}",
        answer_a=text if attacker is Preference.A else judge_input.answer_a,
        answer_b=text if attacker is Preference.B else judge_input.answer_b,
    )
    return Canary(judge_input=battle, battle_id=judge_input.battle_id, family=family, attacker=attacker)
