"""What counts as a reply without an answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.no_answer import MAX_WORDS, is_no_answer

GOLDEN = Path(__file__).parents[1] / "golden" / "no_answer.jsonl"
EXAMPLES = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["text"][:40])
def test_replies_without_an_answer_are_told_from_answers(example: dict[str, object]) -> None:
    """Whatever its wording and wrappers, only a text that reports finding nothing is recognised."""
    assert is_no_answer(str(example["text"])) is example["no_answer"]


def test_a_long_text_is_an_answer() -> None:
    """The phrase at the head of a long text does not hide what follows."""
    assert not is_no_answer("I couldn't find an answer. " + "Please read on. " * MAX_WORDS)


@given(st.text(max_size=300))
def test_any_text_gets_a_decision(text: str) -> None:
    """No text makes the recogniser fail, and white space around it changes nothing."""
    assert is_no_answer(text) == is_no_answer(f"  {text}\n")


@pytest.mark.parametrize("text", ["a<" * 50_000, "thinking:" * 20_000, "in " * 80, "is not " * 40])
def test_hostile_text_is_decided_too(text: str) -> None:
    """Text made to slow a pattern down is decided all the same."""
    assert not is_no_answer(text)
