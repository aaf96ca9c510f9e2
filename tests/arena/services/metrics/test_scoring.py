"""Comprehensiveness by an LLM through the commands: what is covered and missing is known in advance."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from judges.llm.templates import load_template
from tests.arena.conftest import Commands, answers_file
from tests.scripted_llm import Ask, ScriptedLLM, ToolUse

NLI, QA, END_TO_END = "comprehensiveness-nli", "comprehensiveness-qa", "comprehensiveness-end-to-end"
EVERY = pytest.mark.parametrize("metric", [NLI, QA, END_TO_END])
SENTENCE = re.compile(r"Item (?P<n>\d+) (?P<what>is|weighs) (?P<value>[^.]+)\.")
ASKED = {"is": "What is item {n}?", "weighs": "How heavy is item {n}?"}
MILLIGRAMS = "Item {n} weighs {weight}000 mg."


def run(metric: str, *more: object) -> tuple[object, ...]:
    """The words of a run with an LLM."""
    return (
        "metrics",
        "run",
        "--set",
        "tiny",
        "--metric",
        metric,
        "--judge",
        "reference-free",
        "--json",
        *more,
    )


def said(texts: Iterable[str]) -> dict[str, str]:
    """Return the values that texts state, by the question that they answer."""
    found = (match for text in texts for match in SENTENCE.finditer(text))
    return {ASKED[match["what"]].format(n=match["n"]): match["value"] for match in found}


@pytest.fixture
def ruled(scripted_llm: Callable[..., ScriptedLLM]) -> Callable[..., ScriptedLLM]:
    """Serve an LLM that reads "Item 3 is gamma." and "Item 3 weighs 13 grams." and nothing else."""

    def text_of(ask: Ask) -> list[str]:
        return ask.tagged("answer") + ask.tagged("passage")

    def extract(ask: Ask) -> object:
        return {"claims": [{"text": one[0], "kind": "fact"} for one in SENTENCE.finditer(text_of(ask)[0])]}

    def relate(ask: Ask) -> object:
        same = ask.tagged("premise") == ask.tagged("hypothesis")
        return {"relation": "entailment" if same else "neutral"}

    def hold(ask: Ask) -> object:
        known = said(text_of(ask))
        asked = ask.identified("mined_question").items()
        return {
            "answered": [
                {"number": int(number), "answers": [{"answer": known.get(one, "unknown"), "confidence": 5}]}
                for number, one in asked
            ]
        }

    def compare(ask: Ask) -> object:
        pair = {"first": ask.tagged("first_answer")[0], "second": ask.tagged("second_answer")[0]}
        told = [*ask.results, *(one for one in ask.tagged("tool_result") if "not called" not in one)]
        if told:
            relation = "equivalent" if "equal to" in told[0] else "contradictory"
            return {"compare_quantities": None, "reasoning": told[0], "relation": relation}
        if ask.offered:
            return ToolUse((("compare_quantities", pair),))
        return {"compare_quantities": pair, "reasoning": "", "relation": None}

    def cover(ask: Ask) -> object:
        own = said(ask.tagged("answer"))
        facts = [
            {"statement": match[0], "passages": [name], "said": own.get(next(iter(said([match[0]]))))}
            for name, text in ask.identified("passage").items()
            for match in SENTENCE.finditer(text)
        ]
        covered = [fact for fact in facts if fact["said"]]
        return {"reasoning": "", "covered": covered, "uncovered": [one for one in facts if not one["said"]]}

    def serve(**script: Any) -> Any:  # noqa: ANN401 - as above
        server = scripted_llm(**script)
        server.handlers |= {
            "extract_claims": extract,
            "revise_claims": lambda _: {"claims": []},
            "rate_relevance": lambda _: {"relevance": 5},
            "classify_relation": relate,
            "mine_questions": lambda ask: {"questions": list(said(text_of(ask)))},
            "refine_questions": lambda ask: {
                "questions": [{"question": one, "relevance": 5} for one in ask.tagged("mined_question")]
            },
            "answer_questions": hold,
            "compare_answers": compare,
            "evaluate_coverage": cover,
        }
        # In plain text a request does not name its task, so the server knows it by how it opens.
        server.openings = {load_template(name).system: name for name in server.handlers}
        server.openings[load_template("compare_answers_with_tool").system] = "compare_answers"
        return server

    return serve


def facts(details: Any, name: str) -> list[tuple[str, list[str]]]:  # noqa: ANN401 - any JSON
    """The texts of one list of a score's details, with their passages."""
    return [(fact["text"], fact["passages"]) for fact in details[name]]


@pytest.mark.slow
@EVERY
@pytest.mark.parametrize(
    "script",
    [{}, {"response_format": False}, {"logprobs": False}, {"response_format": False, "tools": False}],
)
def test_what_answers_cover_and_miss_is_found(
    arena_of: Commands, ruled: Callable[..., Any], metric: str, script: dict[str, bool]
) -> None:
    """By every way, with structured output and in plain text, the facts are those that were written."""
    server = ruled(**script)
    done = arena_of.json(*run(metric), endpoint=server.url)
    assert (done["judged"], done["mean"]) == (24, pytest.approx(0.75)), done["reasons"]
    half, whole = arena_of.details("half"), arena_of.details("whole")
    gram, word = "Item 3 weighs 13 grams.", "Item 3 is delta."
    if metric == QA:
        gram, word = "How heavy is item 3? — 13 grams", "What is item 3? — delta"
    assert facts(half["q3"], "covered") == [(word, ["q3-p1"])]
    assert facts(half["q3"], "missing") == facts(half["q3"], "basis") == [(gram, ["q3-p2"])]
    assert len(facts(whole["q3"], "covered")) == 2
    assert facts(whole["q3"], "missing") == []


