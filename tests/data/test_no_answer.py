from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.no_answer import MAX_WORDS, is_no_answer
from judges.lexical import judge
from judges.metrics import shortening
from submissions import answer_warnings

SHARED = Path(__file__).parents[2] / "../shared/data"
SILENT = 11
DENYING = re.compile(r"\b(?:no|not|none|nothing|cannot|unable)\b|n['\u2019]t")
GOLDEN = Path(__file__).parents[1] / "golden" / "no_answer.jsonl"
EXAMPLES = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["text"][:40])
def test_replies_without_an_answer_are_told_from_answers(example: dict[str, object]) -> None:
    assert is_no_answer(str(example["text"])) is example["no_answer"]


def test_a_long_text_is_an_answer() -> None:
    assert not is_no_answer("I couldn't find an answer. " + "Please read on. " * MAX_WORDS)


@given(st.text(max_size=300))
def test_any_text_gets_a_decision(text: str) -> None:
    assert is_no_answer(text) == is_no_answer(f"  {text}\n")


@pytest.mark.parametrize("text", ["a<" * 50_000, "thinking:" * 20_000, "in " * 80, "is not " * 40])
def test_hostile_text_is_decided_too(text: str) -> None:
    assert not is_no_answer(text)


def test_no_human_written_reference_is_silence() -> None:
    files = sorted((SHARED / "lfrqa").glob("annotations_*.jsonl"))
    if not files:
        pytest.skip(f"no real answers at {SHARED}")
    answers = [
        json.loads(line)["answer"] for file in files for line in file.read_text(encoding="utf-8").splitlines()
    ]
    answers = [answer for answer in answers if answer.strip()]
    assert sum(bool(DENYING.search(answer)) for answer in answers) > len(answers) / 4
    assert [answer for answer in answers if is_no_answer(answer)] == []


def test_answers_of_real_systems_are_told_apart() -> None:
    files = sorted((SHARED / "rag_answers/answers").glob("*.jsonl"))
    if not files:
        pytest.skip(f"no real answers at {SHARED}")
    answers = [
        json.loads(line)["answer"] for file in files for line in file.read_text(encoding="utf-8").splitlines()
    ]
    assert sum(map(is_no_answer, answers)) == SILENT


def test_judge_metrics_and_board_ask_one_function() -> None:
    for module in (judge, shortening, answer_warnings):
        assert "from data.no_answer import is_no_answer" in inspect.getsource(module)
