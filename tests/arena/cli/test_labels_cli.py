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
        assert arena_of("teams", "accounts", name)[0] == 0
    return arena_of


def _open(run: Commands, *words: object) -> dict[str, object]:
    found: dict[str, object] = run.json(
        "labels", "open", "people", "--set", "tiny", "--annotators", "ann,bob", "--overlap", 2,
        *words, "--json",
    )  # fmt: skip
    return found


def _label(run: Commands, person: str, word: str) -> int:
    count = 0
    agree: tuple[str, ...] = ("--agree",)
    while True:
        found = run.json("labels", "submit", "people", "--annotator", person, *agree, "--json")
        agree = ()
        if found["item"] is None:
            return count
        number = found["item"]["number"]
        longer = len(found["item"]["first"]) > len(found["item"]["second"])
        value = {"longer": "first" if longer else "second", "shorter": "second" if longer else "first"}[word]
        code, out, _ = run("labels", "submit", "people", number, value, "--annotator", person)
        assert (code, out) == (0, f"Kept: {number} of people.\n")
        count += 1


@pytest.mark.long
def test_task_goes_from_opening_to_a_file_of_votes(labelling: Commands, tmp_path: Path) -> None:
    """Open, label, watch, adjudicate, exclude, export, close: each a command that says what it did."""
    task = _open(labelling, "--systems", "half,whole", "--count", 6, "--draw", "domain", "--seed", 3)
    assert (task["items"], task["wanted"], task["draw"], task["closed"]) == (6, 12, "domain", False)
    (listed,) = labelling.json("labels", "show", "--json")
    assert listed == task
    assert _label(labelling, "ann", "longer") == 6
    assert _label(labelling, "bob", "shorter") == 6
    shown = labelling.json("labels", "show", "people", "--json")
    assert (shown["quality"]["labels"], shown["quality"]["disputed"]) == (12, 6)
    assert {person["name"]: person["agreement"] for person in shown["quality"]["people"]} == {
        "ann": 0.0, "bob": 0.0,
    }  # fmt: skip
    disputed = labelling.json("labels", "adjudicate", "people", "--json")
    assert len(disputed) == 6
    assert labelling("labels", "adjudicate", "people", disputed[0]["item"], "b")[0] == 0
    assert len(labelling.json("labels", "adjudicate", "people", "--json")) == 5
    code, out, _ = labelling("labels", "exclude", "people", "bob", "--reason", "Did not read.")
    assert (code, out) == (0, "6 labels of bob are excluded.\n")
    votes = tmp_path / "votes.jsonl"
    assert labelling("labels", "export", "people", votes)[0] == 0
    rows = [json.loads(line) for line in votes.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 6
    assert {row["sampling_prob"] for row in rows} == {0.5}
    assert all(row["winner"] == ("model_b" if row["model_b"] == "whole" else "model_a") for row in rows)
    assert labelling("labels", "close", "people")[0] == 0
    code, _, err = labelling("labels", "import", "people", votes)
    assert code == 1
    assert "closed" in err


@pytest.mark.long
def test_votes_of_a_task_correct_a_rating(labelling: Commands, tmp_path: Path) -> None:
    """The exported votes are what `arena battles rate --people` reads."""
    _open(labelling, "--systems", "half,whole", "--count", 6)
    _label(labelling, "ann", "longer")
    _label(labelling, "bob", "shorter")
    votes, verdicts = tmp_path / "votes.jsonl", tmp_path / "verdicts.jsonl"
    assert labelling("labels", "export", "people", votes)[0] == 0
    rows = [
        {"question_id": f"q{n}", "model_a": "half", "model_b": "whole", "winner": ("model_b", "tie")[n % 2]}
        for n in range(12)
    ]
    verdicts.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    found = labelling.json("battles", "rate", verdicts, "--people", votes, "--json")
    assert (found["votes"], found["labelled_battles"], found["annotators"]) == (12, 6, 2)


def test_items_are_skipped_changed_and_withdrawn_by_commands(labelling: Commands) -> None:
    """A skip needs a reason, a label can be changed, and all of a person's labels can be deleted."""
    _open(labelling, "--systems", "half,whole", "--count", 2)
    number = labelling.json("labels", "submit", "people", "--annotator", "ann", "--agree", "--json")["item"][
        "number"
    ]
    submit = ("labels", "submit", "people")
    assert labelling(*submit, number, "second", "--annotator", "ann")[0] == 0
    assert labelling(*submit, "--annotator", "ann", "--comment", "Says more.", "--", number, "-2")[0] == 0
    other = labelling.json(*submit, "--annotator", "ann", "--json")["item"]["number"]
    assert labelling(*submit, other, "--skip", "I do not know.", "--annotator", "ann")[0] == 0
    found = labelling.json(*submit, "--annotator", "ann", "--json")
    assert (found["item"], found["progress"]["labelled"], found["progress"]["skipped"]) == (None, 1, 1)
    code, out, _ = labelling(*submit, "--annotator", "ann", "--withdraw", "--yes")
    assert (code, out) == (0, "2 labels of ann are deleted.\n")


MISTAKES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("show", "none"), "no annotation task"),
    (("open", "x", "--set", "tiny", "--systems", "half"), "two systems"),
    (("open", "x", "--set", "tiny", "--systems", "half,whole"), "cannot label each item"),
    (("open", "x", "--set", "tiny", "--items", "none.jsonl", "--open-to-all"), "cannot be read"),
    (("export", "people", "-", "--format", "xml"), "no format"),
    (("submit", "people", "1", "best", "--annotator", "ann"), "is no label"),
    (("submit", "people", "1", "--annotator", "ann"), "exactly one"),
    (("submit", "people", "1", "3", "--annotator", "ann"), "is no label"),
    (("submit", "people", "--annotator", "cleo"), "no annotation task"),
    (("submit", "people", "--annotator", "ann"), "has not agreed"),
    (("adjudicate", "people", "1", "c"), "decides nothing"),
    (("exclude", "people", "ann"), "without a reason"),
)


def test_mistakes_are_told_in_a_line(labelling: Commands) -> None:
    """Each ends with 1 and one sentence that says what to do."""
    _open(labelling, "--systems", "half,whole", "--count", 2)
    for words, sentence in MISTAKES:
        code, _, err = labelling("labels", *words)
        assert (words, code) == (words, 1)
        assert sentence in err
        assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "instead"),
    [
        (("labels", "task", "open", "people", "--set", "tiny"), "labels open"),
        (("labels", "give", "people", "1", "tie"), "labels submit"),
        (("references", "start", "refs"), "labels open TASK --kind references"),
        (("references", "submit", "refs", "1", "text.txt"), "--text FILE"),
    ],
)
def test_commands_that_are_gone_name_what_to_use(
    arena_of: Commands, words: tuple[str, ...], instead: str
) -> None:
    """Who types an old command, nested ones and their options too, reads the new one."""
    code, _, err = arena_of(*words)
    assert code == 1
    assert "was removed" in err
    assert instead in err
