"""Every column name, in every container, for sets, submissions, contexts and items."""

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
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data.files.labelled_pairs import read_items
from data.files.question_sets.registry import load_set
from data.files.tables.columns import NAMES, Column
from data.files.text_files import ReadLimits
from data.text import is_blank
from submissions.answer_tables import read_answer_table
from submissions.check import check_answers, read_answers
from submissions.context_files import read_contexts
from submissions.limits import IntakeLimits
from tests.submissions.conftest import as_jsonl, as_parquet, asked_of

QUESTIONS = ("What is rain?", "What is snow?")
ANSWERS = ("Water, “falling”.", "Frozen; it's\nwhite.")
PASSAGES = [{"id": "0", "text": "zero", "title": "T"}, {"id": "7", "text": "seven", "title": ""}]
Rows = Sequence[Mapping[str, Any]]
ASKED = asked_of({str(at): text for at, text in enumerate(QUESTIONS, 1)})


def _csv(rows: Rows, delimiter: str = ",", end: str = "\r\n", first: str = "") -> bytes:
    text = io.StringIO(newline="")
    text.write(first)
    table = csv.writer(text, delimiter=delimiter, lineterminator=end)
    table.writerow(rows[0])
    for row in rows:
        table.writerow([json.dumps(cell) if isinstance(cell, list) else cell for cell in row.values()])
    return text.getvalue().encode()


def _views(rows: Rows) -> bytes:
    table = pa.Table.from_pylist([dict(row) for row in rows])
    fields = [
        field.with_type(pa.string_view()) if pa.types.is_string(field.type) else field
        for field in table.schema
    ]
    views = table.cast(pa.schema(fields))
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, views.schema) as writer:
        writer.write_table(views)
    return sink.getvalue()


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
    "index": lambda rows: pd.DataFrame(rows).to_csv().encode(),
    "jsonl": as_jsonl,
    "array": lambda rows: json.dumps(rows, indent=1).encode(),
    "columns": lambda rows: pd.DataFrame(rows).to_json().encode(),
    "split": lambda rows: pd.DataFrame(rows).to_json(orient="split").encode(),
    "table": lambda rows: pd.DataFrame(rows).to_json(orient="table").encode(),
    "results": lambda rows: json.dumps({"model": "m", "results": rows}).encode(),
    "parquet": as_parquet,
    "arrow views": _views,
    "excel": _excel,
    "gzip": lambda rows: gzip.compress(as_jsonl(rows)),
    "bzip2": lambda rows: bz2.compress(_csv(rows)),
    "zstd": lambda rows: pa.compress(_csv(rows), codec="zstd", asbytes=True),
}
# A column of questions may also be called `text`, and ids `id`.
PAIRS = [(question, answer) for question in NAMES[Column.QUESTION] for answer in NAMES[Column.ANSWER]]


def _one_line(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: cell.replace("\n", " ") for name, cell in row.items() if isinstance(cell, str)}


def _answers(rows: Rows, path: Path, container: str) -> list[tuple[str, str]]:
    path.write_bytes(CONTAINERS[container](rows))
    result = check_answers(path, ASKED)
    assert result.errors == 0, result.problems
    return [(answer.question_id, answer.answer.replace("\n", " ")) for answer in read_answers(path, ASKED)]


EXPECTED = [("1", ANSWERS[0]), ("2", ANSWERS[1].replace("\n", " "))]


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_pair_of_headers_is_read(container: str, tmp_path: Path) -> None:
    for question, answer in PAIRS if container in {"comma", "jsonl", "parquet"} else PAIRS[::9]:
        rows = [{question: asks, answer: says} for asks, says in zip(QUESTIONS, ANSWERS, strict=True)]
        assert _answers(rows, tmp_path / "file", container) == EXPECTED, (question, answer)
        table = read_answer_table(tmp_path / "file", system="mine").systems["mine"]
        for read in (read_items(tmp_path / "file", ReadLimits()), table):
            assert [(answer.question, str(answer.answer).replace("\n", " ")) for answer in read] == [
                (asks, says) for asks, (_, says) in zip(QUESTIONS, EXPECTED, strict=True)
            ]


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("name", ["Query ID", "question_id", "QID", "id"])
def test_ids_of_every_type_are_normalised(container: str, name: str, tmp_path: Path) -> None:
    figures = {"tokens": 3, "usd": 0.0, "milliseconds": 6.5}
    for ids in ([1, 2], ["1", "2"], [1.0, 2.0]):
        rows = [{name: key, "response": says, **figures} for key, says in zip(ids, ANSWERS, strict=True)]
        assert _answers(rows, tmp_path / "file", container) == EXPECTED
        read = read_answers(tmp_path / "file", ASKED)
        assert [(answer.tokens, answer.usd, answer.milliseconds) for answer in read] == [(3, 0.0, 6.5)] * 2


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("name", NAMES[Column.CONTEXTS])
def test_contexts_keep_ids_and_places(container: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    rows = [{"qid": key, name: PASSAGES} for key in ("1", "2")]
    path.write_bytes(CONTAINERS[container](rows))
    rankings = read_contexts(path, ASKED)
    assert [
        [(passage.id, passage.text, passage.title) for passage in ranking.contexts] for ranking in rankings
    ] == [[("0", "zero", "T"), ("7", "seven", "")]] * 2
    path.write_bytes(CONTAINERS[container]([{**row, "output": "A"} for row in rows]))
    assert [[passage.id for passage in answer.contexts] for answer in read_answers(path, ASKED)] == [
        ["0", "7"]
    ] * 2


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
        assert [
            (question.id, question.question, question.reference, question.domain) for question in loaded
        ] == [("10", QUESTIONS[0], "So.", "x"), ("20", QUESTIONS[1], "So.", "x")]
        assert [passage.id for passage in loaded[0].passages] == ["0", "7"]


def test_rows_of_system_are_read_from_long_and_wide_tables(tmp_path: Path) -> None:
    long, wide = tmp_path / "long.csv", tmp_path / "wide.csv"
    names = ("meta-llama/Llama-3-70B", "gpt-4o (2024-08)")
    long.write_bytes(
        _csv([{"model": name, "prompt": q, "response": name} for q in QUESTIONS for name in names])
    )
    wide.write_bytes(_csv([{"prompt": q, **{name: name for name in names}} for q in QUESTIONS]))
    for path in (long, wide):
        assert check_answers(path, ASKED).errors == 1
        for name in names:
            limits = IntakeLimits(system=name)
            assert [answer.answer for answer in read_answers(path, ASKED, limits=limits)] == [name, name]
    assert check_answers(long, ASKED).problems[0].message == (
        "long.csv contains the answers of 2 systems: 'meta-llama/Llama-3-70B', 'gpt-4o (2024-08)'."
    )


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(
        st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=20).filter(
            lambda text: not is_blank(text)
        ),
        min_size=2,
        max_size=2,
    ),
    container=st.sampled_from([*CONTAINERS]),
)
def test_texts_round_trip(texts: list[str], container: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    rows = [{"question_id": at, "answer": text} for at, text in enumerate(texts, 1)]
    path.write_bytes(CONTAINERS[container](rows))
    read = read_answers(path, ASKED, limits=IntakeLimits(keep_na=True))
    assert [answer.answer for answer in read] == texts
