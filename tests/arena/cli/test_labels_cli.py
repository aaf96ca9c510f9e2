"""`arena labels`: from a task to a corrected rating, by commands alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.arena.conftest import Commands


@pytest.fixture
def labelling(arena_of: Commands) -> Commands:
    """The small set with two systems, and accounts for three people."""
    for name in ("ann", "bob", "cleo"):
        assert arena_of("teams", "account", "add", name)[0] == 0
    return arena_of


def _open(run: Commands, *words: object) -> dict[str, object]:
    found: dict[str, object] = run.json(
        "labels", "task", "open", "people", "--set", "tiny", "--annotators", "ann,bob", "--overlap", 2,
        *words, "--json",
    )  # fmt: skip
    return found


def _label(run: Commands, person: str, word: str) -> int:
    count = 0
    agree: tuple[str, ...] = ("--agree",)
    while True:
        found = run.json("labels", "next", "people", "--annotator", person, *agree, "--json")
        agree = ()
        if found["item"] is None:
            return count
        number = found["item"]["number"]
        longer = len(found["item"]["first"]) > len(found["item"]["second"])
        value = {"longer": "first" if longer else "second", "shorter": "second" if longer else "first"}[word]
        code, out, _ = run("labels", "give", "people", number, value, "--annotator", person)
        assert (code, out) == (0, f"Kept: {number} of people.\n")
        count += 1


@pytest.mark.long
def test_task_goes_from_opening_to_a_file_of_votes(labelling: Commands, tmp_path: Path) -> None:
    """Open, label, watch, settle, set aside, export, close: each a command that says what it did."""
    task = _open(labelling, "--systems", "half,whole", "--count", 6, "--draw", "domain", "--seed", 3)
    assert (task["items"], task["wanted"], task["draw"], task["closed"]) == (6, 12, "domain", False)
    (listed,) = labelling.json("labels", "task", "list", "--json")
    assert listed == task
    assert _label(labelling, "ann", "longer") == 6
    assert _label(labelling, "bob", "shorter") == 6
    shown = labelling.json("labels", "task", "show", "people", "--json")
    assert (shown["quality"]["labels"], shown["quality"]["disputed"]) == (12, 6)
    assert {person["name"]: person["agreement"] for person in shown["quality"]["people"]} == {
        "ann": 0.0, "bob": 0.0,
    }  # fmt: skip
    disputed = labelling.json("labels", "task", "disputed", "people", "--json")
    assert len(disputed) == 6
    assert labelling("labels", "task", "settle", "people", disputed[0]["item"], "b")[0] == 0
    assert len(labelling.json("labels", "task", "disputed", "people", "--json")) == 5
    code, out, _ = labelling("labels", "task", "aside", "people", "bob", "--reason", "Did not read.")
    assert (code, out) == (0, "6 labels of bob are set aside.\n")
    votes = tmp_path / "votes.jsonl"
    assert labelling("labels", "task", "export", "people", votes)[0] == 0
    rows = [json.loads(line) for line in votes.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 6
    assert {row["chance"] for row in rows} == {0.5}
    assert all(row["winner"] == ("model_b" if row["model_b"] == "whole" else "model_a") for row in rows)
    assert labelling("labels", "task", "close", "people")[0] == 0
    code, _, err = labelling("labels", "task", "import", "people", votes)
    assert code == 1
    assert "closed" in err


@pytest.mark.long
def test_votes_of_a_task_correct_a_rating(labelling: Commands, tmp_path: Path) -> None:
    """The exported votes are what `arena battles rate --people` reads."""
    _open(labelling, "--systems", "half,whole", "--count", 6)
    _label(labelling, "ann", "longer")
    _label(labelling, "bob", "shorter")
    votes, verdicts = tmp_path / "votes.jsonl", tmp_path / "verdicts.jsonl"
    assert labelling("labels", "task", "export", "people", votes)[0] == 0
    rows = [
        {"question_id": f"q{n}", "model_a": "half", "model_b": "whole", "winner": ("model_b", "tie")[n % 2]}
        for n in range(12)
    ]
    verdicts.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    found = labelling.json("battles", "rate", verdicts, "--people", votes, "--json")
    assert (found["votes"], found["labelled_battles"], found["annotators"]) == (12, 6, 2)


def test_items_of_other_kinds_are_labelled_by_commands(labelling: Commands) -> None:
    """Yes or no, ratings, spans, and skips with a reason."""
    for name, kind, more in (
        ("ask", "answerability", ()),
        ("rate", "passages", ()),
        ("mark", "spans", ("--systems", "whole")),
    ):
        words = ("--set", "tiny", "--kind", kind, "--annotators", "ann", "--overlap", 1, "--count", 2, *more)
        assert labelling("labels", "task", "open", name, *words)[0] == 0
    spans = json.dumps([{"kind": "wrong", "start": 0, "end": 4}, {"kind": "missing", "text": "Its colour."}])
    for name, label in (("ask", ("yes",)), ("rate", ("4",)), ("mark", ("--spans", spans))):
        found = labelling.json("labels", "next", name, "--annotator", "ann", "--agree", "--json")
        number = found["item"]["number"]
        assert labelling("labels", "give", name, number, *label, "--annotator", "ann")[0] == 0
        found = labelling.json("labels", "next", name, "--annotator", "ann", "--json")
        skipping = ("--skip", "I do not know.", "--annotator", "ann")
        assert labelling("labels", "give", name, found["item"]["number"], *skipping)[0] == 0
        found = labelling.json("labels", "next", name, "--annotator", "ann", "--json")
        assert found["item"] is None
        assert (found["progress"]["labelled"], found["progress"]["skipped"]) == (1, 1)
    code, out, _ = labelling("labels", "withdraw", "mark", "--annotator", "ann", "--yes")
    assert (code, out) == (0, "2 labels of ann are deleted.\n")


MISTAKES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("task", "show", "none"), "no annotation task"),
    (("task", "open", "x", "--set", "tiny", "--systems", "half"), "two systems"),
    (("task", "open", "x", "--set", "tiny", "--systems", "half,whole"), "cannot label each item"),
    (("task", "open", "x", "--set", "tiny", "--items", "none.jsonl", "--open-to-all"), "cannot be read"),
    (("task", "export", "people", "-", "--format", "xml"), "no format"),
    (("give", "people", "1", "best", "--annotator", "ann"), "is no label"),
    (("give", "people", "1", "--annotator", "ann"), "exactly one"),
    (("give", "people", "1", "--spans", "[1]", "--annotator", "ann"), "spans cannot be read"),
    (("next", "people", "--annotator", "cleo"), "no annotation task"),
    (("next", "people", "--annotator", "ann"), "has not agreed"),
    (("task", "settle", "people", "1", "c"), "settles nothing"),
    (("task", "aside", "people", "ann"), "without a reason"),
)


def test_mistakes_are_told_in_a_line(labelling: Commands) -> None:
    """Each ends with 1 and one sentence that says what to do."""
    _open(labelling, "--systems", "half,whole", "--count", 2)
    for words, sentence in MISTAKES:
        code, _, err = labelling("labels", *words)
        assert (words, code) == (words, 1)
        assert sentence in err
        assert len(err.strip().splitlines()) == 1
