"""Answers that an LLM writes: passages, prompts, thinking, budgets and cards."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from data.no_answer import is_no_answer
from tests.scripted_llm import Ask, ScriptedLLM

Commands = Any  # what the fixture `run` of tests/arena/conftest.py gives
SILENT = "I couldn't find an answer."


@pytest.fixture
def stocked(run: Commands, set_folder: Path) -> Commands:
    """Commands over a database with the small set."""
    assert run("sets", "import", set_folder)[0] == 0
    return run


@pytest.fixture
def llm(scripted_llm: Callable[..., ScriptedLLM]) -> ScriptedLLM:
    """An endpoint that answers at length, and finds nothing on item 3 after it had found it."""
    server = scripted_llm()
    server.text_handler = lambda ask: (
        f"<think>Item 3 is delta and weighs 13 grams.</think>{SILENT}"
        if "item 3" in ask.text
        else f"<thinking>Both passages help.</thinking><answer>Scripted {ask.digest[:6]}.</answer>"
    )
    return server


def generate(run: Commands, llm: ScriptedLLM, out: Path, *words: object) -> Any:  # noqa: ANN401 - any JSON
    """Generate with two passages."""
    fixed = ("answers", "generate", "--set", "tiny", "--model", "gpt-4o", "--passages", 2, "--out", out)
    return run.json(*fixed, *words, "--json", endpoint=llm.url)


def rows_of(path: Path) -> dict[str, dict[str, Any]]:
    """The rows of a file of answers by question."""
    return {row["question_id"]: row for row in map(json.loads, path.read_text().splitlines())}


def test_more_passages_than_there_are_is_an_error(
    stocked: Commands, llm: ScriptedLLM, tmp_path: Path
) -> None:
    """E10: where no question has as many passages as are asked for, nothing is asked and exit is 1."""
    words = ("answers", "generate", "--set", "tiny", "--model", "gpt-4o", "--out", tmp_path / "made.jsonl")
    code, _, err = stocked(*words, "--passages", 3, endpoint=llm.url)
    assert (code, llm.log.calls) == (1, 0)
    assert "3 passages are asked for, and no question of tiny has more than 2" in err
    assert stocked(*words, "--passages", 2, endpoint=llm.url)[0] == 0


def test_thinking_is_kept_apart_and_never_judged(stocked: Commands, llm: ScriptedLLM, tmp_path: Path) -> None:
    """Tags and providers' `reasoning_content` become `thinking`, which neither answers nor judges see."""
    llm.reasoning = lambda ask: f"Considering {ask.digest[:4]}."
    out = tmp_path / "made.jsonl"
    made = generate(stocked, llm, out)
    rows = rows_of(out)
    assert made["with_thinking"] == 12
    assert all("think" not in row["answer"] for row in rows.values())
    assert rows["q0"]["thinking"].startswith("Considering ")
    assert rows["q0"]["thinking"].endswith("Both passages help.")
    added = stocked.json("submissions", "add", out, "--set", "tiny", "--system", "made", "--json")
    assert not [one for one in added["problems"] if one["code"] == "unknown-field"]
    llm.reset()
    judging = (
        "rounds",
        "run",
        "--set",
        "tiny",
        "--judge",
        "reference-free",
        "--canaries",
        0,
        "--no-cap",
        "--json",
    )
    stocked.json(*judging, "--pairs", "reference", endpoint=llm.url)
    judged = [json.dumps(body) for body in llm.log.bodies]
    assert judged
    assert not any("Both passages help" in body or "Considering" in body for body in judged)


def test_an_answer_found_and_then_withheld_is_reported(
    stocked: Commands, llm: ScriptedLLM, tmp_path: Path
) -> None:
    """Figures 8 and 9: "no answer" after thinking that states one is counted and shown with its evidence."""
    out = tmp_path / "made.jsonl"
    made = generate(stocked, llm, out)
    assert made["no_answer_after_finding"] == ["q3"]
    told = stocked.json("answers", "false-refusals", out, "--set", "tiny", "--json")
    assert (told["no_answers"], told["found_in_thinking"], told["with_thinking"]) == (1, 1, 1)
    assert told["examples"][0]["in_reference"] == 1.0
    paper = tmp_path / "paper.jsonl"
    replies = {
        "q0": f"<thinking> Item 0 is alpha and weighs 10 grams. </thinking> <answer> {SILENT} </answer>",
        "q1": f"<thinking>The passages do not mention it.</thinking> {SILENT}",
        "q2": SILENT,
        "q4": "<thinking>Item 4 is epsilon.</thinking> Epsilon.",
    }
    paper.write_text(
        "".join(json.dumps({"question_id": key, "answer": text}) + "\n" for key, text in replies.items())
    )
    told = stocked.json("answers", "false-refusals", paper, "--set", "tiny", "--json")
    assert [told[name] for name in ("answers", "no_answers", "with_thinking", "found_in_thinking")] == [
        4,
        3,
        2,
        1,
    ]
    assert [example["question_id"] for example in told["examples"]] == ["q0"]
    assert is_no_answer(SILENT)


