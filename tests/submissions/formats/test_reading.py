"""Formats of answer files, detected by content."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import shutil
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data.errors import FileFormatError
from data.files.tables.columns import require_once
from data.files.tables.rows import FileFormat
from data.models import Question, QuestionSet
from submissions.check import CheckReport, check_answers, read_answers
from submissions.context_files import check_contexts
from submissions.formats.reading import RowFile
from submissions.limits import IntakeLimits
from submissions.problem_codes import Code, Findings
from tests.submissions.conftest import ENCODERS, GOOD_ROWS, QUESTIONS, Check, as_parquet, asked_of, codes_of


def test_hash_does_not_depend_on_order(check: Check) -> None:
    assert check(GOOD_ROWS[::-1]).content_hash == check(ENCODERS["csv.gz"](GOOD_ROWS)).content_hash


def test_prediction_files_are_matched_by_question_text(check: Check) -> None:
    rows = [
        {"query": f"  {question.question.upper()}\n", "pred": f"{question.id}."}
        for question in QUESTIONS.questions
    ]
    result = check(json.dumps(rows, indent=2).encode())
    assert (result.answers, result.errors) == (len(rows), 0)
    assert set(result.coverage.values()) == {1.0}


def test_repeated_question_text_is_problem(check: Check) -> None:
    same = [Question(id=f"{domain}-1", domain=domain, question="Why?") for domain in ("x", "y")]
    twins = QuestionSet(name="twins", title="T", domains={"x": "X", "y": "Y"}, questions=tuple(same))
    assert codes_of(check([{"query": "why?", "pred": "So."}], questions=twins)) == [(1, "ambiguous-question")]
    assert check([{"query": "why?", "domain": "y", "pred": "So."}], questions=twins).coverage["y"] == 1
    assert check([{"question_id": "x-1", "query": "why?", "pred": "So."}], questions=twins).errors == 0


def test_items_of_compact_array_are_numbered(check: Check) -> None:
    result = check(b'[{"question_id": "1", "answer": "Fine."}, {"question_id": "nowhere", "answer": "x"}]')
    (problem,) = (problem for problem in result.problems if problem.code == "unknown-question")
    assert problem.line == 1
    assert problem.message.startswith("Item 2: ")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.lists(st.sampled_from([*',,,""\naaü ', '""', "\r\n", '",', '"\n']), max_size=30).map("".join),
    buffer=st.sampled_from([12, 1 << 20]),
)
def test_csv_has_cells_and_lines_of_python(text: str, buffer: int, tmp_path: Path) -> None:
    path, expected = tmp_path / "a.csv", []
    path.write_text(f"question_id,answer\n{text}", encoding="utf-8", newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("data.files.text_files.BUFFER", buffer)
        with RowFile(path, IntakeLimits(), Findings(99)) as rows:
            read = [(row.line, [*row.value.values()]) for row in rows if isinstance(row.value, Mapping)]
    reader = csv.reader(text.splitlines(keepends=True), strict=True)
    while (line := reader.line_num + 2) and (cells := _next(reader)) is not None:
        if len(cells) == 2 and any(map(str.strip, cells)):
            expected.append((line, cells))
    assert read == expected


def _next(reader: Iterator[list[str]]) -> list[str] | None:
    try:
        return next(reader, None)
    except csv.Error:
        return []


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 64])
def test_array_does_not_depend_on_chunks(chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("data.files.tables.json_files.CHUNK", chunk)
    path: Path = tmp_path / "answers"
    path.write_bytes(b"\n\n" + ENCODERS["json"]([*GOOD_ROWS, {"q": 'a"],[{}\\'}]) + b"\n")
    findings = Findings(10)
    with RowFile(path, IntakeLimits(), findings) as rows:
        read = list(rows)
    expected = json.loads(path.read_bytes())
    assert [row.value for row in read] == expected
    lines = path.read_text(encoding="utf-8").split("\n")
    assert [row.line for row in read] == [place for place, line in enumerate(lines, 1) if line == "  {"]


class CountedName(str):
    """Column name that counts its comparisons."""

    __slots__ = ()
    compared: ClassVar[list[int]] = [0]
    __hash__ = str.__hash__

    def strip(self, *_: object) -> CountedName:
        return self

    def __eq__(self, other: object) -> bool:
        self.compared[0] += 1
        return str.__eq__(self, other)


def test_long_header_is_read_in_linear_time() -> None:
    names = ["question_id", "answer", *(f"c{number}" for number in range(2_000))]
    require_once([CountedName(name) for name in names])
    assert CountedName.compared[0] < 10 * len(names)


def test_repeated_columns_are_reported() -> None:
    with pytest.raises(FileFormatError, match="'a', 'b'"):
        require_once(["question_id", "answer", "b", "a", "b", "a", "a"])


GOLDEN = Path(__file__).parents[2] / "golden" / "answers"
MEBIBYTE = 1024 * 1024


@pytest.fixture
def check_table(tmp_path: Path) -> Check:
    def run(columns: dict[str, Any], **options: Any) -> CheckReport:  # noqa: ANN401 - passed on
        path = tmp_path / "table"
        pq.write_table(pa.table(columns), path)
        return check_answers(path, QUESTIONS, **options)

    return run


def codes(result: CheckReport) -> list[tuple[int, str]]:
    return [(problem.line, problem.code) for problem in result.problems if problem.severity.value == "error"]


def test_problems_of_table_name_their_row(check_table: Check) -> None:
    answers = pa.array([b"Fine.", None, b"Fine.", b"a\x00b", b"\xff\xfe", b""]).cast(pa.binary())
    unchecked = pa.Array.from_buffers(pa.string(), 6, answers.buffers())
    result = check_table({"question_id": ["1", "2", "nowhere", "3", "sci-4", "sci-5"], "answer": unchecked})
    assert codes(result) == [
        (2, "wrong-type"),
        (3, "unknown-question"),
        (4, "not-utf8"),
        (5, "not-utf8"),
        (6, "empty-answer"),
    ]
    assert {problem.message for problem in result.problems if problem.line == 3} == {
        "Row 3: Question set small has no question 'nowhere'."
    }


def test_table_of_contexts_needs_no_answers(tmp_path: Path) -> None:
    contexts = [[{"id": "d1", "text": "One."}, {"id": "d2", "text": "Two."}]]
    pq.write_table(pa.table({"question_id": ["1"], "contexts": contexts}), tmp_path / "table")
    result = check_contexts(tmp_path / "table", QUESTIONS)
    assert (result.format, result.answers, result.errors) == (FileFormat.PARQUET, 1, 0)


def test_decompression_bomb_is_refused(check_table: Check, tmp_path: Path) -> None:
    bomb = pa.DictionaryArray.from_arrays(pa.array([0] * 100_000, pa.int32()), ["x" * MEBIBYTE])
    before = pa.total_allocated_bytes()
    pool = pa.default_memory_pool()
    result = check_table({"question_id": pa.array(["1"] * 100_000), "answer": bomb})
    assert codes(result)[0] == (0, "too-large")
    assert (tmp_path / "table").stat().st_size < 2 * MEBIBYTE
    assert pool.max_memory() - before < 100 * MEBIBYTE
    # No answer has that many contexts.
    nested = pa.ListArray.from_arrays(pa.array([0, 100_000], pa.int32()), bomb)
    assert codes(check_table({"question_id": ["1"], "answer": ["So."], "contexts": nested})) == [
        (0, "too-large")
    ]


@pytest.mark.parametrize("name", ["datasets.parquet", "shards/data-00000-of-00002.arrow", "inspect.eval"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_file_reports_problems(name: str, data: st.DataObject, tmp_path: Path) -> None:
    content = bytearray((GOLDEN / name).read_bytes())
    for _ in range(data.draw(st.integers(1, 5))):
        content[data.draw(st.integers(8, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.one_of(st.just(len(content)), st.integers(9, len(content))))
    path = tmp_path / "damaged"
    path.write_bytes(bytes(content[:cut]))
    result = check_answers(path, QUESTIONS)
    assert {problem.code for problem in result.problems} <= {code.value for code in Code}
    assert all("\n" not in problem.message for problem in result.problems)


def test_column_name_in_invalid_utf8_is_refused(tmp_path: Path) -> None:
    content = bytearray((GOLDEN / "shards/data-00000-of-00002.arrow").read_bytes())
    content[736] = 128
    path = tmp_path / "damaged"
    path.write_bytes(bytes(content))
    assert [problem.code for problem in check_answers(path, QUESTIONS).problems] == ["damaged-file"]


def _zipped(path: Path, members: dict[str, bytes], **options: Any) -> Path:  # noqa: ANN401 - passed on
    path.write_bytes(_zip(members, **options))
    return path


def test_hostile_archives_are_refused(tmp_path: Path) -> None:
    good = b'{"question_id": "1", "answer": "So it is."}\n'
    inner = _zipped(tmp_path / "inner", {"a.jsonl": good}).read_bytes()
    deflated = {"compression": zipfile.ZIP_DEFLATED}
    cases: dict[str, tuple[dict[str, bytes], str]] = {
        "out": ({"../a.jsonl": good}, "bad-archive"),
        "nested": ({"a.zip": inner}, "wrong-format"),
        "excel": ({"[Content_Types].xml": b"", "xl/workbook.xml": b""}, "damaged-file"),
        "several": ({"a.jsonl": good, "b.jsonl": good}, "several-files"),
        "splits": ({"data/a.parquet": b"PAR1", "data/b.parquet": b"PAR1"}, "several-files"),
        "nothing": ({"README.md": b"Hello."}, "empty-file"),
        "state": ({"state.json": b'{"_data_files": [{"filename": "../x.arrow"}]}'}, "damaged-file"),
        "unsplit": ({"dataset_dict.json": b"{}"}, "damaged-file"),
        "datasets": (
            {
                f"{system}/{file}": b"{}"
                for system in "ab"
                for file in ("dataset_dict.json", "train/state.json")
            },
            "several-files",
        ),
        "shards": ({f"{system}/test-00000-of-00001.parquet": b"PAR1" for system in "ab"}, "several-files"),
        "bomb": ({"a.jsonl": b" " * (3 * MEBIBYTE)}, "too-large"),
        "log": ({"header.json": b"{}"}, "empty-file"),
    }
    for name, (members, code) in cases.items():
        path = _zipped(tmp_path / name, members, **deflated)
        result = check_answers(path, QUESTIONS, limits=IntakeLimits(file_bytes=2 * MEBIBYTE))
        assert codes(result) == [(0, code)], name


def test_single_file_in_zip_is_read(tmp_path: Path) -> None:
    members = {
        "answers.jsonl": b'{"question_id": "1", "answer": "So it is."}\n',
        "README.md": b"Ours.",
        "__MACOSX/answers.jsonl": b"\x00",
    }
    result = check_answers(_zipped(tmp_path / "a.zip", members), QUESTIONS)
    assert (result.format, result.answers, result.errors) == (FileFormat.JSONL, 1, 0)


def test_only_test_split_is_read(tmp_path: Path) -> None:
    shutil.copytree(GOLDEN / "hub", tmp_path / "hub")
    shutil.copy(GOLDEN / "datasets.parquet", tmp_path / "hub" / "data" / "train-00000-of-00001.parquet")
    result = check_answers(tmp_path / "hub", QUESTIONS)
    assert (result.answers, result.errors) == (8, 0)
    (left_out,) = (problem.message for problem in result.problems if problem.code == "left-out")
    assert left_out == "Only the split test is read, not 'train'."


@pytest.mark.slow
@pytest.mark.parametrize("form", ["parquet", "pandas", "arrow"])
def test_memory_does_not_grow_with_table(form: str, tmp_path: Path) -> None:
    path, ids = tmp_path / "table", [f"q{number}" for number in range(8_000)]
    questions = asked_of({name: f"What of {name}?" for name in ids})
    contexts = [[f"{number * 7919:x} " * 625] for number in range(8_000)]
    table = pa.table({"question_id": ids, "answer": [f"Of {name}." for name in ids], "contexts": contexts})
    if form == "arrow":
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=1_000)
    else:
        rows = 8_000 if form == "pandas" else 1_000
        pq.write_table(table, path, rows, compression="none", use_dictionary=form == "pandas")
    del table, contexts
    assert path.stat().st_size > 30 * MEBIBYTE
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    held = [pa.total_allocated_bytes() for _ in read_answers(path, questions)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(held) == len(ids)
    assert peak < 12 * MEBIBYTE
    assert max(held) - before < 20 * MEBIBYTE


def test_log_with_invalid_json_samples_is_refused(tmp_path: Path) -> None:
    row = {"id": "1", "epoch": 1, "input": "", "output": {"completion": "So it is."}}
    members = {
        "header.json": b"{}",
        "samples/1_epoch_1.json": json.dumps(row).encode(),
        "samples/2_epoch_1.json": b"{",
    }
    result = check_answers(_zipped(tmp_path / "log.eval", members), QUESTIONS)
    assert (codes(result), result.answers) == ([(2, "not-json")], 1)


WRONG_FILES = Path(__file__).parents[2] / "golden" / "wrong_files.json"
HEAD = b"question_id,answer\n"
USUAL = {"unanswered-questions", "no-contexts", "missing-contexts"}
THEIR_WORDS = (
    "Errno",
    "Expecting",
    "pydantic",
    "validation error",
    "Traceback",
    "unexpected end of",
    "Arrow",
)


def _zip(members: dict[str, bytes], **options: Any) -> bytes:  # noqa: ANN401 - passed on
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", **options) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return sink.getvalue()


def _tar(compression: str) -> bytes:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode=f"w:{compression}") as archive:  # type: ignore[call-overload]
        member = tarfile.TarInfo("a.jsonl")
        member.size = 3
        archive.addfile(member, io.BytesIO(b"{}\n"))
    return sink.getvalue()


WRONG: Mapping[str, bytes | Callable[[], bytes]] = {
    "empty": b"",
    "blank": b"\n \n",
    "header only": HEAD,
    "utf-16": (HEAD.decode() + "1,A\n").encode("utf-16"),
    "utf-16 without a mark": (HEAD.decode() + "1,A\n").encode("utf-16-le"),
    "utf-32": (HEAD.decode() + "1,A\n").encode("utf-32"),
    "utf-32 without a mark": (HEAD.decode() + "1,A\n").encode("utf-32-be"),
    "latin-1": (HEAD.decode() + "1,é\n").encode("latin-1"),
    "nul": (HEAD.decode() + "1,a\0b\n").encode(),
    "tar": _tar(""),
    "tar.gz": _tar("gz"),
    "git lfs": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
    "form": b'--X\r\nContent-Disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\n{}\r\n--X--\r\n',
    "pdf": b"%PDF-1.7\n",
    "html": b"<!DOCTYPE html><html></html>",
    "xml": b'<?xml version="1.0"?><a/>',
    "sqlite": b"SQLite format 3\0" + b"\0" * 90,
    "pickle": b"\x80\x04\x95\x01\x00\x00",
    "xls": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 50,
    "npy": b"\x93NUMPY\x01\x00v\x00",
    "parquet in gzip": gzip.compress(as_parquet([{"question_id": "1", "answer": "A"}])),
    "gzip in gzip": gzip.compress(gzip.compress(b"{}")),
    "cut gzip": gzip.compress(HEAD * 9)[:-9],
    "cut zstd": pa.compress((HEAD.decode() + "1,A\n").encode(), codec="zstd", asbytes=True)[:-4],
    "cut xz": lzma.compress(HEAD)[:-9],
    "cut bzip2": bz2.compress(HEAD)[:-9],
    "cut parquet": as_parquet([{"question_id": "1", "answer": "A"}])[:-20],
    "cut zip": _zip({"a.jsonl": b"{}"})[:-9],
    "zip in zip": _zip({"a.zip": _zip({"a.jsonl": b"{}"})}),
    "zip of two": _zip({"a.jsonl": b"{}", "b.jsonl": b"{}"}),
    "prose": b"Dear all here are the answers\n",
    "tsv of others": b"a\tb\n1\t2\n",
    "unknown columns": b"name,words\n1,A\n",
    "no question column": b"answer,score\nA,1\n",
    "no answer column": b"question_id,words\n1,A\n",
    "wide": b"prompt,llama,gpt\nWhat is 1?,A,B\n",
    "long": b"model,prompt,response\na,What is 1?,A\nb,What is 1?,B\n",
    "column twice": b"question_id,answer,answer\n1,A,B\n",
    "promptfoo": b"question,[m] {{question}},Named Scores,Grader Reason\nWhat is 1?,A,,\n",
    "too many cells": (HEAD.decode() + "1,A,B\n").encode(),
    "open quote": (HEAD.decode() + '1,"A\n').encode(),
    "quote in a cell": (HEAD.decode() + '1,"A" B\n').encode(),
    "parquet without columns": as_parquet([{"name": "1", "words": "A"}]),
    "json cut": b'[{"question_id": "1", "answer": "A"}',
    "json trailing": b'[{"question_id": "1", "answer": "A"}] x',
    "json comma": b'[{"question_id": "1", "answer": "A"},]',
    "jsonl cut": b'{"question_id": "1", "answer": "A"}\n{"question_id": "2", "ans',
    "jsonl comma": b'{"question_id": "1", "answer": "A"}\n{"question_id": "2", "answer": "B"},',
    "single quotes": b"{'question_id': '1', 'answer': 'A'}\n",
    "NaN": b'{"question_id": "1", "answer": NaN}\n',
    "two fields": b'{"answer": "a", "answer": "b"}\n',
    "spread": b'{\n"question_id": "1"\n}\n{\n"question_id": "2"\n}',
    "no table": b'{"model": {"a": 1}, "n": 3}',
    "list rows": b'[["1", "A"]]',
    "strings": b'"A"\n',
    "id is a list": b'{"question_id": ["1"], "answer": "A"}\n',
    "id is a fraction": b'{"question_id": 1.5, "answer": "A"}\n',
    "id is true": b'{"question_id": true, "answer": "A"}\n',
    "answer is a number": b'{"question_id": "1", "answer": 5}\n',
    "answer is null": b'{"question_id": "1", "answer": null}\n',
    "spans of Phoenix": b"context.span_id,name,context.span_id,context.trace_id\na,b,a,c\n",
    "answer is a list": b'{"question_id": "1", "answer": [5]}\n',
    "no answer": b'{"question_id": "1", "words": "A"}\n',
    "no id": b'{"answer": "A"}\n',
    "unknown id": b'{"question_id": "22", "answer": "A"}\n',
    "near id": b'{"question_id": "question-11", "answer": "A"}\n',
    "unknown text": b'{"question": "Why?", "answer": "A"}\n',
    "slipped": b'{"question_id": "1", "question": "What is 2?", "answer": "A"}\n',
    "contexts as text": b'{"question_id": "1", "answer": "A", "contexts": "p"}\n',
    "context of a number": b'{"question_id": "1", "answer": "A", "contexts": [5]}\n',
    "context without a text": b'{"question_id": "1", "answer": "A", "contexts": [{"id": "d"}]}\n',
    "ids of contexts twice": b'{"question_id": "1", "answer": "A", "contexts": [{"id": "d", "text": "a"}, '
    b'{"doc_id": "d", "text": "b"}]}\n',
    "cell is not a list": (b"question_id,answer,contexts\n1,A,p\n"),
    "list with dots": b"question_id,answer,contexts\n1,A,\"['a' ... 'b']\"\n",
    "twice": b'{"question_id": "1", "answer": "A"}\n{"question_id": 1.0, "answer": "B"}\n',
    "all missing": (HEAD.decode() + "1,NA\n2,None\n").encode(),
    "figure": b'{"question_id": "1", "answer": "A", "usd": "x"}\n',
    "run": b"1 Q0 d1 1 2.5 x\n",
}


ASKED = asked_of(
    {"1": "What is 1?", "2": "What is 2?", "3": "What is 3?", "4": "What is 4?", "question-1": "What?"}
)


def _first(name: str, tmp_path: Path) -> str:
    path = tmp_path / "f"
    content = WRONG[name]
    path.write_bytes(content if isinstance(content, bytes) else content())
    problem = next(problem for problem in check_answers(path, ASKED).problems if problem.code not in USUAL)
    return f"line {problem.line}: {problem.code}: {problem.message} {problem.advice}"


@pytest.mark.parametrize("name", WRONG)
def test_wrong_file_reports_one_line(name: str, tmp_path: Path) -> None:
    expected = json.loads(WRONG_FILES.read_text(encoding="utf-8"))
    message = _first(name, tmp_path)
    assert message == expected[name]
    assert "\n" not in message
    assert not any(word in message for word in THEIR_WORDS)
