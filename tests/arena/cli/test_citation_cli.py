"""Citation support by an LLM, over HTTP, through `arena metrics score`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.arena.conftest import Commands

LINE = {
    "id": "q",
    "question": "When?",
    "answer": "It opened in 1905 [1]. It closed in 1950 [1][2]. It is red [2].",
    "passages": [{"id": "p1", "text": "Opened 1905."}, {"id": "p2", "text": "Closed 1950, half."}],
}


def test_an_llm_grades_each_citation_by_itself(
    arena_of: Commands, scripted_llm: Callable[..., Any], tmp_path: Path
) -> None:
    """Partial support counts half; a reply that stays malformed leaves its citation undecided, counted."""
    server = scripted_llm()

    def rate(ask: Any) -> object:  # noqa: ANN401 - the scripted server's own type
        if not ask.tagged("sentence") or "red" in ask.tagged("sentence")[0]:
            return "I would rather not say."
        (sentence,), (passage,) = ask.tagged("sentence"), ask.tagged("passage")
        year = sentence.rstrip(".").split()[-1]
        return {"support": ("partial" if "half" in passage else "full") if year in passage else "none"}

    server.handlers["rate_support"] = rate
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(LINE) + "\n", encoding="utf-8")
    words = ("metrics", "score", path, "--metric", "citation-support", "--judge", "reference-free")
    (line,) = arena_of.lines(*words, endpoint=server.url)
    details = line["details"]
    assert line["outcome"] == "judged", details
    assert details["precision"] == pytest.approx((1 + 0 + 0.5) / 3)
    assert details["recall"] == pytest.approx((1 + 0.5) / 2)
    assert (details["counts"]["undecided"], details["counts"]["partial"]) == (1, 1)
    assert line["score"] == pytest.approx(0.6)
