"""The reasons of a lost battle as its team reads them."""

from __future__ import annotations

import json

import pytest

from arena.services.evidence.team_report import LONGEST, readable


def _side(coverage: float, missed: list[str], contradicted: list[str]) -> dict[str, object]:
    return {
        "coverage": coverage,
        "padding": 0.0,
        "counts": {"covered": 0, "missed": len(missed), "contradicted": len(contradicted)},
        "covered": [],
        "missed": [{"text": text, "passage": "p"} for text in missed[:8]],
        "contradicted": [{"text": text, "answer": "no"} for text in contradicted],
    }


def test_json_of_the_embedded_judge_becomes_words() -> None:
    """Each side reads of its own answer: what it covers, misses and contradicts."""
    a = _side(0.25, [f"Fact {n}." for n in range(9)], [])
    found = json.dumps({"yardstick": "passages", "a": a, "b": _side(0.75, [], ["It is blue."])})
    told = readable(found, side="a")
    assert told.startswith(
        "Held against the passages, your answer covers 25 % of the facts, the other answer 75 %."
    )
    assert "It misses 9, among them:\n– Fact 0." in told
    assert "blue" not in told
    assert "It contradicts 1:\n✗ It is blue." in readable(found, side="b")


@pytest.mark.parametrize("text", ["The first is better.", '{"yardstick": 1}', "[1]", "{", "7", ""])
def test_anything_else_is_shown_as_it_is(text: str) -> None:
    """Prose, and JSON of another shape, is left alone."""
    assert readable(text, side="a") == text


def test_long_reasons_are_cut_where_it_shows() -> None:
    """A cut text ends with an ellipsis."""
    assert readable("x" * 5_000, side="b") == "x" * (LONGEST - 1) + "…"


def test_an_answer_without_words_is_told_so() -> None:
    """A side that says nothing has a sentence instead of counts."""
    found = json.dumps({"yardstick": "passages", "a": "no answer", "b": _side(0.5, [], [])})
    assert readable(found, side="a") == "Your answer: no answer"
    assert "covers 50 % of the facts." in readable(found, side="b")
