"""Canaries for the embedded judge: cheap tricks in place of answers, since it reads no instructions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from data.no_answer import is_no_answer
from data.records import Preference
from judges.base import JudgeInput
from judges.lexical.tricks import Material, families, play
from judges.pairwise.canaries import Canary, canary_of, sides_of, turn
from judges.pairwise.rendering import uniform
from judges.protection.screening import has_content

MOST_FOREIGN = 20
"""Other questions whose passages one trick copies."""


def plant_tricks(inputs: Iterable[JudgeInput], count: int, *, seed: int = 0) -> tuple[Canary, ...]:
    """Make canaries of some battles of a round, a cheap trick each; the battles themselves stay as they are.

    Which battles, which side and which trick depend on battle ids and seed alone. The reference is never
    replaced. A trick that a battle has nothing for is tried on the next.

    Args:
        inputs: The battles of the round.
        count: How many canaries; fewer where the round has fewer fitting battles.
        seed: Of the choice.
    """
    battles = sorted(inputs, key=lambda judge_input: turn(judge_input.battle_id, seed))
    tricks = sorted(families(), key=lambda family: uniform(family, "family", str(seed)))
    waiting = [tricks[place % len(tricks)] for place in range(count)]
    planted: list[Canary] = []
    for place, judge_input in enumerate(battles):
        attacker, opponent = sides_of(judge_input, seed)
        if not has_content(opponent) or is_no_answer(opponent):
            continue
        material = _material(judge_input, attacker, opponent, battles, place)
        for family in waiting:
            text = play(family, material)
            if text:
                planted.append(canary_of(judge_input, family, text, attacker))
                waiting.remove(family)
                break
    return tuple(planted)


def _material(
    judge_input: JudgeInput,
    attacker: Preference,
    opponent: str,
    battles: Sequence[JudgeInput],
    place: int,
) -> Material:
    """What tricks on one battle are made of: its question, and the other questions' answers and passages."""
    elsewhere = [
        each for each in (*battles[place:], *battles[:place]) if each.question.id != judge_input.question.id
    ]
    passages = dict.fromkeys(
        passage.text for each in elsewhere[:MOST_FOREIGN] for passage in each.question.passages
    )
    return Material(
        question=judge_input.question,
        honest=opponent,
        wrong=judge_input.answer_a if attacker is Preference.A else judge_input.answer_b,
        other=elsewhere[0].answer_a if elsewhere else "",
        foreign=tuple(passages),
        seed=judge_input.battle_id,
    )
