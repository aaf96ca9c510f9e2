"""`arena references`: from a task over drafts, texts and audits to a set with citations, by commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from data.files.question_sets.loader import load_set
from tests.scripted_llm import Ask, ScriptedLLM

Commands = Any  # what the fixture `run` of tests/arena/conftest.py gives
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")


@pytest.fixture
def club(run: Commands, set_folder: Path) -> Commands:
    """The small set with short answers, and four accounts, of which nobody is an organiser."""
    path = set_folder / "questions.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for number, row in enumerate(rows):
        row |= {"short_answers": [WORDS[number % 6], f"{number + 10} grams"]}
        row |= {"reference": None}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run("sets", "import", set_folder)[0] == 0
    for name in ("ann", "bob", "lin"):
        assert run("teams", "accounts", name)[0] == 0
    return run


def start(run: Commands, *words: object) -> Any:  # noqa: ANN401 - any JSON
    """Open the task `refs` for ann and bob."""
    return run.json(
        "labels",
        "open",
        "refs",
        "--kind",
        "references",
        "--set",
        "tiny",
        "--annotators",
        "ann,bob",
        *words,
        "--json",
    )


def text_of(item: dict[str, Any]) -> str:
    """A complete text with citations for an item."""
    number = int(item["short_answers"][1].split()[0]) - 10
    return f"Item {number} is {item['short_answers'][0]} [1]. It weighs {item['short_answers'][1]}. [2]"


def write(
    run: Commands, folder: Path, writer: str, text: Callable[[dict[str, Any]], str] = text_of, most: int = 99
) -> list[dict[str, Any]]:
    """Let somebody write until nothing is left; the items that they got."""
    items: list[dict[str, Any]] = []
    while len(items) < most:
        item = run.json("labels", "submit", "refs", "--annotator", writer, "--agree", "--json")["item"]
        if item is None:
            break
        file = folder / f"{writer}.txt"
        file.write_text(text(item))
        run.json("labels", "submit", "refs", item["number"], "--text", file, "--annotator", writer, "--json")
        items.append(item)
    return items


def audit(run: Commands, failing: int = 0, failure: str = "incompleteness") -> dict[str, Any]:
    """Draw a batch and decide its sample; so many of its texts fail."""
    batch: dict[str, Any] = run.json("references", "audit", "refs", "--draw", 30, "--json")["batch"]
    for _ in range(batch["drawn"]):
        words = ("references", "audit", "refs", "--auditor", "lin", "--json")
        item = run.json(*words)["item"]
        fails = ("--failure", failure, "--remark", "Look again.") if failing > 0 else ()
        failing -= 1
        words = (
            "references",
            "audit",
            "refs",
            item["number"],
            "--auditor",
            "lin",
            *fails,
            "--json",
        )
        batch = run.json(*words)["batch"]
    return batch


@pytest.mark.long
def test_references_go_from_a_task_to_a_set(club: Commands, tmp_path: Path) -> None:
    """Writing, a batch sent back, rework, acceptance and export; the export is a set with citations."""
    opened = start(club)
    assert [opened[name] for name in ("kind", "items", "wanted", "overlap")] == ["references", 12, 12, 1]
    assert len(write(club, tmp_path, "ann", most=6)) == 6
    assert len(write(club, tmp_path, "bob")) == 6
    returned = audit(club, failing=1)
    assert (returned["texts"], returned["drawn"], returned["valid"]) == (12, 4, 3)
    assert returned["accepted"] is False
    told = club.json("labels", "show", "refs", "--json")
    assert (told["texts"]["returned"], told["failures"]["incompleteness"]) == (12, 1)
    assert told["audit"] == {"texts": 4, "completeness": 0.75, "citation_accuracy": 1.0}
    again = [*write(club, tmp_path, "ann"), *write(club, tmp_path, "bob")]
    assert len(again) == 12
    assert {item["written"]["state"] for item in again} == {"returned"}
    assert [item["written"]["remark"] for item in again if item["written"]["failures"]] == ["Look again."]
    accepted = audit(club)
    assert (accepted["number"], accepted["valid"], accepted["accepted"]) == (2, 4, True)
    told = club.json("labels", "show", "refs", "--json")
    assert (told["with_accepted"], told["texts"]["accepted"], told["untouched"]) == (12, 12, 0)
    folder = tmp_path / "made"
    made = club.json("labels", "export", "refs", folder, "--format", "set", "--name", "written", "--json")
    assert (made["questions"], made["left_out"]) == (12, 0)
    question = load_set(folder).questions.by_id["q3"]
    assert question.reference == "Item 3 is delta. It weighs 13 grams."
    assert question.citations == (("q3-p1",), ("q3-p2",))
    assert question.gold_doc_ids == ("q3-p1", "q3-p2")
    facts = json.loads((folder / "references.json").read_text())
    assert [batch["accepted"] for batch in facts["batches"]] == [False, True]
    assert club("sets", "import", folder)[0] == 0
    measured = club.json("references", "measure", "--set", "written", "--json")["systems"]["human"]
    assert [measured[name] for name in ("texts", "completeness", "citation_accuracy")] == [12, 1.0, 1.0]


@pytest.mark.long
@pytest.mark.parametrize(
    ("drawn", "failing", "accepted"), [(10, 1, True), (10, 2, False), (9, 1, False), (1, 0, True)]
)
def test_nine_tenths_of_a_sample_must_be_valid(
    club: Commands, tmp_path: Path, drawn: int, failing: int, accepted: bool
) -> None:
    """Section 3.1: a batch is accepted with 90 % valid texts of its sample, and goes back with fewer."""
    start(club, "--count", drawn)
    write(club, tmp_path, "ann")
    club.json("references", "audit", "refs", "--draw", 100, "--json")
    batch: dict[str, Any] = {}
    for number in range(1, drawn + 1):
        fails = ("--failure", "redundancy") if number <= failing else ()
        words = ("references", "audit", "refs", number, "--auditor", "lin", *fails, "--json")
        batch = club.json(*words)["batch"]
    assert (batch["valid"], batch["accepted"]) == (drawn - failing, accepted)


def test_what_cannot_be_kept_is_refused_with_its_reason(club: Commands, tmp_path: Path) -> None:
    """Uncited sentences, unknown passages, foreign, audited and accepted texts, and one's own audit."""
    start(club)
    item = club.json("labels", "submit", "refs", "--annotator", "ann", "--agree", "--json")["item"]
    file = tmp_path / "text"

    def submit(text: str, writer: str = "ann") -> str:
        file.write_text(text)
        words = ("labels", "submit", "refs", item["number"], "--text", file, "--annotator", writer)
        code, _, err = club(*words)
        assert code == (1 if err.startswith("arena: ") else 0)
        return str(err)

    word, weight = item["short_answers"]
    assert "1 of 2 sentences cite no passage: “It is light”" in submit("Item 0 is alpha [1]. It is light.")
    assert "No passage has the number [3], [7]" in submit("Item 0 is alpha [3, 7].")
    assert "The text has no sentence" in submit(" [1] ")
    assert "bob has not agreed to the terms" in submit("It is alpha [1].", "bob")
    club.json("labels", "submit", "refs", "--annotator", "bob", "--agree", "--json")
    assert "was not given to you" in submit("It is alpha [1].", "bob")
    assert submit(f"It is {word} [1].") == f"Its words do not hold this short answer: {weight}\n"
    assert submit(f"It is {word} [1], and weighs {weight} [2].") == ""
    club.json("references", "audit", "refs", "--draw", 10, "--json")
    assert "being audited" in submit("Item 0 is alpha [1].")
    code, _, err = club("references", "audit", "refs", 1, "--auditor", "ann")
    assert (code, "Nobody audits their own text" in err) == (1, True)
    assert club("references", "audit", "refs", 1, "--auditor", "lin")[0] == 0
    assert "was accepted" in submit("Item 0 is alpha [1].")
    assert "people write references" in club("labels", "export", "refs", "-")[2]
    assert [task["kind"] for task in club.json("labels", "show", "--json")] == ["references"]


