"""`arena battles rate|winrates --error`: the judge's own error in the intervals of a file's numbers."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.arena.conftest import Commands

PAIRS = (("alpha", "beta"), ("alpha", "gamma"), ("beta", "gamma"))
WORDS = ("model_a", "model_b", "tie", "model_a", "model_b")
COLUMNS = {"wording", "repeat"}


def rows(*, wordings: int = 3, repeats: int = 2) -> list[dict[str, object]]:
    """Verdicts on 20 questions, in several wordings, each twice."""
    return [
        {
            "question_id": f"q{number}",
            "domain": "odd" if number % 2 else "even",
            "model_a": one,
            "model_b": other,
            "winner": WORDS[
                (number * number + 3 * index + wording * (number % 3) + repeat * (number % 7)) % 5
            ],
            "wording": f"prompt-{wording}",
            "repeat": repeat,
        }
        for number in range(20)
        for index, (one, other) in enumerate(PAIRS)
        for wording in range(wordings)
        for repeat in range(repeats)
    ]


def write(path: Path, found: list[dict[str, object]], *, without: set[str] | None = None) -> Path:
    """A file of these rows, without some of their columns."""
    kept = [{name: cell for name, cell in row.items() if name not in (without or set())} for row in found]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in kept), encoding="utf-8")
    return path


@pytest.mark.parametrize("command", ["rate", "winrates"])
def test_by_default_every_byte_is_as_it_was(run: Commands, tmp_path: Path, command: str) -> None:
    """With the columns or without, and with `--error questions`, the output is that of plain battles."""
    told = write(tmp_path / "told.jsonl", rows())
    plain = write(tmp_path / "plain.jsonl", rows(), without=COLUMNS)
    for options in ((), ("--json",)):
        _, expected, _ = run("battles", command, plain, *options)
        assert run("battles", command, told, *options)[1] == expected
        assert run("battles", command, told, "--error", "questions", *options)[1] == expected
    assert '"error"' not in expected
    assert "components" not in expected


def test_a_file_of_readings_says_that_its_rows_count_as_battles(run: Commands, tmp_path: Path) -> None:
    """By default each row counts, as it always did, and a note says that they are readings."""
    _, _, notes = run("battles", "rate", write(tmp_path / "told.jsonl", rows()))
    assert "here each row is a battle" in " ".join(notes.split())


@pytest.mark.parametrize("kind", ["judge", "all"])
def test_rate_tells_the_parts_of_the_error(run: Commands, tmp_path: Path, kind: str) -> None:
    """The JSON has the fields of plain ratings, `components` of each, what they depend on, and notes."""
    file = write(tmp_path / "told.jsonl", rows())
    code, out, notes = run("battles", "rate", file, "--error", kind, "--json")
    assert code == 0
    found = json.loads(out)
    plain = json.loads(run("battles", "rate", file, "--json")[1])
    assert set(found) == set(plain) | {"error", "wordings", "reworded_battles", "repeated_battles", "notes"}
    assert (found["error"], found["wordings"], found["reworded_battles"]) == (kind, 3, 60)
    for row in found["ratings"]:
        assert set(row) == set(plain["ratings"][0]) | {"components"}
        assert row["battles"] == 40
        assert row["lower"] < row["rating"] < row["upper"]
        assert row["components"]["degrees_of_freedom"] >= 2
    assert found["notes"][0] == "3 wordings of 60 battles were compared"
    assert found["notes"][0] in notes
    assert "wordings" in run("battles", "rate", file, "--error", kind)[1].splitlines()[0]


def test_winrates_tell_the_parts_of_every_rate(run: Commands, tmp_path: Path) -> None:
    """Rates count each battle once, and each of the three has its parts."""
    file = write(tmp_path / "told.jsonl", rows())
    options = ("--reference", "gamma", "--by", "domain", "--error", "all")
    found = json.loads(run("battles", "rate", "--winrates", file, *options, "--json")[1])
    assert {row["domain"] for row in found["rows"]} == {"overall", "odd", "even"}
    for row in found["rows"]:
        assert row["wins"] + row["ties"] + row["losses"] == pytest.approx(row["battles"])
        assert row["battles"] == pytest.approx(20 if row["domain"] == "overall" else 10)
        assert set(row["components"]) == {"mean_score", "win_rate", "win_tie_rate"}
        assert row["lower"] <= row["win_rate"] <= row["upper"]
    assert run("battles", "rate", "--winrates", file, *options)[1].startswith("system")


def test_what_cannot_be_told_is_an_error_that_says_why(run: Commands, tmp_path: Path) -> None:
    """Files without second readings, of counted rows, without questions, and votes of people are refused."""
    told = rows()
    refused = {
        "No battle was read again": write(tmp_path / "once.jsonl", rows(wordings=1, repeats=1)),
        "hide which of them": write(tmp_path / "counted.jsonl", [{**row, "count": 2} for row in told]),
        "names no questions": write(tmp_path / "unnamed.jsonl", told, without={"question_id"}),
    }
    for words, file in refused.items():
        for command in ("rate", "winrates"):
            code, _, said = run("battles", command, file, "--error", "all")
            assert code == 1
            assert words in " ".join(said.split())
    file = write(tmp_path / "told.jsonl", told)
    for command in ("rate", "winrates"):
        code, _, said = run("battles", command, file, "--error", "judge", "--people", file)
        assert code == 1
        assert "without --error" in said


def test_one_system_can_be_left_out(run: Commands, tmp_path: Path) -> None:
    """`--without` leaves its readings out of everything, as it does with battles."""
    file = write(tmp_path / "told.jsonl", rows())
    found = json.loads(run("battles", "rate", file, "--error", "all", "--without", "gamma", "--json")[1])
    assert {row["system"] for row in found["ratings"]} == {"alpha", "beta"}
    assert found["reworded_battles"] == 20


def test_conversion_keeps_both_columns(run: Commands, tmp_path: Path) -> None:
    """JSON Lines and CSV of the project's own keep them, and rate alike; files without them gain none."""
    file = write(tmp_path / "told.jsonl", rows())
    for name in ("copy.csv", "copy.jsonl"):
        assert run("battles", "convert", file, tmp_path / name)[0] == 0
        again = run("battles", "rate", tmp_path / name, "--error", "all", "--json")[1]
        assert again == run("battles", "rate", file, "--error", "all", "--json")[1]
    plain = write(tmp_path / "plain.jsonl", rows(), without=COLUMNS)
    run("battles", "convert", plain, tmp_path / "plain.csv")
    with (tmp_path / "plain.csv").open(encoding="utf-8") as text:
        assert not COLUMNS & set(next(csv.reader(text)))
