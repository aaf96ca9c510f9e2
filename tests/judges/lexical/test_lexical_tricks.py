from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import pytest

from data.files.question_sets.registry import load_set
from data.models import Preference, QuestionSet
from judges.base import JudgeInput
from judges.catalogue import build_judge, load_spec
from judges.lexical import LexicalJudge
from tests.cheap_tricks import DAMAGED, MADE, Material, families, play

DEMO = Path(__file__).parents[3] / "data" / "sets" / "demo"
BEST = "meridian"
WORST = "slipshod"
MOST = 0.05
FURTHER = 7
"""Number of questions between an answer and the question that it is given to."""


@lru_cache(maxsize=1)
def _demo() -> tuple[QuestionSet, Mapping[str, Mapping[str, str]]]:
    files = (DEMO / "answers").glob("*.jsonl")
    rows = {file.stem: map(json.loads, file.read_text(encoding="utf-8").splitlines()) for file in files}
    answers = {name: {row["question_id"]: row["answer"] for row in found} for name, found in rows.items()}
    return load_set(DEMO).questions, answers


@lru_cache(maxsize=1)
def _judge() -> LexicalJudge:
    judge = build_judge(load_spec("lexical"))
    assert isinstance(judge, LexicalJudge)
    return judge


def _wins(number: int, text: str, opponent: str, *, reference: bool = False) -> bool:
    judge_input = JudgeInput(
        battle_id="x",
        question=_demo()[0].questions[number],
        answer_a=text,
        answer_b=opponent,
        reference_side="b" if reference else None,
    )
    return _judge().settle(judge_input).preference is Preference.A


@pytest.mark.long
@pytest.mark.parametrize("family", families())
def test_no_cheap_trick_beats_what_it_is_held_against(family: str) -> None:
    questions, answers = _demo()
    against_best = against_reference = honest = 0
    for number, question in enumerate(questions.questions):
        following = questions.questions[(number + FURTHER) % len(questions.questions)]
        best = answers[BEST][question.id]
        material = Material(
            question=question,
            honest=best,
            wrong=answers[WORST][question.id],
            other=answers[BEST][following.id],
            foreign=tuple(passage.text for other in questions.questions[:8] for passage in other.passages),
            seed=question.id,
        )
        text = play(family, material)
        if text:
            reference = str(question.reference)
            against_best += _wins(number, text, best)
            against_reference += _wins(number, text, reference, reference=True)
            honest += _wins(number, best, reference, reference=True)
    most = MOST * len(questions.questions)
    assert family in {*MADE, *DAMAGED}
    assert against_best <= most
    assert against_reference <= (honest if family in DAMAGED else most)


@pytest.mark.parametrize(("weaker", "least"), [("rambler", 52), ("hesitant", 52), ("slipshod", 52)])
def test_the_best_demo_system_beats_weaker_ones(weaker: str, least: int) -> None:
    questions, answers = _demo()
    wins = sum(
        _wins(number, answers[BEST][question.id], answers[weaker][question.id])
        for number, question in enumerate(questions.questions)
    )
    assert wins >= least


def test_the_reference_beats_answers_with_planted_errors() -> None:
    questions, answers = _demo()
    losses = sum(
        _wins(number, answers[WORST][question.id], str(question.reference), reference=True)
        for number, question in enumerate(questions.questions)
    )
    assert losses <= 56 // 3
