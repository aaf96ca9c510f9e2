"""Nuggets from a set's file to stored scores, and by an LLM over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.arena.conftest import Commands


def test_nuggets_of_a_set_are_scored_and_shown(arena_of: Commands, tmp_path: Path) -> None:
    """A set with nuggets is imported, the embedded metric run, and its scores shown."""
    exported = tmp_path / "nuggety"
    assert arena_of("sets", "export", "tiny", exported)[0] == 0
    path = exported / "questions.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    stated = [row["passages"][0]["text"].split(". ")[0].rstrip(".") + "." for row in rows]
    for row, text in zip(rows[1:], stated[1:], strict=True):
        missed = {"text": "Nine zebras sang loudly in Quito.", "importance": "okay"}
        row["nuggets"] = [{"text": text, "importance": "vital"}, missed]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert arena_of("sets", "import", exported, "--name", "nuggety")[0] == 0
    answers = tmp_path / "us.jsonl"
    lines = [{"question_id": row["id"], "answer": text} for row, text in zip(rows, stated, strict=True)]
    answers.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert arena_of("submissions", "add", answers, "--set", "nuggety", "--system", "us")[0] == 0
    words = ("--set", "nuggety", "--metric", "nuggets", "--systems", "us", "--json")
    done = arena_of.json("metrics", "run", *words)
    assert (done["judged"], done["unreadable"]) == (len(rows) - 1, 1), done
    row = arena_of.json("metrics", "show", *words)["rows"][0]
    assert row["score"]["mean"] == pytest.approx(1 / 1.5)
    assert (row["vital_strict"]["mean"], row["all"]["mean"], row["not_support"]["mean"]) == (1.0, 0.5, 1.0)
    judged = (
        "--set",
        "nuggety",
        "--judge",
        "lexical",
        "--pairs",
        "reference",
        "--name",
        "r",
        "--systems",
        "us",
    )
    assert arena_of("rounds", "run", *judged)[0] == 0
    assert arena_of("rounds", "publish", "r")[0] == 0
    board = arena_of.json("leaderboard", "show", "r", "--json")
    (line,) = [line for line in board["lines"]["overall"] if line["system"] == "us"]
    assert line["scores"]["nuggets"]["mean"] == pytest.approx(1 / 1.5)


def test_an_llm_grades_nuggets_ten_at_a_time(
    arena_of: Commands, scripted_llm: Callable[..., Any], tmp_path: Path
) -> None:
    """Twelve nuggets are two requests; what a reply leaves out or grades twice is undecided, in no score."""
    server = scripted_llm()
    shown: list[int] = []

    def assign(ask: Any) -> object:  # noqa: ANN401 - the scripted server's own type
        nuggets = ask.identified("nugget")
        shown.append(len(nuggets))
        said = [
            {"nugget": key, "assignment": grade}
            for key, text in nuggets.items()
            for grade in ("support", "partial_support", "not_support")
            if grade in text.split()
        ]
        return {"assigned": said}

    server.handlers["assign_nuggets"] = assign
    nuggets: list[object] = [f"{number} support" for number in range(8)]
    nuggets += ["a partial_support", "a support not_support", "a not_support", "left out"]
    nuggets += [{"text": "okay support", "importance": "okay"}]
    line = {"id": "q", "question": "What?", "answer": "It is so.", "nuggets": nuggets}
    path = tmp_path / "answers.jsonl"
    refusal = {**line, "id": "r", "answer": "I couldn't find an answer."}
    path.write_text("".join(json.dumps(one) + "\n" for one in (line, refusal)), encoding="utf-8")
    words = ("metrics", "score", path, "--metric", "nuggets", "--judge", "reference-free")
    found, refused = arena_of.lines(*words, endpoint=server.url)
    assert sorted(shown) == [3, 10]
    counts = found["details"]["counts"]
    assert (counts["support"], counts["partial_support"], counts["not_support"]) == (9, 1, 1)
    assert (counts["undecided"], counts["vital"], counts["okay"]) == (2, 12, 1)
    assert found["score"] == pytest.approx((8 + 0.5 + 0.5) / (10 + 0.5))
    assert found["details"]["vital_strict"] == pytest.approx(8 / 10)
    assert (refused["outcome"], refused["score"]) == ("judged", 0)
