"""`arena battles` on files: notes, refusals, and control for what biases a judge."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leaderboard.formats.rows import covariate_columns
from leaderboard.vocabulary import Covariate
from tests.arena.conftest import Commands

COLUMNS = tuple(name for covariate in Covariate for name in covariate_columns(covariate))
WORTH = 400 / np.log(10)


def written(file: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """Battles as CSV or JSON Lines, by the file's ending."""
    with file.open("w", encoding="utf-8", newline="") as text:
        if file.suffix == ".csv":
            table = csv.DictWriter(text, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
        else:
            text.writelines(json.dumps(row) + "\n" for row in rows)
    return file


def styled_battles(rows: int = 1500) -> list[dict[str, Any]]:
    """Battles of three systems alike, won by length and by the first place."""
    rng = np.random.default_rng(8)
    made = []
    for number in range(rows):
        one, other = rng.choice(["x", "y", "z"], 2, replace=False)
        cells = {
            name: int(rng.poisson(100 if "length" in name else 2)) for name in COLUMNS if name != "position"
        }
        position = str(rng.choice(["a", "b", "both"]))
        gap = 0.5 * (cells["a_length"] > cells["b_length"]) - 0.25
        gap += {"a": 0.6, "b": -0.6, "both": 0.0}[position]
        won = rng.random() < 1 / (1 + np.exp(-gap))
        made.append(
            {
                "question_id": f"q{number % 300}",
                "model_a": str(one),
                "model_b": str(other),
                "winner": "model_a" if won else "model_b",
                **cells,
                "position": position,
            }
        )
    return made


@pytest.mark.parametrize("name", ["battles.csv", "battles.jsonl"])
def test_every_column_becomes_a_term(run: Commands, tmp_path: Path, name: str) -> None:
    file = written(tmp_path / name, styled_battles())
    code, out, _ = run("battles", "rate", file, "--method", "style", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["method"], found["interval"]) == ("style", "sandwich")
    terms = {row["name"]: row for row in found["coefficients"]}
    assert list(terms) == [covariate.value for covariate in Covariate]
    assert terms["position"]["lower"] <= 0.6 * WORTH <= terms["position"]["upper"]
    assert terms["length"]["lower"] > 0
    assert terms["bold"]["lower"] < 0 < terms["bold"]["upper"]
    assert found["left_out"] == []
    assert {row["system"] for row in found["ratings"]} == {"x", "y", "z"}


def test_missing_columns_are_named(run: Commands, tmp_path: Path) -> None:
    plain = [
        {name: value for name, value in row.items() if name not in COLUMNS} for row in styled_battles(30)
    ]
    err = run.refused("battles", "rate", written(tmp_path / "p.csv", plain), "--method", "style")
    assert all(name in err for name in COLUMNS)
    half = [row | {"a_bold": 1} for row in plain]
    file = written(tmp_path / "h.csv", half)
    for options in ((), ("--covariates", "bold")):
        assert "h.csv has no column b_bold" in run.refused(
            "battles", "rate", file, "--method", "style", *options
        )
    run.refused("battles", "rate", file, "--method", "style", "--covariates", "colour", code=2)
    assert "Add --method style" in run.refused("battles", "rate", file, "--covariates", "bold")


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ({"a_bold": "-1"}, 'row 3 (line 4), column "a_bold"'),
        ({"b_length": "many"}, 'column "b_length"'),
        ({"position": "left"}, '"a", "b" or "both" is expected'),
    ],
)
def test_cells_that_say_nothing_are_named(
    run: Commands, tmp_path: Path, cell: dict[str, str], said: str
) -> None:
    rows = styled_battles(60)
    rows[2] |= cell
    file = written(tmp_path / "b.csv", rows)
    assert said in run.refused("battles", "rate", file, "--method", "style", "--strict")
    code, _, err = run("battles", "rate", file, "--method", "style")
    assert (code, said in err) == (0, True)
    run.done("battles", "rate", file, "--bootstrap", "20")


def test_battles_without_a_value_are_counted(run: Commands, tmp_path: Path) -> None:
    rows = styled_battles(300)
    for row in rows[:7]:
        row["b_lists"] = ""
    file = written(tmp_path / "b.csv", rows)
    code, _, err = run("battles", "rate", file, "--method", "style")
    assert code == 0
    assert "left out: 7 battles (an empty cell among" in err
    code, _, err = run("battles", "rate", file, "--method", "style", "--covariates", "length")
    assert (code, "left out" in err) == (0, False)


