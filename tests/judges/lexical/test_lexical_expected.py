from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from data.files.question_sets.registry import load_set
from data.models import Preference
from judges.base import JudgeInput
from judges.catalogue import build_judge, load_spec

ROOT = Path(__file__).parents[3]
DEMO = ROOT / "data" / "sets" / "demo"


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.long
def test_judge_agrees_with_careful_readers_on_the_demo_set() -> None:
    """Of the 511 pairs whose winner was written down with the answers, 86 % and more are decided so.

    A tie counts as a miss.
    """
    questions = load_set(DEMO).questions
    answers = {
        file.stem: {row["question_id"]: row["answer"] for row in _rows(file)}
        for file in (DEMO / "answers").glob("*.jsonl")
    }
    answers["reference"] = {question.id: question.reference for question in questions.questions}
    judge = build_judge(load_spec("lexical"))

    async def agreements() -> list[bool]:
        found = []
        expected = ROOT / "tests" / "golden" / "demo_expected.jsonl"
        for row in _rows(expected):
            for winner, loser in row["pairs"]:
                judge_input = JudgeInput(
                    battle_id=f"{row['question_id']}-{winner}-{loser}",
                    question=questions.by_id[row["question_id"]],
                    answer_a=answers[winner][row["question_id"]],
                    answer_b=answers[loser][row["question_id"]],
                    reference_side={winner: "a", loser: "b"}.get("reference"),
                )
                found.append((await judge.judge(judge_input)).preference is Preference.A)
        return found

    found = asyncio.run(agreements())
    assert len(found) == 511
    assert sum(found) / len(found) >= 0.86
