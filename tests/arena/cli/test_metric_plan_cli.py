"""`arena metrics plan`, and what `metrics run` says before it pays."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judges.metrics.registry import metrics
from tests.arena.cli.test_metrics_cli import serve_rules
from tests.arena.conftest import Commands

NLI = "comprehensiveness-nli"
WORDS = ("--set", "tiny", "--judge", "reference-free")


@pytest.mark.long
@pytest.mark.parametrize("metric", [NLI, "factuality-fr1", "factuality-fr2"])
def test_a_plan_foresees_what_a_run_asks(
    arena_of: Commands, scripted_llm: Callable[..., Any], metric: str
) -> None:
    """If an LLM finds a claim a sentence, all relevant, requests and input tokens come as planned."""
    server = serve_rules(scripted_llm())
    words = (*WORDS, "--metric", metric)
    (plan,) = arena_of.json(
        "metrics", "plan", *words, "--claims-per-sentence", 1, "--json", endpoint=server.url
    )
    assert server.log.calls == 0
    done = arena_of.json("metrics", "run", *words, "--json", endpoint=server.url)
    assert (plan["answers"], plan["pending"]) == (24, 24)
    assert plan["requests"] == pytest.approx(done["calls"], rel=0.1)
    assert plan["requests"] == pytest.approx(sum(task["requests"] for task in plan["tasks"]), abs=1)
    assert 0 < plan["cost_usd"] < plan["cost_usd_most"]
    (again,) = arena_of.json("metrics", "plan", *words, "--json", endpoint=server.url)
    assert again["pending"] == 24 - done["judged"] - done["unreadable"]


def test_every_metric_by_an_llm_can_be_planned_and_an_embedded_one_costs_nothing(arena_of: Commands) -> None:
    """No task of a metric of answers is without a stand-in; the embedded versions ask nothing."""
    planned = arena_of.json("metrics", "plan", *WORDS, "--json")
    assert [plan["metric"] for plan in planned] == [
        info.name for info in metrics() if not info.takes_judgments
    ]
    needless = {"coverage-icat-s", "context-crux", "answer-crux", "citation-support", "nuggets"}
    assert all(plan["requests"] > 0 for plan in planned if plan["metric"] not in needless)
    embedded = arena_of.json("metrics", "plan", "--set", "tiny", "--json")
    assert {(plan["requests"], plan["cost_usd"], plan["model"]) for plan in embedded} == {(0, 0.0, None)}


def test_a_plan_and_a_run_say_that_passages_are_cut(
    arena_of: Commands, scripted_llm: Callable[..., Any], tmp_path: Path
) -> None:
    server = serve_rules(scripted_llm())
    folder = tmp_path / "out"
    assert arena_of("sets", "export", "tiny", folder)[0] == 0
    path = folder / "questions.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows[:6]:
        row["passages"][0]["text"] += " It has stood there for a long while now." * 100
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert arena_of("sets", "import", folder, "--name", "long")[0] == 0
    answers = tmp_path / "a.jsonl"
    answers.write_text(
        "".join(json.dumps({"question_id": row["id"], "answer": "It is red."}) + "\n" for row in rows),
        encoding="utf-8",
    )
    assert arena_of("submissions", "add", answers, "--set", "long", "--system", "s")[0] == 0
    words = ("--set", "long", "--judge", "reference-free", "--metric", NLI)
    (plan,) = arena_of.json("metrics", "plan", *words, "--json", endpoint=server.url)
    assert plan["cut"] == 6
    assert "About 6 answers have passages of more than 700 words" in plan["warnings"][0]
    done = arena_of.json("metrics", "run", *words, "--json", endpoint=server.url)
    assert list(done["notes"].values()) == [6]
    whole = arena_of.json("metrics", "plan", *words, "--option", "longest_passage=2000", "--json")
    assert whole[0]["cut"] == 0


def test_a_run_says_what_it_takes_and_fr3_warns_with_its_number(
    arena_of: Commands, scripted_llm: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line of the plan stands before the run; FR3 names the requests that one answer takes."""
    server = serve_rules(scripted_llm())
    monkeypatch.setattr("judges.metrics.factuality.MANY_RELATIONS", 2)
    words = ("run", *WORDS, "--metric", "factuality-fr3", "--budget-usd", 0)
    _, _, said = arena_of("metrics", *words, endpoint=server.url)
    assert "factuality-fr3 of tiny by gpt-4.1: 24 answers, about " in said
    assert "requests for one answer. factuality-fr2 does without " in said
