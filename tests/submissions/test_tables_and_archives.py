"""Parquet, Arrow and zip files of strangers: limits, damage, and memory that does not grow with the file."""

from __future__ import annotations

import json
import shutil
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data.files.tables.rows import FileFormat
from data.models import Question, QuestionSet
from submissions.check import CheckResult, check_answers, read_answers
from submissions.context_files import check_contexts
from submissions.limits import IntakeLimits
from submissions.problem_codes import Code
from tests.submissions.conftest import Check

GOLDEN = Path(__file__).parents[1] / "golden" / "answers"
MEBIBYTE = 1024 * 1024


@pytest.fixture
def check_table(tmp_path: Path, questions: QuestionSet) -> Check:
    def run(columns: dict[str, Any], **options: Any) -> CheckResult:  # noqa: ANN401 - passed on
        path = tmp_path / "table"
        pq.write_table(pa.table(columns), path)
        return check_answers(path, questions, **options)

    return run


def codes(result: CheckResult) -> list[tuple[int, str]]:
    return [(one.line, one.code) for one in result.problems if one.severity.value == "error"]


def test_problems_of_a_table_name_their_row(check_table: Check) -> None:
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
    assert {one.message for one in result.problems if one.line == 3} == {
        "Row 3: Question set small has no question 'nowhere'."
    }


def test_a_table_without_the_columns_is_one_problem(check_table: Check) -> None:
    result = check_table({"number": ["1", "2"], "words": ["So.", "So."]})
    assert codes(result) == [(0, "missing-column")]
    assert result.problems[0].message == (
        "There is no column question_id or question and no column answer; there are: 'number', 'words'."
    )


def test_columns_of_no_use_are_warned_of(check_table: Check) -> None:
    result = check_table({"question_id": ["1"], "answer": ["So it is."], "score": [1.5]})
    assert [one.code for one in result.problems if "score" in one.message] == ["unknown-field"]


def test_a_table_of_contexts_needs_no_answers(tmp_path: Path, questions: QuestionSet) -> None:
    contexts = [[{"id": "d1", "text": "One."}, {"id": "d2", "text": "Two."}]]
    pq.write_table(pa.table({"question_id": ["1"], "contexts": contexts}), tmp_path / "table")
    result = check_contexts(tmp_path / "table", questions)
    assert (result.format, result.answers, result.errors) == (FileFormat.PARQUET, 1, 0)


def test_a_small_file_that_expands_is_refused(check_table: Check, tmp_path: Path) -> None:
    bomb = pa.DictionaryArray.from_arrays(pa.array([0] * 100_000, pa.int32()), ["x" * MEBIBYTE])
    before = pa.total_allocated_bytes()
    pool = pa.default_memory_pool()
    result = check_table({"question_id": pa.array(["1"] * 100_000), "answer": bomb})
    assert codes(result)[0] == (0, "too-large")
    assert (tmp_path / "table").stat().st_size < 2 * MEBIBYTE
    assert pool.max_memory() - before < 100 * MEBIBYTE
    # No answer has so many contexts, which the file itself says.
    nested = pa.ListArray.from_arrays(pa.array([0, 100_000], pa.int32()), bomb)
    assert codes(check_table({"question_id": ["1"], "answer": ["So."], "contexts": nested})) == [
        (0, "too-large")
    ]


def test_rows_and_bytes_have_limits(check_table: Check) -> None:
    answers = ["So it is.", "x" * 5_000]
    limits = IntakeLimits(row_bytes=4_000)
    assert codes(check_table({"question_id": ["1", "2"], "answer": answers}, limits=limits)) == [
        (2, "too-large")
    ]
    assert codes(
        check_table({"question_id": ["1"] * 9, "answer": ["So."] * 9}, limits=IntakeLimits(answers=8))
    ) == [(0, "too-many-answers")]


