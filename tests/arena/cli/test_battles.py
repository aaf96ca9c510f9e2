"""`arena battles` on files: notes, errors, and control for biases of a judge."""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leaderboard.formats.rows import covariate_columns
from leaderboard.vocabulary import Covariate
from tests.arena.conftest import Commands, write_lines

COLUMNS = tuple(name for covariate in Covariate for name in covariate_columns(covariate))
WORTH = 400 / np.log(10)


def written(file: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """Write battles as CSV or JSON Lines, by the suffix."""
    if file.suffix != ".csv":
        return write_lines(file, rows)
    with file.open("w", encoding="utf-8", newline="") as text:
        table = csv.DictWriter(text, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return file


def styled_battles(rows: int = 1500) -> list[dict[str, Any]]:
    """Return battles of three equal systems that length and position decide."""
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
def test_every_column_becomes_term(run: Commands, tmp_path: Path, name: str) -> None:
    file = written(tmp_path / name, styled_battles())
    report = run.json("battles", "rate", file, "--method", "style", "--json")
    assert (report["method"], report["interval"]) == ("style", "sandwich")
    terms = {row["name"]: row for row in report["coefficients"]}
    assert list(terms) == [covariate.value for covariate in Covariate]
    assert terms["position"]["lower"] <= 0.6 * WORTH <= terms["position"]["upper"]
    assert terms["length"]["lower"] > 0
    assert terms["bold"]["lower"] < 0 < terms["bold"]["upper"]
    assert report["left_out"] == []
    assert {row["system"] for row in report["ratings"]} == {"x", "y", "z"}


def test_missing_columns_are_reported(run: Commands, tmp_path: Path) -> None:
    plain = [
        {name: value for name, value in row.items() if name not in COLUMNS} for row in styled_battles(30)
    ]
    err = run.fails("battles", "rate", written(tmp_path / "p.csv", plain), "--method", "style")
    assert all(name in err for name in COLUMNS)
    half = [row | {"a_bold": 1} for row in plain]
    file = written(tmp_path / "h.csv", half)
    for options in ((), ("--covariates", "bold")):
        assert "h.csv has no column b_bold" in run.fails(
            "battles", "rate", file, "--method", "style", *options
        )
    run.fails("battles", "rate", file, "--method", "style", "--covariates", "colour", code=2)
    assert "Add --method style" in run.fails("battles", "rate", file, "--covariates", "bold")


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ({"a_bold": "-1"}, 'row 3 (line 4), column "a_bold"'),
        ({"b_length": "many"}, 'column "b_length"'),
        ({"position": "left"}, '"a", "b" or "both" is expected'),
    ],
)
def test_invalid_cells_are_reported(run: Commands, tmp_path: Path, cell: dict[str, str], said: str) -> None:
    rows = styled_battles(60)
    rows[2] |= cell
    file = written(tmp_path / "b.csv", rows)
    assert said in run.fails("battles", "rate", file, "--method", "style", "--strict")
    assert said in run.stderr("battles", "rate", file, "--method", "style")
    run.done("battles", "rate", file, "--bootstrap", "20")


def test_battles_without_value_are_counted(run: Commands, tmp_path: Path) -> None:
    rows = styled_battles(300)
    for row in rows[:7]:
        row["b_lists"] = ""
    file = written(tmp_path / "b.csv", rows)
    words = ("battles", "rate", file, "--method", "style")
    assert "left out: 7 battles (an empty cell among" in run.stderr(*words)
    assert "left out" not in run.stderr(*words, "--covariates", "length")


def test_excluded_system_removes_its_battles(run: Commands, tmp_path: Path) -> None:
    file = written(tmp_path / "b.csv", styled_battles(600))
    options = ("--method", "style", "--without", "x", "--anchor", "y=1200", "--json")
    report = run.json("battles", "rate", file, *options)
    assert {row["system"] for row in report["ratings"]} == {"y", "z"}
    assert 1200 in [row["rating"] for row in report["ratings"] if row["system"] == "y"]
    assert "absent has no battle" in run.fails(
        "battles", "rate", file, "--method", "style", "--anchor", "absent=1000"
    )


def test_output_is_independent_of_row_order(run: Commands, tmp_path: Path) -> None:
    """Styles are separate columns; otherwise any row order gives the same table."""
    rows, said = styled_battles(120), set()
    for name, each in (("one", rows), ("other", random.Random(9).sample(rows, len(rows)))):
        path = written(tmp_path / f"{name}.jsonl", each)
        said.add(run.done("battles", "rate", path, "--method", "style", "--json"))
    assert len(said) == 1


@pytest.mark.parametrize("command", ["rate", "winrates"])
def test_commands_print_notes_of_file(run: Commands, tmp_path: Path, command: str) -> None:
    columns = ("model_a", "model_b", "winner")
    rows = [
        {name: row[name] for name in columns} | {"anony": at >= 10}
        for at, row in enumerate(styled_battles(60))
    ]
    messages = run.stderr("battles", command, written(tmp_path / "b.jsonl", rows))
    assert "every battle counts as a separate question" in messages
    assert "left out: 10 records" in messages


def test_name_with_line_break_stays_on_one_row(run: Commands, tmp_path: Path) -> None:
    renamed = [
        {name: "x\nv" if value == "x" else value for name, value in row.items()} for row in styled_battles(60)
    ]
    out = run.done("battles", "rate", written(tmp_path / "b.jsonl", renamed))
    assert len(out.strip().splitlines()) == 1 + 3
    assert "x\\nv" in out


def test_battles_cluster_by_voter_or_unnamed_question(run: Commands, tmp_path: Path) -> None:
    rows = [
        {
            "model_a": "x",
            "model_b": "y",
            "winner": "aabt"[(at * at) % 4],
            "thing": at // 9,
            "user_id": f"u{at % 9}",
        }
        for at in range(90)
    ]
    rows = [row | {"winner": str(row["winner"]).replace("t", "tie")} for row in rows]
    file = written(tmp_path / "b.csv", rows)
    assert "values repeat in 'thing'" in run.fails("battles", "rate", file)
    by_voter = run.json("battles", "rate", file, "--cluster", "voter", "--json")
    named = written(tmp_path / "n.csv", [row | {"question_id": row["user_id"]} for row in rows])
    assert by_voter == run.json("battles", "rate", named, "--json") | {"cluster": "voter"}


def test_check_and_compare_tools_explain_differences(run: Commands) -> None:
    file = Path(__file__).parents[2] / "golden/battles/undefeated.csv"
    assert "king" in run.done("battles", "check", file).splitlines()[0]
    rows = run.json("battles", "check", file, "--json")
    assert [row["rule"] for row in rows][:3] == ["undefeated", "ties", "weights"]
    messages = run.stderr("battles", "compare-tools", file)
    report = run.json("battles", "compare-tools", file, "--json")
    absent = [name for name, version in report["versions"].items() if version is None]
    assert [name for name in report["versions"] if f"{name} is not installed" in messages] == absent
    assert "alpaca_eval is not compared" in messages
    assert list(report["boards"]) == ["here", *(name for name in report["versions"] if name not in absent)]
    rates = {row["system"]: row["rating"] for row in run.json("battles", "rate", file, "--json")["ratings"]}
    assert {system: row["rating"] for system, row in report["boards"]["here"].items()} == rates
    assert "[1]" in run.done("battles", "compare-tools", file)
