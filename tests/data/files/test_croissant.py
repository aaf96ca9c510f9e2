"""Croissant metadata, held to the reference implementation of MLCommons."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import mlcroissant as mlc
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from data.files.croissant import DataField, DataFile, DataTable, DataType, Metadata

ROWS = [{"system": "a, quoted", "wins": 3, "rate": 0.5}, {"system": "b", "wins": 4, "rate": 0.25}]
FIELDS = (
    DataField(name="system", description="Its name."),
    DataField(name="wins", data_type=DataType.INTEGER),
    DataField(name="rate", data_type=DataType.FLOAT),
)


def _written(path: Path) -> Path:
    if path.suffix == ".csv":
        with path.open("w", newline="") as text:
            writer = csv.DictWriter(text, list(ROWS[0]))
            writer.writeheader()
            writer.writerows(ROWS)
    elif path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    else:
        pq.write_table(pa.Table.from_pylist(ROWS), path)
    return path


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.filterwarnings("default")  # the library's own
def test_rows_of_every_kind_of_file_are_read_through_the_metadata(tmp_path: Path, ending: str) -> None:
    """The reference implementation finds no error, checks the file's hash, and reads typed rows."""
    path = _written(tmp_path / f"rows.{ending}")
    metadata = Metadata(
        name="board",
        title="A board",
        description="Standings of a round.",
        licence="https://creativecommons.org/licenses/by/4.0/",
        url="https://arena.example/?board=board",
        version="1.0.0",
        published="2026-11-22",
        creators=["The arena"],
        keywords=["evaluation"],
        cite_as="@misc{board}",
        language="en",
        files=[DataFile.of(path, description="Everything.")],
        tables=[
            DataTable(name="rows", file=path.name, fields=FIELDS, description="A line each.", key=["system"])
        ],
    )
    place = tmp_path / "croissant.json"
    place.write_text(json.dumps(metadata.as_json()))
    dataset = mlc.Dataset(jsonld=place)
    assert not dataset.metadata.ctx.issues.errors
    assert not dataset.metadata.ctx.issues.warnings
    rows = list(dataset.records("rows"))
    assert [{name.removeprefix("rows/"): value for name, value in row.items()} for row in rows] == [
        {**row, "system": str(row["system"]).encode()} for row in ROWS
    ]


def test_what_is_not_known_is_left_out() -> None:
    """Metadata names nothing that nobody said: an empty field is a claim to its readers."""
    whole = Metadata(name="set", title="A set", description="d", licence="CC0-1.0").as_json()
    assert {"url", "version", "creator", "citeAs", "inLanguage", "recordSet"}.isdisjoint(whole)
