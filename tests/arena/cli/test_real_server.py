"""End to end with a real model on a real server: answers, battles, a metric, a board."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.arena.conftest import TWO, Commands, write_answers, write_set
from tests.cases import cases
from tests.real_server import lacking, real_server

QUESTIONS = 1
JUDGE = """\
description = "A small model's view"
kind = "llm"
model = "smollm2"
prompt = "small.md"
max_tokens = 32
"""
PROMPT = cases(__file__, "PROMPT")
METRIC = "citation-support"


@pytest.fixture
def endpoint() -> Iterator[str]:
    """URL of the server."""
    if missing := lacking():
        pytest.skip(f"NO REAL SERVER: {missing} not installed (the extra `real`)")
    with real_server() as url:
        yield url


@pytest.mark.slow
def test_real_model_answers_and_judges_round(run: Commands, endpoint: str, tmp_path: Path) -> None:
    run.endpoint = endpoint
    folder = write_set(tmp_path)
    questions = folder / "questions.jsonl"
    questions.write_text("".join(questions.read_text().splitlines(keepends=True)[:QUESTIONS]))
    run.done("sets", "import", folder)
    ours = write_answers(tmp_path / "whole.jsonl", (TWO["whole"],), QUESTIONS)
    run.done("submissions", "add", ours, "--set", "tiny", "--system", "whole")

    theirs = tmp_path / "part.jsonl"
    cited = {"question_id": "q0", "answer": "It may be so [1].", "contexts": ["Item 0 is alpha."]}
    theirs.write_text(json.dumps(cited))
    run.done("submissions", "add", theirs, "--set", "tiny", "--system", "part")

    judge = tmp_path / "small-judge.toml"
    judge.write_text(JUDGE)
    (tmp_path / "small.md").write_text(PROMPT)
    done = run.json(
        "rounds", "run", "--set", "tiny", "--judge", judge, "--pairs", "all", "--name", "r",
        "--concurrency", 2, "--timeout", 60, "--go-on", "--json",
    )  # fmt: skip
    assert done["state"] == "finished", done
    ends = {name: done[name] for name in ("judged", "unreadable", "refused", "failed", "skipped")}
    assert sum(ends.values()) == done["planned"] == 3 * QUESTIONS, done
    assert (done["pending"], ends["failed"], ends["skipped"]) == (0, 0, 0)
    assert done["cost_usd"] == 0
    assert done["input_tokens"] > 0 < done["output_tokens"]

    battles = run.json("rounds", "status", "r", "--replies", 100, "--json")
    assert len(battles) == done["planned"]
    judgments = [judgment for battle in battles for judgment in battle["judgments"]]
    replies = [reply for judgment in judgments for reply in judgment["replies"]]
    assert len(replies) >= len(judgments) >= done["planned"]
    assert any(reply["text"].strip() for reply in replies)

    code, _, said = run("rounds", "publish", "r", "--partial")
    if ends["judged"]:
        assert code == 0, said
        systems = {
            row["system"] for row in run.json("leaderboard", "show", "r", "--json")["lines"]["overall"]
        }
        assert systems >= {"part", "whole"}
    else:
        assert code != 0
        assert "has no verdict" in said

    scored = run.json(
        "metrics", "run", "--set", "tiny", "--metric", METRIC, "--judge", judge, "--systems", "part", "--json"
    )
    assert scored["pending"] == 0
    assert sum(scored[name] for name in ("judged", "unreadable", "refused", "failed", "skipped")) == QUESTIONS