@pytest.mark.parametrize("name", ["datasets.parquet", "shards/data-00000-of-00002.arrow", "inspect.eval"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damage_is_problems_and_never_an_exception(
    name: str, data: st.DataObject, questions: QuestionSet, tmp_path: Path
) -> None:
    content = bytearray((GOLDEN / name).read_bytes())
    for _ in range(data.draw(st.integers(1, 5))):
        content[data.draw(st.integers(8, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.one_of(st.just(len(content)), st.integers(9, len(content))))
    path = tmp_path / "damaged"
    path.write_bytes(bytes(content[:cut]))
    result = check_answers(path, questions)
    assert {one.code for one in result.problems} <= {code.value for code in Code}
    assert all("\n" not in one.message for one in result.problems)


def test_a_column_name_that_is_not_utf8_is_damage(questions: QuestionSet, tmp_path: Path) -> None:
    content = bytearray((GOLDEN / "shards/data-00000-of-00002.arrow").read_bytes())
    content[736] = 128
    path = tmp_path / "damaged"
    path.write_bytes(bytes(content))
    assert [one.code for one in check_answers(path, questions).problems] == ["damaged-file"]


def test_a_cut_table_is_one_line(questions: QuestionSet, tmp_path: Path) -> None:
    path = tmp_path / "half.parquet"
    path.write_bytes((GOLDEN / "datasets.parquet").read_bytes()[:1_500])
    (problem, *_) = check_answers(path, questions).problems
    assert problem.code == "damaged-file"
    assert problem.message.startswith("half.parquet is cut off or damaged.")


def _zipped(path: Path, members: dict[str, bytes], **options: Any) -> Path:  # noqa: ANN401 - passed on
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_hostile_archives_are_refused(questions: QuestionSet, tmp_path: Path) -> None:
    good = b'{"question_id": "1", "answer": "So it is."}\n'
    inner = _zipped(tmp_path / "inner", {"a.jsonl": good}).read_bytes()
    deflated = {"compression": zipfile.ZIP_DEFLATED}
    cases: dict[str, tuple[dict[str, bytes], str]] = {
        "out": ({"../a.jsonl": good}, "bad-archive"),
        "nested": ({"a.zip": inner}, "wrong-format"),
        "excel": ({"[Content_Types].xml": b"", "xl/workbook.xml": b""}, "damaged-file"),
        "several": ({"a.jsonl": good, "b.jsonl": good}, "several-files"),
        "helm": ({"x/scenario_state.json": good, "y/scenario_state.json": good}, "several-files"),
        "splits": ({"data/a.parquet": b"PAR1", "data/b.parquet": b"PAR1"}, "several-files"),
        "nothing": ({"README.md": b"Hello."}, "empty-file"),
        "state": ({"state.json": b'{"_data_files": [{"filename": "../x.arrow"}]}'}, "damaged-file"),
        "bomb": ({"a.jsonl": b" " * (3 * MEBIBYTE)}, "too-large"),
        "log": ({"header.json": b"{}"}, "empty-file"),
    }
    for name, (members, code) in cases.items():
        path = _zipped(tmp_path / name, members, **deflated)
        result = check_answers(path, questions, limits=IntakeLimits(file_bytes=2 * MEBIBYTE))
        assert codes(result) == [(0, code)], name


def test_one_file_in_a_zip_file_is_read(questions: QuestionSet, tmp_path: Path) -> None:
    members = {
        "answers.jsonl": b'{"question_id": "1", "answer": "So it is."}\n',
        "README.md": b"Ours.",
        "__MACOSX/answers.jsonl": b"\x00",
    }
    result = check_answers(_zipped(tmp_path / "a.zip", members), questions)
    assert (result.format, result.answers, result.errors) == (FileFormat.JSONL, 1, 0)


def test_only_the_test_split_is_read(questions: QuestionSet, tmp_path: Path) -> None:
    shutil.copytree(GOLDEN / "hub", tmp_path / "hub")
    shutil.copy(GOLDEN / "datasets.parquet", tmp_path / "hub" / "data" / "train-00000-of-00001.parquet")
    result = check_answers(tmp_path / "hub", questions)
    assert (result.answers, result.errors) == (8, 0)
    (left_out,) = (one.message for one in result.problems if one.code == "left-out")
    assert left_out == "Only the split test is read; left out are 'train'."


@pytest.mark.long
@pytest.mark.parametrize("form", ["parquet", "pandas", "arrow"])
def test_memory_does_not_grow_with_a_table(form: str, tmp_path: Path) -> None:
    number, path = 8_000, tmp_path / "table"
    asked = tuple(Question(id=f"q{n}", domain="d", question=f"What of {n}?") for n in range(number))
    questions = QuestionSet(name="large", title="Large", domains={"d": "D"}, questions=asked)
    schema = pa.schema(
        [("question_id", pa.string()), ("answer", pa.string()), ("contexts", pa.list_(pa.string()))]
    )

    def write(writer: Any) -> None:  # noqa: ANN401 - of either kind
        for start in range(0, number, 1_000):
            rows = [
                {"question_id": f"q{n}", "answer": f"Of {n}.", "contexts": [f"{n * 7919:x} " * 625]}
                for n in range(start, start + 1_000)
            ]
            writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=schema))

    if form == "pandas":
        rows_of_all = [
            {"question_id": f"q{n}", "answer": f"Of {n}.", "contexts": [f"{n * 7919:x} " * 625]}
            for n in range(number)
        ]
        pq.write_table(pa.Table.from_pylist(rows_of_all, schema=schema), path, compression="none")
        del rows_of_all
    elif form == "parquet":
        with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
            write(writer)
    else:
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, schema) as writer:
            write(writer)
    assert path.stat().st_size > 30 * MEBIBYTE
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    held = [pa.total_allocated_bytes() for _ in read_answers(path, questions)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(held) == number
    assert peak < 12 * MEBIBYTE
    assert max(held) - before < 20 * MEBIBYTE


def test_a_log_whose_samples_are_not_json(questions: QuestionSet, tmp_path: Path) -> None:
    row = {"id": "1", "epoch": 1, "input": "", "output": {"completion": "So it is."}}
    members = {
        "header.json": b"{}",
        "samples/1_epoch_1.json": json.dumps(row).encode(),
        "samples/2_epoch_1.json": b"{",
    }
    result = check_answers(_zipped(tmp_path / "log.eval", members), questions)
    assert (codes(result), result.answers) == ([(2, "not-json")], 1)
