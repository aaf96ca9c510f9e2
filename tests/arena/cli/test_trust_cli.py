"""`arena battles rate --fragility`, and what boards say of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from leaderboard.trust.sections import Section
from tests.arena.conftest import Commands, mix

SYSTEMS = ("alpha", "beta", "gamma")
PAIRS = (("alpha", "beta"), ("beta", "gamma"), ("alpha", "gamma"))
WORDS = ("model_a", "model_b", "model_a", "tie", "model_a")


@pytest.fixture
def battles(tmp_path: Path) -> Path:
    """Verdicts on every pair of 40 questions, in a fixed pattern."""
    file = tmp_path / "battles.jsonl"
    rows = [
        {
            "question_id": f"q{number}",
            "domain": "d",
            "model_a": a,
            "model_b": b,
            "winner": WORDS[(number * (place + 1) + place) % len(WORDS)],
        }
        for number in range(40)
        for place, (a, b) in enumerate(PAIRS)
    ]
    file.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return file


def test_neighbours_rest_on_named_questions(run: Commands, battles: Path) -> None:
    """Two neighbours of three systems, each with its set; the table and the JSON tell the same."""
    code, out, _ = run("battles", "rate", "--fragility", battles, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["unit"] == "questions"
    assert found["unrated"] == []
    assert len(found["pairs"]) == 2
    for pair in found["pairs"]:
        assert pair["of"] == 40
        assert len(pair["questions"]) == pair["size"]
        assert pair["verified"] == (pair["points_without"] is not None)
    _, text, _ = run("battles", "rate", "--fragility", battles)
    first = found["first_place"]
    assert f"{first['size']} questions of 40 decide first place" in text
    assert f"without them {first['second']} would stand before {first['first']}." in text


def test_a_pair_names_what_is_left_out(run: Commands, battles: Path) -> None:
    """Of two systems each question, or battle, stands on a line of its own."""
    pair = json.loads(run("battles", "rate", "--fragility", battles, "--json")[1])["pairs"][0]
    names = f"{pair['second']},{pair['first']}"
    _, text, _ = run("battles", "rate", "--fragility", battles, "--pair", names)
    assert text.splitlines()[1:] == pair["questions"]
    _, text, _ = run("battles", "rate", "--fragility", battles, "--pair", names, "--unit", "battles")
    said, *lines = text.splitlines()
    assert said.startswith(f"{len(lines)} battle")
    assert all(line.split()[0].startswith("q") for line in lines)


def test_a_removed_command_says_what_to_use_instead(run: Commands, battles: Path) -> None:
    """`battles cycles` is gone: whatever it is given, one line says so, with exit code 1."""
    code, out, errors = run("battles", "cycles", battles, "--reference", "gamma", "--json")
    assert (code, out) == (1, "")
    assert "`arena battles cycles` was removed" in errors
    assert "arena battles rate" in errors
    assert "cycles" not in run("battles", "--help")[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("fragility", "--pair", "alpha"), "is no pair of systems"),
        (("fragility", "--pair", "alpha,nobody"), "names 'nobody'"),
        (("fragility", "--reference", "nobody"), "names 'nobody'"),
    ],
)
def test_what_cannot_be_asked_is_said(
    run: Commands, battles: Path, words: tuple[str, ...], said: str
) -> None:
    """Names that no battle has end with a sentence and exit code 1."""
    verb, *options = words
    code, _, errors = run("battles", verb, battles, *options)
    assert code == 1
    assert said in errors


def test_files_without_questions_have_battles_alone(run: Commands, tmp_path: Path) -> None:
    """Where no row says its question, none can be left out as a whole."""
    file = tmp_path / "plain.csv"
    lines = [f"a,b,model_{'a' if number % 3 else 'b'}" for number in range(12)]
    file.write_text("\n".join(["model_a,model_b,winner", *lines]), encoding="utf-8")
    code, _, errors = run("battles", "rate", "--fragility", file)
    assert code == 1
    assert "names no questions" in errors
    code, out, _ = run("battles", "rate", "--fragility", file, "--unit", "battles", "--json")
    assert code == 0
    assert json.loads(out)["pairs"][0]["size"] == 5


@pytest.mark.long
@pytest.mark.parametrize("pairs", ["all", "reference"])
def test_a_published_round_says_what_its_places_rest_on(
    run: Commands, filled: Callable[..., Arena], tmp_path: Path, pairs: str
) -> None:
    """The snapshot has the section, and `leaderboard show` its sentences."""
    arena = mix(filled(), tmp_path)
    (summary,) = arena.sets.summaries()
    arena.rounds.create(RoundRequest(set_name=summary.name, judge="lexical", pairs=pairs, name="r"))
    arena.rounds.run("r", concurrency=2, report=lambda _progress: None)
    board, _ = arena.boards.publish("r", report=lambda _line: None)
    assert {Section.FRAGILITY} == {section for section in Section if section in board.standings}
    code, text, _ = run("leaderboard", "show", "r")
    assert code == 0
    assert "first place" in text or "have the same rating" in text or "No set of up to half" in text
