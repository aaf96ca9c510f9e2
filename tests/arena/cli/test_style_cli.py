"""`arena battles rate --method style`: control for what biases a judge, from the columns of a file."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
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


def battles(rows: int = 1500) -> list[dict[str, Any]]:
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
    """Without --covariates all that the file has is controlled for; intervals hold what was planted."""
    file = written(tmp_path / name, battles())
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


def test_both_kinds_of_file_say_the_same(run: Commands, tmp_path: Path) -> None:
    """CSV and JSON Lines of the same battles give the same bytes."""
    rows = battles(300)
    outs = [
        run("battles", "rate", written(tmp_path / name, rows), "--method", "style", "--json")[1]
        for name in ("b.csv", "b.jsonl")
    ]
    assert outs[0] == outs[1]


def test_chosen_covariates_alone(run: Commands, tmp_path: Path) -> None:
    """--covariates chooses, the table shows what each is worth."""
    file = written(tmp_path / "b.csv", battles(600))
    code, out, _ = run("battles", "rate", file, "--method", "style", "--covariates", "length,position")
    assert code == 0
    assert "rating points that the answer shown first gains" in out
    assert "bold" not in out


def test_the_order_column_says_the_position(run: Commands, tmp_path: Path) -> None:
    """Without `position`, `order` of the battle files says which answer was shown first."""
    rows = battles(600)
    words = {"a": "ab", "b": "ba", "both": "both"}
    renamed = [
        {name: value for name, value in row.items() if name != "position"} | {"order": words[row["position"]]}
        for row in rows
    ]
    outs = [
        run("battles", "rate", written(tmp_path / f"{place}.csv", kind), "--method", "style", "--json")[1]
        for place, kind in enumerate((rows, renamed))
    ]
    assert outs[0] == outs[1]


def test_missing_columns_are_named(run: Commands, tmp_path: Path) -> None:
    """A column that a chosen covariate needs, or any at all, is asked for by name."""
    plain = [{name: value for name, value in row.items() if name not in COLUMNS} for row in battles(30)]
    code, _, err = run("battles", "rate", written(tmp_path / "p.csv", plain), "--method", "style")
    assert code == 1
    assert all(name in err for name in COLUMNS)
    half = [row | {"a_bold": 1} for row in plain]
    file = written(tmp_path / "h.csv", half)
    for options in ((), ("--covariates", "bold")):
        code, _, err = run("battles", "rate", file, "--method", "style", *options)
        assert (code, "h.csv has no column b_bold" in err) == (1, True)
    assert run("battles", "rate", file, "--method", "style", "--covariates", "colour")[0] == 2
    code, _, err = run("battles", "rate", file, "--covariates", "bold")
    assert (code, "Add --method style" in err) == (1, True)


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
    """A cell that is no count, mark or side is named with row and column; plain ratings pass it over."""
    rows = battles(60)
    rows[2] |= cell
    file = written(tmp_path / "b.csv", rows)
    code, _, err = run("battles", "rate", file, "--method", "style", "--strict")
    assert (code, said in err) == (1, True)
    code, _, err = run("battles", "rate", file, "--method", "style")
    assert (code, said in err) == (0, True)
    assert run("battles", "rate", file, "--bootstrap", "20")[0] == 0


def test_battles_without_a_value_are_counted(run: Commands, tmp_path: Path) -> None:
    """An empty cell leaves its battle out, and the number is said."""
    rows = battles(300)
    for row in rows[:7]:
        row["b_lists"] = ""
    file = written(tmp_path / "b.csv", rows)
    code, _, err = run("battles", "rate", file, "--method", "style")
    assert code == 0
    assert "left out: 7 battles (an empty cell among" in err
    code, _, err = run("battles", "rate", file, "--method", "style", "--covariates", "length")
    assert (code, "left out" in err) == (0, False)


def test_a_system_left_out_takes_its_battles_along(run: Commands, tmp_path: Path) -> None:
    """--without and --anchor go with style control; an unknown anchor is named."""
    file = written(tmp_path / "b.csv", battles(600))
    options = ("--method", "style", "--without", "x", "--anchor", "y=1200", "--json")
    found = json.loads(run("battles", "rate", file, *options)[1])
    assert {row["system"] for row in found["ratings"]} == {"y", "z"}
    assert next(row["rating"] for row in found["ratings"] if row["system"] == "y") == 1200
    code, _, err = run("battles", "rate", file, "--method", "style", "--anchor", "nobody=1000")
    assert (code, "nobody took part in no battle" in err) == (1, True)


def test_help_lists_every_column(run: Commands) -> None:
    """E10: the help of the command names the columns that style control reads."""
    assert all(name in run("battles", "rate", "--help")[1] for name in COLUMNS)


def test_a_covariate_that_decides_every_battle_is_refused(run: Commands, tmp_path: Path) -> None:
    """If the longer answer wins every battle the command says so in place of ratings."""
    rows = battles(300)
    words = {1: "model_a", 0: "tie", -1: "model_b"}
    for row in rows:
        row["winner"] = words[int(np.sign(row["a_length"] - row["b_length"]))]
    file = written(tmp_path / "b.jsonl", rows)
    asked = ("battles", "rate", file, "--method", "style", "--covariates")
    code, out, err = run(*asked, "length,position")
    assert (code, out) == (1, "")
    assert "under control for length have no finite values" in " ".join(err.split())
    assert run(*asked, "bold")[0] == 0