def test_a_system_left_out_takes_its_battles_along(run: Commands, tmp_path: Path) -> None:
    file = written(tmp_path / "b.csv", styled_battles(600))
    options = ("--method", "style", "--without", "x", "--anchor", "y=1200", "--json")
    found = json.loads(run("battles", "rate", file, *options)[1])
    assert {row["system"] for row in found["ratings"]} == {"y", "z"}
    assert next(row["rating"] for row in found["ratings"] if row["system"] == "y") == 1200
    assert "nobody took part in no battle" in run.refused(
        "battles", "rate", file, "--method", "style", "--anchor", "nobody=1000"
    )


Row = dict[str, object]


def battles(count: int = 120) -> list[Row]:
    """Battles of four systems on 30 questions of two domains, with the lengths of both answers."""
    rng = random.Random(7)
    rows: list[Row] = []
    for _ in range(count):
        one, other = rng.sample(["w", "x", "y", "z"], 2)
        rows.append(
            {
                "question_id": f"q{rng.randrange(30)}",
                "domain": rng.choice(["d1", "d2"]),
                "model_a": one,
                "model_b": other,
                "winner": rng.choice(["model_a", "model_b", "tie"]),
                "a_length": rng.randrange(50, 300),
                "b_length": rng.randrange(50, 300),
            }
        )
    return rows


def votes(rows: Sequence[Row]) -> list[Row]:
    """Votes of five people on some of the battles."""
    rng = random.Random(8)
    kept = ("question_id", "model_a", "model_b")
    return [
        {name: row[name] for name in kept}
        | {"winner": rng.choice(["model_a", "model_b", "tie"]), "annotator": f"p{rng.randrange(5)}"}
        for row in rows[:70]
    ]


def shuffled(rows: Sequence[Row]) -> list[Row]:
    """The same rows in another order."""
    mixed = list(rows)
    random.Random(9).shuffle(mixed)
    return mixed


@pytest.mark.parametrize(
    "words",
    [
        ("rate", "{}", "--method", "style"),
        ("rate", "{}", "--method", "elo", "--bootstrap", "20"),
        ("rate", "{}", "--bootstrap", "50"),
        ("winrates", "{}", "--by", "domain"),
    ],
)
def test_the_order_of_rows_changes_no_byte(run: Commands, tmp_path: Path, words: Sequence[str]) -> None:
    rows = battles()
    said = []
    for name, each in (("one", rows), ("other", shuffled(rows))):
        path = str(written(tmp_path / f"{name}.jsonl", each))
        out = run.done("battles", *(path if word == "{}" else word for word in words), "--json")
        said.append(out)
    assert said[0] == said[1]


@pytest.mark.parametrize("command", ["rate", "winrates"])
def test_the_order_of_votes_changes_no_byte(run: Commands, tmp_path: Path, command: str) -> None:
    rows = battles()
    path, said = written(tmp_path / "b.jsonl", rows), []
    for name, each in (("one", votes(rows)), ("other", shuffled(votes(rows)))):
        labels = written(tmp_path / f"votes-{name}.jsonl", each)
        out = run.done("battles", command, path, "--people", labels, "--json")
        said.append(out)
    assert said[0] == said[1]


def test_a_domain_called_overall_is_refused(run: Commands, tmp_path: Path) -> None:
    path = written(tmp_path / "b.jsonl", [row | {"domain": "overall"} for row in battles()])
    assert "a domain needs another id" in run.refused("battles", "winrates", path, "--by", "domain")


def without_questions(row: Row) -> Row:
    """A battle that names no question."""
    return {name: row[name] for name in ("model_a", "model_b", "winner")}


def seen(row: Row) -> Row:
    """A battle whose systems were known by name."""
    return row | {"anony": False}


@pytest.mark.parametrize(
    ("change", "said"),
    [(without_questions, "every battle counts as a question of its own"), (seen, "left out: 10 records")],
)
@pytest.mark.parametrize("command", ["rate", "winrates"])
def test_every_command_has_the_notes_of_the_file(
    run: Commands, tmp_path: Path, command: str, change: Callable[[Row], Row], said: str
) -> None:
    rows = battles()
    changed = [change(row) for row in rows]
    path = written(tmp_path / "b.jsonl", changed if change is without_questions else changed[:10] + rows[10:])
    code, _, err = run("battles", command, path)
    assert code == 0
    assert said in err


def test_a_name_with_a_line_break_keeps_its_row(run: Commands, tmp_path: Path) -> None:
    renamed = [{name: "w\nv" if value == "w" else value for name, value in row.items()} for row in battles()]
    out = run.done("battles", "rate", written(tmp_path / "b.jsonl", renamed))
    assert len(out.strip().splitlines()) == 1 + 4
    assert "w\\nv" in out
