"""Every format that answers come in, told by content."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import ClassVar

import pytest

from data.errors import FileFormatError
from data.files.tables.columns import require_once
from data.files.tables.rows import FileFormat
from data.models import Question, QuestionSet
from submissions.check import check_answers, read_answers
from submissions.formats.reading import RowFile
from submissions.limits import IntakeLimits
from submissions.problem_codes import Findings
from tests.submissions.conftest import ENCODERS, Check, Rows, codes_of

FORMATS = ("jsonl", "json", "csv", "jsonl.gz", "json.gz", "csv.gz")
BOM = b"\xef\xbb\xbf"


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_brings_the_same_answers(
    form: str, good_rows: Rows, questions: QuestionSet, tmp_path: Path
) -> None:
    path = tmp_path / "upload.bin"
    path.write_bytes(ENCODERS[form](good_rows))
    result = check_answers(path, questions)
    assert (result.format, result.problems) == (FileFormat(form.split(".", maxsplit=1)[0]), ())
    read = list(read_answers(path, questions))
    assert [(one.question_id, one.answer, one.contexts[0].text) for one in read] == [
        (row["question_id"], row["answer"], row["contexts"][0]["text"]) for row in good_rows
    ]
    path.write_bytes(ENCODERS["jsonl"](list(reversed(good_rows))))
    assert check_answers(path, questions).content_hash == result.content_hash


@pytest.mark.parametrize("form", ["jsonl", "json", "csv"])
def test_a_byte_order_mark_changes_nothing(form: str, good_rows: Rows, check: Check) -> None:
    content = BOM + ENCODERS[form](good_rows)
    assert check(content).problems == ()
    assert check(gzip.compress(content)).problems == ()


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_spreadsheets_of_other_countries_are_read(delimiter: str, check: Check) -> None:
    result = check(f"question_id{delimiter}answer\r\n1{delimiter}Some answer\r\n".encode())
    assert (result.answers, result.errors) == (1, 0)


def test_numeric_ids_are_ids(check: Check) -> None:
    result = check([{"question_id": 1, "answer": "One."}, {"question_id": 2.0, "answer": "Two."}])
    assert (result.answers, result.errors) == (2, 0)


def test_contexts_may_be_plain_strings(questions: QuestionSet, tmp_path: Path) -> None:
    path = tmp_path / "answers"
    path.write_text(json.dumps({"question_id": "1", "answer": "One.", "contexts": ["first", "second"]}))
    (answer,) = read_answers(path, questions)
    assert [(one.id, one.text) for one in answer.contexts] == [("c1", "first"), ("c2", "second")]


def test_prediction_files_are_matched_by_question_text(questions: QuestionSet, check: Check) -> None:
    """RAG-QA Arena's files need no ids; case and white space of the question make no difference."""
    rows = [
        {
            "query": f"  {one.question.upper()}\n",
            "pred": f"{one.id} it is.",
            "passages": ["A."],
            "prompt": "…",
        }
        for one in questions.questions
    ]
    result = check(json.dumps(rows, indent=2).encode())
    assert (result.answers, result.problems) == (len(rows), ())
    assert set(result.coverage.values()) == {1.0}


def test_a_question_text_that_stands_twice_is_a_problem(check: Check) -> None:
    same = [Question(id=f"{domain}-1", domain=domain, question="Why?") for domain in ("x", "y")]
    twins = QuestionSet(name="twins", title="T", domains={"x": "X", "y": "Y"}, questions=tuple(same))
    assert codes_of(check([{"query": "why?", "pred": "So."}], questions=twins)) == [(1, "ambiguous-question")]
    assert check([{"query": "why?", "domain": "y", "pred": "So."}], questions=twins).coverage["y"] == 1
    assert check([{"question_id": "x-1", "query": "why?", "pred": "So."}], questions=twins).errors == 0


def test_items_of_a_compact_array_are_numbered(check: Check) -> None:
    result = check(b'[{"question_id": "1", "answer": "Fine."}, {"question_id": "nowhere", "answer": "x"}]')
    (problem,) = (one for one in result.problems if one.code == "unknown-question")
    assert problem.line == 1
    assert problem.message.startswith("Item 2: ")


def test_csv_problems_stand_on_physical_lines(check: Check) -> None:
    result = check(b'question_id,answer\n1,"two\nlines\nmore"\nnowhere,x\n\n2,\n')
    assert codes_of(result) == [(5, "unknown-question"), (7, "empty-answer")]


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 64])
def test_chunks_of_an_array_do_not_matter(
    chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, good_rows: Rows
) -> None:
    monkeypatch.setattr("data.files.tables.json_files.CHUNK", chunk)
    path: Path = tmp_path / "answers"
    path.write_bytes(b"\n\n" + ENCODERS["json"]([*good_rows, {"q": 'a"],[{}\\'}]) + b"\n")
    findings = Findings(10)
    with RowFile(path, IntakeLimits(), findings) as rows:
        read = list(rows)
    expected = json.loads(path.read_bytes())
    assert [row.value for row in read] == expected
    lines = path.read_text(encoding="utf-8").split("\n")
    assert [row.line for row in read] == [place for place, line in enumerate(lines, 1) if line == "  {"]


class CountedName(str):
    """A column's name that counts how often it is compared."""

    __slots__ = ()
    compared: ClassVar[list[int]] = [0]
    __hash__ = str.__hash__

    def strip(self, *_: object) -> CountedName:
        return self

    def __eq__(self, other: object) -> bool:
        self.compared[0] += 1
        return str.__eq__(self, other)


def test_a_header_is_read_once_however_long() -> None:
    """A2: a header of 2,000 columns takes a few comparisons a column, not one with every other column."""
    names = ["question_id", "answer", *(f"c{number}" for number in range(2_000))]
    require_once([CountedName(name) for name in names])
    assert CountedName.compared[0] < 10 * len(names)


def test_every_doubled_column_is_named() -> None:
    """A2: columns that stand twice are told, each once."""
    with pytest.raises(FileFormatError, match="'a', 'b'"):
        require_once(["question_id", "answer", "b", "a", "b", "a", "a"])
