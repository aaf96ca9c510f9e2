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


def test_answers_of_trecs_rag_track_are_taken_and_scored(arena_of: Commands, tmp_path: Path) -> None:
    """A file of the track is accepted as it is; its citations are scored, and uncited sentences counted."""
    exported = tmp_path / "exported"
    assert arena_of("sets", "export", "tiny", exported)[0] == 0
    questions = [json.loads(line) for line in (exported / "questions.jsonl").read_text().splitlines()]
    rows = [
        {
            "run_id": "us",
            "topic_id": question["id"],
            "references": [passage["id"] for passage in question["passages"]],
            "answer": [
                {"text": question["passages"][0]["text"].split(". ")[0].rstrip(".") + ".", "citations": [0]},
                {"text": "Nobody knows more.", "citations": []},
            ],
        }
        for question in questions
    ]
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert arena_of("submissions", "add", path, "--set", "tiny", "--system", "us")[0] == 0
    metric = ("--set", "tiny", "--metric", "citation-support", "--systems", "us", "--json")
    done = arena_of.json("metrics", "run", *metric)
    assert done["judged"] == len(rows), done
    row = arena_of.json("metrics", "show", *metric)["rows"][0]
    assert (row["precision"]["mean"], row["recall"]["mean"], row["uncited"]["mean"]) == (1.0, 0.5, 1.0)


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
