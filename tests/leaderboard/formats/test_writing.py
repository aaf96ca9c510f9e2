"""Battle files round-trip through every format."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data.errors import FileFormatError
from data.files.zip_files import atomic_text
from leaderboard.formats.reading import BattleFile, read_battles, read_chunks
from leaderboard.formats.rows import BattleRows, Context, Place
from leaderboard.formats.writing import convert, write_chunks
from tests.data.conftest import write_lines

MADE = BattleRows(
    place=Place(file="made", first_row=1),
    question_id=["q"],
    domain=["fiqa"],
    model_a=["x"],
    model_b=["y"],
    winner=["model_a"],
    score=[0.6],
    judge=["lexical"],
)


def test_write_refuses_unsupported_values_and_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="cannot have the score"):
        write_chunks([MADE], tmp_path / "out.json", write_as="rag-qa-arena-eval")
    with pytest.raises(FileFormatError, match="cannot be written as CSV"):
        write_chunks([MADE], tmp_path / "out.csv", write_as="alpaca-eval")
    assert list(tmp_path.iterdir()) == []


def test_suffix_selects_format(tmp_path: Path) -> None:
    write_chunks([MADE], tmp_path / "out.JSON")
    assert [row["winner"] for row in json.loads((tmp_path / "out.JSON").read_text())] == ["model_a"]
    write_chunks([MADE], tmp_path / "out.CSV")
    assert (tmp_path / "out.CSV").read_text().startswith("question_id,domain,model_a,")
    for name in ("out.xlsx", "out", "out.parquet.gz", "out.jsonl.zst"):
        with pytest.raises(FileFormatError, match="which select the format"):
            write_chunks([MADE], tmp_path / name)
    with (
        pytest.raises(FileFormatError, match="has the suffix of a binary format"),
        atomic_text(tmp_path / "out.PDF"),
    ):
        pass
    assert {file.name for file in tmp_path.iterdir()} == {"out.JSON", "out.CSV"}


def test_conversion_reports_left_out_rows(tmp_path: Path) -> None:
    source = tmp_path / "annotations.json"
    record = {"instruction": "a", "generator_1": "x", "generator_2": "y", "preference": 1.2}
    source.write_text(json.dumps([record, record | {"instruction": "b", "preference": None}]))
    written = convert(source, tmp_path / "out.jsonl")
    assert written.rows == 1
    assert dict(written.left_out) == {"no preference": 1}


EVERYTHING = Context(covariates=True, further=True, named=True)
ALL_COLUMNS = {
    "b.jsonl": "native",
    "b.csv": "native",
    "b.csv.gz": "native",
    "b.parquet": "native",
    "b.json": "chatbot-arena",
    "c.json": "rag-qa-arena",
}
"""Formats with every column."""
ARENAS = {"alpaca.json": "alpaca-eval", "eval.json": "rag-qa-arena-eval", "hard.jsonl": "arena-hard"}
Record = dict[str, object]
QUICK = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=12, deadline=None)


def content(path: Path, kind: str) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = []
    for chunk in read_chunks(path, kind, context=EVERYTHING):
        columns = chunk.columns
        for cells in zip(*columns.values(), strict=True):
            row = {name: cell for name, cell in zip(columns, cells, strict=True) if cell not in (None, "")}
            rows.append({name: str(cell) for name, cell in row.items()})
    return sorted(rows, key=lambda row: sorted(row.items()))


def same(first: BattleFile, second: BattleFile) -> bool:
    pairs = [
        (getattr(first.table, name), getattr(second.table, name)) for name in ("a", "b", "winner", "question")
    ]
    return all(np.array_equal(*pair) for pair in pairs) and np.allclose(first.table.share, second.table.share)


@st.composite
def records(draw: st.DrawFn) -> list[Record]:
    rows: list[Record] = []
    for number in range(draw(st.integers(1, 6))):
        first, second = draw(st.permutations(["=x", "y, z", "'-é", "w\nv"]))[:2]
        row: Record = {
            "question_id": draw(st.sampled_from(["1", "q 2"])),
            "model_a": first,
            "model_b": second,
        }
        row["winner"], score = draw(
            st.sampled_from([("model_a", 0.75), ("model_b", 0.125), ("tie", 0.5), ("tie (bothbad)", 0.5)])
        )
        optional = {"score": score, "weight": 3.0, "domain": "d", "judge": "@j", "order": "ba", "repeat": "2"}
        optional |= {"wording": "w", "language": "-de", "a_length": 7, "position": "b", "anony": False}
        for name, value in optional.items():
            if draw(st.booleans()):
                row[name] = value
        rows.append(row | {"tstamp": number + 0.5} if draw(st.booleans()) else row)
    return rows


@pytest.mark.parametrize("last", ALL_COLUMNS)
@pytest.mark.parametrize("first", ALL_COLUMNS)
@QUICK
@given(rows=records())
def test_lossless_formats_round_trip(tmp_path: Path, first: str, last: str, rows: list[Record]) -> None:
    source = write_lines(tmp_path / "source.jsonl", *rows)
    middle, end = tmp_path / f"1{first}", tmp_path / f"2{last}"
    there = convert(source, middle, write_as=ALL_COLUMNS[first])
    back = convert(middle, end, read_as=ALL_COLUMNS[first], write_as=ALL_COLUMNS[last])
    assert (there.dropped, back.dropped, back.rows) == ((), (), len(rows))
    assert content(end, ALL_COLUMNS[last]) == content(source, "native")


FIXED: Record = {"domain": "fiqa", "model_a": "m", "model_b": "base", "judge": "j", "order": "ab"}


@pytest.mark.parametrize("through", ARENAS)
@pytest.mark.parametrize("back", ALL_COLUMNS)
def test_plain_verdicts_round_trip_through_arena_formats(tmp_path: Path, through: str, back: str) -> None:
    words = ["model_a", "model_b", "tie"]
    rows: list[Record] = [FIXED | {"question_id": f"q{at}", "winner": words[at % 3]} for at in range(6)]
    source = write_lines(tmp_path / "source.jsonl", *rows)
    written_ = convert(source, tmp_path / through, write_as=ARENAS[through])
    convert(tmp_path / through, tmp_path / back, read_as=ARENAS[through], write_as=ALL_COLUMNS[back])
    assert written_.dropped == ()
    assert same(read_battles(tmp_path / back, ALL_COLUMNS[back]), read_battles(source))


@pytest.mark.parametrize(
    ("through", "named"),
    [
        ("alpaca.json", {"1 verdicts 'tie (bothbad)', which became ties"}),
        ("eval.json", {"a_length", "language", "repeat", "1 verdicts 'tie (bothbad)', which became ties"}),
        ("hard.jsonl", {"a_length", "language", "repeat", "1 verdicts 'tie (bothbad)', which became ties"}),
    ],
)
def test_conversion_reports_dropped_values(tmp_path: Path, through: str, named: set[str]) -> None:
    row: Record = {"question_id": "q", "model_a": "m", "model_b": "base", "winner": "both_bad", "order": "ab"}
    row |= {"repeat": 2, "a_length": 3, "language": "de"}
    result = convert(write_lines(tmp_path / "s.jsonl", row), tmp_path / through, write_as=ARENAS[through])
    assert set(result.dropped) == named


@pytest.mark.parametrize("name", ["b.csv", "b.parquet", "b.json"])
def test_late_columns_are_written(tmp_path: Path, name: str) -> None:
    plain: Record = {"question_id": "q", "model_a": "x", "model_b": "y", "winner": "tie"}
    rows = [plain] * 5000 + [plain | {"repeat": "2", "wording": "w", "turn": 1}]
    convert(write_lines(tmp_path / "s.jsonl", *rows), tmp_path / name, write_as=ALL_COLUMNS[name])
    last = content(tmp_path / name, ALL_COLUMNS[name])[0]
    assert {"repeat": "2", "wording": "w", "turn": "1"}.items() <= {
        k: v.removesuffix(".0") for k, v in last.items()
    }.items()
    file = read_battles(tmp_path / name, ALL_COLUMNS[name])
    assert len(file.table) == 5001


def test_nested_columns_are_written_only_to_json(tmp_path: Path) -> None:
    row: Record = {"model_a": "x", "model_b": "y", "winner": "tie", "conversation_a": [{"role": "user"}]}
    source = write_lines(tmp_path / "s.jsonl", row)
    assert convert(source, tmp_path / "b.jsonl").dropped == ()
    assert json.loads((tmp_path / "b.jsonl").read_text()) == row
    for name in ("b.csv", "b.parquet"):
        assert convert(source, tmp_path / name).dropped == ("conversation_a",)


def test_csv_cells_are_escaped(tmp_path: Path) -> None:
    names = ["=1+1", "'=1+1", "-x", "@y", "'z"]
    rows: list[Record] = [{"model_a": name, "model_b": "base", "winner": "tie"} for name in names]
    convert(write_lines(tmp_path / "s.jsonl", *rows), tmp_path / "b.csv")
    with (tmp_path / "b.csv").open(newline="") as file:
        cells = [row[0] for row in csv.reader(file)][1:]
    assert cells == ["'=1+1", "''=1+1", "'-x", "'@y", "'z"]
    assert read_battles(tmp_path / "b.csv").table.systems == tuple(sorted([*names, "base"]))