def test_the_cap_holds_over_runs_and_the_rest_follows(
    stocked: Commands, llm: ScriptedLLM, tmp_path: Path
) -> None:
    """All runs of one command together spend no more than its cap; with a higher one the rest is asked."""
    out = tmp_path / "made.jsonl"
    full = generate(stocked, llm, tmp_path / "all.jsonl", "--max-tokens", 200)
    cap = full["cost_usd"] / 2 + 0.002  # room for what a call may cost at most
    llm.reset()
    words = ("--max-tokens", 201, "--concurrency", 1, "--budget-usd")
    first = generate(stocked, llm, out, *words, cap)
    assert 0 < first["outcomes"]["answered"] < 12
    assert first["outcomes"]["answered"] + first["outcomes"]["skipped"] == 12
    assert first["cost_usd"] <= cap
    again = generate(stocked, llm, out, *words, cap)
    assert again["paid_before_usd"] == pytest.approx(first["cost_usd"])
    assert again["paid_before_usd"] + again["cost_usd"] <= cap
    last = generate(stocked, llm, out, *words, 1.0)
    assert last["outcomes"] == {"answered": 12}
    assert llm.log.calls == 12
    assert len(rows_of(out)) == 12


def _import_passages(stocked: Commands, set_folder: Path, folder: Path) -> None:
    folder.mkdir()
    questions = map(json.loads, (set_folder / "questions.jsonl").read_text().splitlines())
    documents = [{"_id": one["id"], "text": one["text"]} for row in questions for one in row["passages"]]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, documents)))
    assert stocked("corpora", "import", folder, "--name", "items")[0] == 0


def test_passages_are_found_on_the_fly(
    stocked: Commands, llm: ScriptedLLM, set_folder: Path, tmp_path: Path
) -> None:
    """With a corpus, the K best passages of each question are shown and become the contexts."""
    _import_passages(stocked, set_folder, tmp_path / "beir")
    out = tmp_path / "made.jsonl"
    generate(stocked, llm, out, "--corpus", "items", "--passages", 4, "--domains", "d1,d2")
    rows = rows_of(out)
    assert sorted(rows) == sorted(f"q{n}" for n in range(12) if n % 3)
    assert {len(row["contexts"]) for row in rows.values()} == {4}
    shown = [str(body["messages"][-1]["content"]) for body in llm.log.bodies]
    assert sum(rows["q5"]["contexts"][3]["text"] in text and "item 5" in text for text in shown) == 1
    card = yaml.safe_load((tmp_path / "made.card.yaml").read_text())
    assert (card["model"], card["passages"]) == ("gpt-4o", "4")
    assert card["retriever"].startswith("bm25-items (corpus sha256 ")
    words = ("submissions", "add", out, "--set", "tiny", "--system", "made", "--json", "--card")
    stocked.json(*words, tmp_path / "made.card.yaml")
    assert "corpus sha256" in json.dumps(stocked.json("submissions", "show", 2, "--json"))


def test_what_is_asked_can_be_chosen(stocked: Commands, llm: ScriptedLLM, tmp_path: Path) -> None:
    """`--comprehensive` asks for every fact with conflicts named, `--prompt` asks a file's words."""
    seen: list[Ask] = []

    def reply(ask: Ask) -> str:
        seen.append(ask)
        return "Scripted."

    llm.text_handler = reply
    generate(stocked, llm, tmp_path / "c.jsonl", "--comprehensive", "--sample", 1)
    assert "contradict" in seen[-1].text
    mine = tmp_path / "mine.md"
    mine.write_text("# Mine\n\n## system\n\nBe brief.\n\n## task\n\nUse {passages} for {question}\n")
    generate(stocked, llm, tmp_path / "p.jsonl", "--prompt", mine, "--sample", 1)
    assert [message["role"] for message in seen[-1].messages] == ["system", "user"]
    assert seen[-1].text.startswith("Use <passage 1")
    card = yaml.safe_load((tmp_path / "p.card.yaml").read_text())
    assert "Prompt mine (sha256 " in card["notes"]
    words = ("answers", "generate", "--set", "tiny", "--model", "m", "--passages", 1)
    code, _, err = stocked(*words, "--prompt", mine, "--comprehensive", endpoint=llm.url)
    assert (code, "Leave one of them out" in err) == (1, True)


@pytest.mark.long
def test_reranking_spends_from_the_same_cap(
    stocked: Commands, set_folder: Path, tmp_path: Path, llm: ScriptedLLM
) -> None:
    """What an LLM takes to rerank is off the cap of the answers."""
    _import_passages(stocked, set_folder, tmp_path / "beir")
    words = ("--corpus", "items", "--rerank", "llm:reference-free", "--sample", 2, "--budget-usd")
    free = generate(stocked, llm, tmp_path / "free.jsonl", *words, 5)
    assert free["retrieval_usd"] > 0
    assert free["outcomes"] == {"answered": 2}
    anew = ("--cache-mode", "record", "--max-tokens", 600)
    cap = free["retrieval_usd"] + 0.004  # less than one answer may cost at most
    held = generate(stocked, llm, tmp_path / "held.jsonl", *words, cap, *anew)
    assert held["outcomes"] == {"skipped": 2}
    assert held["retrieval_usd"] + held["cost_usd"] <= cap
    fixed = ("answers", "generate", "--set", "tiny", "--model", "gpt-4o", "--passages", 2)
    code, _, err = stocked(*fixed, *words, 0.0, *anew, endpoint=llm.url)
    assert code == 1
    assert "No passage was found, and 2 searches failed" in err
    assert "cap is reached" in err
