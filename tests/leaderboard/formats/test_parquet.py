"""Battles in Parquet, read by column and by row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.errors import FileFormatError, RecordError
from leaderboard.formats.parquet import read_columns, write_table
from leaderboard.formats.reading import read_battles
from leaderboard.formats.rows import Context
from leaderboard.formats.writing import convert
from tests.battle_tables import rows_of

ROWS = [
    {"question_id": "q1", "domain": "d", "model_a": "x", "model_b": "y", "winner": "model_a"},
    {"question_id": "q2", "domain": "e", "model_a": "y", "model_b": "z", "winner": "tie (bothbad)"},
    {"question_id": "q2", "domain": "e", "model_a": "x", "model_b": "z", "winner": "tie"},
]
Row = dict[str, object]


def written(path: Path, rows: list[Row]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


name = st.sampled_from(["a", "b", "c", "é", "name with, comma"])


@st.composite
def battles(draw: st.DrawFn) -> list[Row]:
    soft, weighted = draw(st.booleans()), draw(st.booleans())
    rows: list[Row] = []
    for _ in range(draw(st.integers(1, 12))):
        first, second = draw(st.permutations(["a", "b", "c", "é"]))[:2]
        row: Row = {"question_id": draw(name), "domain": draw(name), "model_a": first, "model_b": second}
        row["winner"] = draw(st.sampled_from(["model_a", "model_b", "tie", "tie (bothbad)"]))
        if soft:
            soft_scores = {"model_a": st.floats(0.51, 1), "model_b": st.floats(0, 0.49)}
            row["score"] = draw(st.none() | soft_scores.get(str(row["winner"]), st.floats(0.25, 0.75)))
        if weighted:
            row["weight"] = draw(st.floats(0.5, 9))
        rows.append(row)
    return rows


@given(battles())
def test_columns_and_rows_give_same_battles(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Row]
) -> None:
    folder = tmp_path_factory.mktemp("battles")
    plain = written(folder / "plain.parquet", rows)
    named = written(folder / "named.parquet", [{**row, "judge": "j"} for row in rows])
    at_once = read_columns([plain])
    assert at_once is not None
    assert read_columns([named]) is None
    assert rows_of(read_battles(named).table) == rows_of(read_battles(plain).table)
    assert sorted(rows_of(at_once)) == sorted(rows_of(read_battles(plain).table))


@given(battles(), st.booleans())
def test_written_battles_round_trip_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Row], named: bool
) -> None:
    if not named:
        rows = [{key: cell for key, cell in row.items() if key != "question_id"} for row in rows]
    folder = tmp_path_factory.mktemp("battles")
    table = read_battles(written(folder / "in.parquet", rows)).table
    write_table(table, folder / "out.parquet")
    convert(folder / "in.parquet", folder / "lines.jsonl")
    convert(folder / "lines.jsonl", folder / "again.parquet")
    convert(written(folder / "reversed.parquet", rows[::-1]), folder / "reversed.csv")
    for file in ("out.parquet", "lines.jsonl", "again.parquet", "reversed.parquet", "reversed.csv"):
        assert rows_of(read_battles(folder / file).table) == rows_of(table)


def test_folder_of_parts_is_one_table(tmp_path: Path) -> None:
    for at, row in enumerate(ROWS):
        written(tmp_path / f"{at}.parquet", [dict(row)])
    table = read_battles(tmp_path).table
    assert [row[:4] for row in rows_of(table)] == [
        ("q1", "d", "x", "y"),
        ("q2", "e", "x", "z"),
        ("q2", "e", "y", "z"),
    ]
    assert np.bincount(table.winner, minlength=3).tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    "change", [{"winner": "model_c"}, {"model_b": "x"}, {"model_a": None}, {"winner": None}]
)
def test_invalid_value_error_names_row(tmp_path: Path, change: Row) -> None:
    file = written(tmp_path / "b.parquet", [dict(ROWS[0]), dict(ROWS[1]), {**ROWS[2], **change}])
    with pytest.raises((FileFormatError, RecordError), match=r"b\.parquet.*row 3"):
        read_battles(file, context=Context(strict=True))
    read = read_battles(file)
    assert (len(read.table), sum(read.left_out.values())) == (2, 1)


def test_truncated_file_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path / "b.parquet", [dict(row) for row in ROWS])
    file.write_bytes(file.read_bytes()[:200])
    with pytest.raises(FileFormatError, match="cut off or damaged"):
        read_battles(file)
