"""Reference coverage by an LLM over HTTP: one request an answer, and replies that cannot be used."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.arena.conftest import Commands

LINE = {
    "id": "q",
    "question": "What of the bridge?",
    "reference": "The iron bridge was opened in 1905. Two stone towers carry it. A ferry ran before.",
    "answer": "It was opened in 1905, the record says. There are towers.",
}
GOOD = {
    "f1": ("covered", "opened in 1905"),
    "f2": ("partly", "There are … towers."),
    "f3": ("missing", ""),
}


def replies(said: dict[str, tuple[str, str]], asked: dict[str, str]) -> dict[str, object]:
    """A reply that grades those of the asked facts that are named."""
    return {
        "facts": [
            {"fact": key, "state": state, "quote": quote}
            for key, (state, quote) in said.items()
            if key in asked
        ]
    }


def test_an_llm_is_asked_once_an_answer(
    arena_of: Commands, scripted_llm: Callable[..., Any], tmp_path: Path
) -> None:
    """All facts stand in one request, each grade with the answer's words; a refusal is not asked about."""
    server = scripted_llm()
    shown: list[dict[str, str]] = []

    def grade(ask: Any) -> object:  # noqa: ANN401 - the scripted server's own type
        shown.append(ask.identified("fact"))
        return replies(GOOD, shown[-1])

    server.handlers["grade_facts"] = grade
    path = tmp_path / "answers.jsonl"
    refusal = {**LINE, "id": "r", "answer": "I couldn't find an answer."}
    path.write_text("".join(json.dumps(one) + "\n" for one in (LINE, refusal)), encoding="utf-8")
    words = ("metrics", "score", path, "--metric", "reference-coverage", "--judge", "reference-free")
    found, refused = arena_of.lines(*words, endpoint=server.url)
    assert [list(one) for one in shown] == [["f1", "f2", "f3"]]
    assert found["score"] == pytest.approx(1 / (1 + 0.25 + 1))
    facts = found["details"]["facts"]
    assert [(fact["state"], fact["evidence"]) for fact in facts] == list(GOOD.values())
    assert (refused["outcome"], refused["score"]) == ("judged", 0)


@pytest.mark.parametrize(
    "bad",
    [
        {**GOOD, "f1": ("covered", "opened in 1950")},
        {key: GOOD[key] for key in ("f1", "f3")},
        {**GOOD, "f2": ("partly", "")},
    ],
    ids=["a quote that is not in the answer", "a fact left out", "no quote"],
)
@pytest.mark.parametrize("mends", [True, False])
def test_what_a_reply_leaves_undecided_is_asked_once_more(
    arena_of: Commands,
    scripted_llm: Callable[..., Any],
    tmp_path: Path,
    bad: dict[str, tuple[str, str]],
    mends: bool,
) -> None:
    """The facts in question alone are asked about again; what stays undecided leaves the answer unscored."""
    server = scripted_llm()
    shown: list[dict[str, str]] = []

    def grade(ask: Any) -> object:  # noqa: ANN401 - the scripted server's own type
        shown.append(ask.identified("fact"))
        return replies(GOOD if mends and len(shown) > 1 else bad, shown[-1])

    server.handlers["grade_facts"] = grade
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(LINE) + "\n", encoding="utf-8")
    words = ("metrics", "score", path, "--metric", "reference-coverage", "--judge", "reference-free")
    (found,) = arena_of.lines(*words, endpoint=server.url)
    assert [len(one) for one in shown] == [3, 1]
    if mends:
        assert found["score"] == pytest.approx(1 / (1 + 0.25 + 1))
    else:
        assert (found["outcome"], found["score"]) == ("unreadable", None)
        assert "1 of 3 facts" in found["details"]["reason"]


def test_a_reply_without_json_leaves_the_answer_unscored(
    arena_of: Commands, scripted_llm: Callable[..., Any], tmp_path: Path
) -> None:
    """A model that refuses to grade gives no zero."""
    server = scripted_llm()
    server.handlers["grade_facts"] = lambda _: "I cannot help with that."
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(LINE) + "\n", encoding="utf-8")
    words = ("metrics", "score", path, "--metric", "reference-coverage", "--judge", "reference-free")
    (found,) = arena_of.lines(*words, endpoint=server.url)
    assert found["score"] is None
    assert found["outcome"] in {"unreadable", "refused"}


def test_the_plan_names_one_request_an_answer(arena_of: Commands) -> None:
    """Requests, tokens and cost of the LLM version are foreseen."""
    words = ("--set", "tiny", "--judge", "reference-free", "--metric", "reference-coverage", "--json")
    (plan,) = arena_of.json("metrics", "plan", *words)
    assert plan["requests"] == pytest.approx(plan["pending"], abs=plan["pending"] / 2)
    assert 0 < plan["cost_usd"] < plan["cost_usd_most"]
    assert [task["task"] for task in plan["tasks"]] == ["grade_facts"]