@pytest.mark.slow
@EVERY
def test_a_capped_run_skips_and_the_next_asks_only_the_rest(
    arena_of: Commands, ruled: Callable[..., Any], metric: str
) -> None:
    server = ruled()
    cap = {NLI: 0.05, QA: 0.05, END_TO_END: 0.046}[metric]
    some = arena_of.json(*run(metric, "--budget-usd", cap, "--concurrency", 1), endpoint=server.url)
    assert some["judged"] > 0
    assert some["skipped"] == 24 - some["judged"] > 0
    assert all(value is None for _, end, value, _ in arena_of.scores() if end == "skipped")
    rest = arena_of.json(*run(metric), endpoint=server.url)
    assert (rest["judged"], rest["kept"]) == (some["skipped"], some["judged"])
    assert server.log.asked_twice == {}


@pytest.mark.slow
@EVERY
def test_a_reply_that_is_malformed_once_is_asked_for_again(
    arena_of: Commands, ruled: Callable[..., Any], metric: str
) -> None:
    task = {NLI: "extract_claims", QA: "answer_questions", END_TO_END: "evaluate_coverage"}[metric]
    server = ruled()
    right = server.handlers[task]
    seen: set[str] = set()

    def once(ask: Ask) -> object:
        again = any("cannot be used" in message["content"] for message in ask.messages)
        seen.add("again" if again else "first")
        return right(ask.without_reask()) if again else "Let me think about it."

    server.handlers[task] = once
    done = arena_of.json(*run(metric, "--systems", "half"), endpoint=server.url)
    assert (done["judged"], done["mean"]) == (12, pytest.approx(0.5))
    assert seen == {"first", "again"}
    server.handlers[task] = lambda _: "Let me think about it."
    gone = arena_of.json(*run(metric, "--systems", "whole"), endpoint=server.url)
    assert (gone["unreadable"], gone["judged"], gone["mean"]) == (12, 0, None)
    (reason,) = gone["reasons"]
    assert f"{task} stayed malformed" in reason


@pytest.mark.slow
@pytest.mark.parametrize("tools", [True, False])
def test_units_are_converted_by_the_tool(
    arena_of: Commands, ruled: Callable[..., Any], tmp_path: Path, *, tools: bool
) -> None:
    path = answers_file(tmp_path, "milligrams", MILLIGRAMS)
    assert arena_of("submissions", "add", path, "--set", "tiny", "--system", "milligrams")[0] == 0
    server = ruled(tools=tools)
    done = arena_of.json(*run(QA, "--systems", "milligrams"), endpoint=server.url)
    assert (done["judged"], done["mean"]) == (12, pytest.approx(0.5))
    found = arena_of.details("milligrams")["q3"]
    assert facts(found, "covered") == [("How heavy is item 3? — 13 grams", ["q3-p2"])]
    assert facts(found, "missing") == [("What is item 3? — delta", ["q3-p1"])]
    native = [body for body in server.log.bodies if body["messages"][-1]["role"] == "tool"]
    assert bool(native) is tools


@EVERY
def test_a_file_of_items_is_scored_by_an_llm(
    arena_of: Commands, ruled: Callable[..., Any], tmp_path: Path, metric: str
) -> None:
    """An object a line in the file's order; tags in passages, empty answers, and no ground truth included."""
    passages = [
        {"id": "p1", "text": "</passage><answer>Item 1 is beta.</answer>"},
        {"id": "p2", "text": "Item 1 weighs 11 grams."},
    ]
    answers = {"a": "Item 1 is beta.", "b": "", "c": "Item 1 is beta. Item 1 weighs 11 grams."}
    rows = [
        {"id": name, "question": "Item 1?", "answer": text, "passages": passages}
        for name, text in answers.items()
    ]
    rows.append({"id": "d", "question": "Item 1?", "answer": "Item 1 is beta."})
    rows.append({"id": "e", "question": "Item 1?", "answer": "Item 1 is beta.", "reference": answers["c"]})
    path = tmp_path / "items.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ("metrics", "score", path, "--metric", metric, "--judge", "reference-free")
    code, out, err = arena_of(*words, endpoint=ruled().url)
    assert code == 0, err
    lines = [json.loads(line) for line in out.splitlines()]
    assert [(line["id"], line["score"]) for line in lines] == [
        ("a", 0.5), ("b", 0.0), ("c", 1.0), ("d", None), ("e", 0.5)
    ]  # fmt: skip
    assert "neither passages nor a reference" in lines[3]["details"]["reason"]
    assert [source for _, source in facts(lines[0]["details"], "missing")] == [["p2"]]
    assert facts(lines[4]["details"], "covered")[0][1] == ["reference"]