def test_a_second_writer_becomes_a_system(club: Commands, tmp_path: Path) -> None:
    """With two writers a question the first text is the reference, and the other a file of answers."""
    assert start(club, "--overlap", 2, "--count", 2)["wanted"] == 4
    first = write(club, tmp_path, "ann")
    second = write(club, tmp_path, "bob", lambda item: f"It is {item['short_answers'][0]} [1].")
    assert {item["question"] for item in first} == {item["question"] for item in second}
    assert audit(club)["accepted"] is True
    folder = tmp_path / "made"
    made = club.json("labels", "export", "refs", folder, "--format", "set", "--name", "written", "--json")
    assert (made["questions"], made["second"]) == (2, 2)
    rows = list(map(json.loads, (folder / "second-writers.jsonl").read_text().splitlines()))
    assert all(row["answer"].startswith("It is ") and "[" not in row["answer"] for row in rows)
    assert club("sets", "import", folder)[0] == 0
    words = ("submissions", "check", folder / "second-writers.jsonl", "--set", "written", "--json")
    assert club.json(*words)["accepted"] is True


@pytest.mark.long
def test_drafts_hold_the_marked_short_answers(
    club: Commands, scripted_llm: Callable[..., ScriptedLLM], tmp_path: Path
) -> None:
    """The LLM reads passages with marks, its drafts come to the writers, and a second run asks nothing."""
    server, asked = scripted_llm(), list[str]()

    def reply(ask: Ask) -> str:
        asked.append(ask.text)
        return "I couldn't find an answer." if "item 3" in ask.text else "It is so [1]."

    server.text_handler = reply
    start(club)
    words = ("references", "draft", "refs", "--model", "gpt-4o", "--json")
    made = club.json(*words, endpoint=server.url)
    assert made["outcomes"] == {"drafted": 11, "no answer": 1}
    assert any("Item 0 is ⟦alpha⟧." in text and "weighs ⟦10 grams⟧." in text for text in asked)
    assert club.json(*words, endpoint=server.url)["calls"] == 0
    items = write(club, tmp_path, "ann", lambda item: (item["draft"] or {"text": "None [2]."})["text"])
    assert sum(item["draft"] is None for item in items) == 1
    assert items[0]["draft"] == {"text": "It is so [1].", "model": "gpt-4o"}
    told = club.json("labels", "show", "refs", "--json")
    assert (told["drafts"], told["unchanged_drafts"]) == (11, 11)
    folder = tmp_path / "made"
    assert club("labels", "export", "refs", folder, "--format", "set")[0] == 1
    club.json("labels", "export", "refs", folder, "--format", "set", "--unaudited", "--json")
    assert load_set(folder).questions.reference_by == "people, from drafts of gpt-4o"


def test_a_set_without_passages_has_nothing_to_write_from(club: Commands, tmp_path: Path) -> None:
    """Where no question has passages no task opens, and the message says what to attach."""
    bare = tmp_path / "bare.jsonl"
    bare.write_text('{"id": "x1", "domain": "d", "question": "Why?", "reference": "So."}\n')
    assert club("sets", "import", bare, "--name", "bare")[0] == 0
    code, *told = club("labels", "open", "w", "--kind", "references", "--set", "bare", "--annotators", "ann")
    assert code == 1
    assert "No question of bare has passages" in "".join(told)
