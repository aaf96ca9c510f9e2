"""Every name of a column, in every container, by every road: sets, submissions, contexts and items."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data.files.labelled_pairs import read_items
from data.files.question_sets.registry import load_set
from data.files.tables.columns import NAMES, Column
from data.files.text_files import ReadLimits
from data.models import Question, QuestionSet
from submissions.check import check_answers, read_answers
from submissions.context_files import read_contexts
from submissions.limits import IntakeLimits

QUESTIONS = ("What is rain?", "What is snow?")
ANSWERS = ("Water, “falling”.", "Frozen; it's\nwhite.")
PASSAGES = [{"id": "0", "text": "zero"}, {"id": "7", "text": "seven"}]
Rows = Sequence[Mapping[str, Any]]


@pytest.fixture(scope="module")
def asked() -> QuestionSet:
    questions = tuple(
        Question(id=str(at + 1), domain="d", question=text) for at, text in enumerate(QUESTIONS)
    )
    return QuestionSet(name="s", title="S", domains={"d": "D"}, questions=questions)


def _csv(rows: Rows, delimiter: str = ",", end: str = "\r\n", first: str = "") -> bytes:
    text = io.StringIO(newline="")
    text.write(first)
    table = csv.writer(text, delimiter=delimiter, lineterminator=end)
    table.writerow(rows[0])
    for row in rows:
        table.writerow([json.dumps(cell) if isinstance(cell, list) else cell for cell in row.values()])
    return text.getvalue().encode()


def _table(rows: Rows) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([dict(row) for row in rows]), sink)
    return sink.getvalue()


def _views(rows: Rows) -> bytes:
    table = pa.Table.from_pylist([dict(row) for row in rows])
    texts = [
        table[name].cast(pa.string_view()) if pa.types.is_string(table[name].type) else table[name]
        for name in table.column_names
    ]
    sink = io.BytesIO()
    views = pa.table(dict(zip(table.column_names, texts, strict=True)))
    with pa.ipc.new_file(sink, views.schema) as writer:
        writer.write_table(views)
    return sink.getvalue()


def _jsonl(rows: Rows) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _excel(rows: Rows) -> bytes:
    sink = io.BytesIO()
    cells = [
        {name: json.dumps(cell) if isinstance(cell, list) else cell for name, cell in row.items()}
        for row in rows
    ]
    pd.DataFrame(cells).to_excel(sink, index=False)
    return sink.getvalue()


CONTAINERS: Mapping[str, Callable[[Rows], bytes]] = {
    "comma": _csv,
    "semicolon": lambda rows: b"\xef\xbb\xbf" + _csv(rows, ";", "\n"),
    "tab": lambda rows: _csv(rows, "\t"),
    "sep=": lambda rows: _csv(rows, ";", first="sep=;\r\n"),
    "carriage returns": lambda rows: _csv([{**row, **_one_line(row)} for row in rows], end="\r"),
    "jsonl": _jsonl,
    "array": lambda rows: json.dumps(rows, indent=1).encode(),
    "columns": lambda rows: pd.DataFrame(rows).to_json().encode(),
    "split": lambda rows: pd.DataFrame(rows).to_json(orient="split").encode(),
    "table": lambda rows: pd.DataFrame(rows).to_json(orient="table").encode(),
    "results": lambda rows: json.dumps({"model": "m", "results": rows}).encode(),
    "parquet": _table,
    "arrow views": _views,
    "excel": _excel,
    "gzip": lambda rows: gzip.compress(_jsonl(rows)),
    "bzip2": lambda rows: bz2.compress(_csv(rows)),
    "zstd": lambda rows: pa.compress(_csv(rows), codec="zstd", asbytes=True),
}
# `text` is also what a column of questions without another name may be called, and `id` of ids.
PAIRS = [(question, answer) for question in NAMES[Column.QUESTION] for answer in NAMES[Column.ANSWER]]


def _one_line(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: cell.replace("\n", " ") for name, cell in row.items() if isinstance(cell, str)}


def _answers(rows: Rows, path: Path, asked: QuestionSet, container: str) -> list[tuple[str, str]]:
    path.write_bytes(CONTAINERS[container](rows))
    result = check_answers(path, asked)
    assert result.errors == 0, result.problems
    return [(one.question_id, one.answer.replace("\n", " ")) for one in read_answers(path, asked)]


EXPECTED = [("1", ANSWERS[0]), ("2", ANSWERS[1].replace("\n", " "))]


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_pair_of_headers_is_read_alike(container: str, asked: QuestionSet, tmp_path: Path) -> None:
    for question, answer in PAIRS if container in {"comma", "jsonl", "parquet"} else PAIRS[::9]:
        rows = [{question: asks, answer: says} for asks, says in zip(QUESTIONS, ANSWERS, strict=True)]
        assert _answers(rows, tmp_path / "file", asked, container) == EXPECTED, (question, answer)
        items = read_items(tmp_path / "file", ReadLimits())
        assert [(one.question, one.answer.replace("\n", " ")) for one in items] == [
            (asks, says) for asks, (_, says) in zip(QUESTIONS, EXPECTED, strict=True)
        ]


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("name", ["Query ID", "question_id", "QID", "id"])
def test_ids_of_every_kind_are_one_id(container: str, name: str, asked: QuestionSet, tmp_path: Path) -> None:
    for ids in ([1, 2], ["1", "2"], [1.0, 2.0]):
        rows = [{name: key, "response": says} for key, says in zip(ids, ANSWERS, strict=True)]
        assert _answers(rows, tmp_path / "file", asked, container) == EXPECTED


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("name", NAMES[Column.CONTEXTS])
def test_contexts_keep_their_ids_and_places(
    container: str, name: str, asked: QuestionSet, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    rows = [{"qid": key, name: PASSAGES} for key in ("1", "2")]
    path.write_bytes(CONTAINERS[container](rows))
    rankings = read_contexts(path, asked)
    assert [[(one.id, one.text) for one in ranking.contexts] for ranking in rankings] == [
        [("0", "zero"), ("7", "seven")]
    ] * 2
    path.write_bytes(CONTAINERS[container]([{**row, "output": "A"} for row in rows]))
    assert [[one.id for one in answer.contexts] for answer in read_answers(path, asked)] == [["0", "7"]] * 2


@pytest.mark.parametrize("container", CONTAINERS)
def test_sets_are_read_from_every_container(container: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    for question, reference, domain in zip(
        NAMES[Column.QUESTION], NAMES[Column.REFERENCE], [*NAMES[Column.DOMAIN]] * 2, strict=False
    ):
        rows = [
            {"id": key, question: asks, reference: "So.", domain: "x", "documents": PASSAGES}
            for key, asks in zip((10.0, 20.0), QUESTIONS, strict=True)
        ]
        path.write_bytes(CONTAINERS[container](rows))
        loaded = load_set(path, name="s").questions.questions
        assert [(one.id, one.question, one.reference, one.domain) for one in loaded] == [
            ("10", QUESTIONS[0], "So.", "x"),
            ("20", QUESTIONS[1], "So.", "x"),
        ]
        assert [passage.id for passage in loaded[0].passages] == ["0", "7"]


def test_the_rows_of_a_system_are_read_from_long_and_wide_tables(asked: QuestionSet, tmp_path: Path) -> None:
    long, wide = tmp_path / "long.csv", tmp_path / "wide.csv"
    names = ("meta-llama/Llama-3-70B", "gpt-4o (2024-08)")
    long.write_bytes(
        _csv([{"model": name, "prompt": q, "response": name} for q in QUESTIONS for name in names])
    )
    wide.write_bytes(_csv([{"prompt": q, **{name: name for name in names}} for q in QUESTIONS]))
    for path in (long, wide):
        assert check_answers(path, asked).errors == 1
        for name in names:
            limits = IntakeLimits(system=name)
            assert [one.answer for one in read_answers(path, asked, limits=limits)] == [name, name]
    assert check_answers(long, asked).problems[0].message == (
        "long.csv has the answers of 2 systems: 'meta-llama/Llama-3-70B', 'gpt-4o (2024-08)'."
    )


def _polars(frame: pd.DataFrame) -> Any:  # noqa: ANN401 - of a package that may not be there
    import polars as pl  # noqa: PLC0415 - as said

    return pl.DataFrame(frame.to_dict("list"))


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(
        st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=20).filter(str.strip),
        min_size=2,
        max_size=2,
    ),
    style=st.sampled_from(["pandas", "r", "excel", "json", "records", "workbook", "polars", "polars json"]),
)
def test_what_tools_write_is_what_is_read(
    texts: list[str], style: str, asked: QuestionSet, tmp_path: Path
) -> None:
    if style.startswith("polars"):
        pytest.importorskip("polars", reason="polars is not installed")
    frame = pd.DataFrame({"question_id": [1, 2], "answer": texts})
    writers: Mapping[str, Callable[[], str | bytes]] = {
        "pandas": lambda: frame.to_csv(index=False),
        "r": lambda: frame.to_csv(quoting=csv.QUOTE_NONNUMERIC),
        "excel": lambda: "\ufeff" + frame.to_csv(index=False, sep=";", lineterminator="\r\n"),
        "json": frame.to_json,
        "records": lambda: frame.to_json(orient="records", force_ascii=False),
        "workbook": lambda: _excel([{"question_id": at, "answer": text} for at, text in enumerate(texts, 1)]),
        "polars": lambda: _polars(frame).write_csv(),
        "polars json": lambda: _polars(frame).write_ndjson(),
    }
    path = tmp_path / "file"
    written = writers[style]()
    path.write_bytes(written.encode() if isinstance(written, str) else written)
    read = read_answers(path, asked, limits=IntakeLimits(keep_na=True))
    assert [one.answer for one in read] == texts
