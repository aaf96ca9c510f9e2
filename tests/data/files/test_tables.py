"""Tables of texts: ids, passages, lists in cells, and question sets in formats of other tools."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from data.errors import FileFormatError
from data.files.labelled_pairs import read_items, read_passages
from data.files.question_sets.registry import load_set
from data.files.strict_json import in_words
from data.files.tables.columns import NAMES, Column, column_of
from data.files.tables.rows import TextRow
from data.files.tables.values import has_value, id_text, list_of_cell, passages_of
from data.files.text_files import ReadLimits
from submissions.check import check_answers, read_answers
from tests.cases import cases
from tests.data.conftest import problems_of, write_lines
from tests.submissions.conftest import asked_of


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=30), min_size=1, max_size=5
    )
)
def test_printed_lists_are_parsed(texts: list[str]) -> None:
    array = np.array(texts, dtype=object)
    for cell in (json.dumps(texts), repr(texts), np.array2string(array, threshold=10**6)):
        assert list_of_cell(cell) == texts


@pytest.mark.parametrize("cell", ["['a' ... 'b']", "[{'text': 'a' 'b'}]", "['a' 5]", "text", "{}", "[a]"])
def test_value_other_than_list_is_refused(cell: str) -> None:
    with pytest.raises(FileFormatError, match="list"):
        list_of_cell(cell)


def test_missing_empty_and_zero_are_distinct() -> None:
    assert [id_text(value) for value in (0, "0", 1.0, 10**20, True, 1.5, None, ["x"])] == [
        *("0", "0", "1", str(10**20)),
        *(None, None, None, None),
    ]
    assert [has_value(value) for value in (0, "0", "", None, math.nan)] == [True, True, False, False, False]


def test_passages_keep_their_ids_and_places() -> None:
    entries: list[Any] = [
        {"id": 0, "text": "a"},
        {"doc_id": "d", "text": ""},
        "plain",
        {"_id": "c3", "text": "x"},
        {"docid": 5.0, "text": "y"},
        {"context_id": "z", "text": "w"},
    ]
    passages = passages_of(entries, "c")
    assert [passage.id for passage in passages] == ["0", "d", "c3'", "c3", "5", "z"]
    with pytest.raises(FileFormatError, match="Passages 1 and 3 have the same id, 'd'"):
        passages_of([{"id": "d", "text": "a"}, "b", {"doc_id": "d", "text": "c"}], "c")
    with pytest.raises(FileFormatError, match="neither a string nor a whole number"):
        passages_of([{"id": True, "text": "a"}], "c")


def test_column_names_are_unambiguous() -> None:
    names = [name for group in NAMES.values() for name in group]
    assert len({column_of(name) for name in names}) == len(Column)
    assert column_of("User Input") is column_of("user_input") is Column.QUESTION
    row, problems = TextRow.of({"Prompt": "Why?", "Completion": 5, "QID": 2.0})
    assert (row.question, row.question_id, row.answer) == ("Why?", "2", None)
    assert [problem.message for problem in problems.values()] == ["The answer is a number (5), not a string."]


def test_missing_id_is_problem_in_every_format(tmp_path: Path) -> None:
    frame = pd.DataFrame({"question_id": [10.0, 20.0, None], "question": ["Qa?", "Qb?", "Qc?"]})
    for name, write in (("s.parquet", frame.to_parquet), ("s.csv", frame.to_csv), ("s.json", frame.to_json)):
        write(tmp_path / name)
        codes = [problem.code for problem in problems_of(tmp_path / name)]
        assert [code for code in codes if code != "unknown-field"] == ["missing-field"]


def test_questions_without_ids_are_numbered_with_warning(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text("prompt,refrence\nWhy?,So.\nHow?,Thus.\n", encoding="utf-8")
    loaded = load_set(path)
    assert [question.id for question in loaded.questions.questions] == ["test-1", "test-2"]
    assert [warning.code for warning in loaded.warnings] == ["no-ids", "unknown-field"]
    path.write_text('{"Why is it?": "So it is."}', encoding="utf-8")
    (only,) = load_set(path).questions.questions
    assert (only.id, only.question, only.reference) == ("test-1", "Why is it?", "So it is.")


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("answer", ["a", "b"], "The reference is a list, not a string."),
        ("contexts", '["p"]', "got a string"),
        ("contexts", {"title": ["t"]}, "got an object"),
        ("gold_doc_ids", [0, None], "gold_doc_ids contains null"),
        ("gold_doc_ids", [True], "gold_doc_ids contains a boolean (true)"),
        ("id", [1], "The id is a list"),
        *(("citations", value, "citations") for value in ("d1", ["d1"], [[None]], [[""]], [{"d1": 1}])),
    ],
)
def test_cells_of_wrong_type_are_problems(tmp_path: Path, field: str, value: object, words: str) -> None:
    path = write_lines(tmp_path / "q.jsonl", {"id": "1", "question": "Why?", field: value})
    assert any(words in problem.message for problem in problems_of(path))


def test_zero_is_valid_id_of_items_and_passages(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    passages = [{"id": 0, "text": "zero"}, {"doc_id": "d9", "text": "nine"}]
    path.write_text(json.dumps({"id": 0, "question": "q", "answer": "a", "passages": passages}) + "\n")
    (item,) = read_items(path, ReadLimits())
    assert (item.id, [passage.id for passage in item.passages]) == ("0", ["0", "d9"])
    (given_passages,) = read_passages(path, ReadLimits())
    assert (given_passages.question, [passage.id for passage in given_passages.passages]) == (
        "0",
        ["0", "d9"],
    )


def test_unknown_citations_and_repeated_texts_give_warnings(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    rows: list[dict[str, Any]] = [
        {"id": "1", "question": "Why?", "passages": [{"id": "p", "text": "x"}], "citations": [["zz"]]},
        {"id": "2", "question": "Why? ", "gold_doc_ids": ["p"], "citation_numbers": [[7]]},
        {
            "id": "3",
            "question": "How?",
            "gold_doc_ids": ["p"],
            "citation_numbers": [[1]],
            "citations": [["p"]],
        },
    ]
    write_lines(path, *rows)
    assert [warning.message for warning in load_set(path).warnings] == [
        "2 questions have the same text as others, so that answers need ids: '1', '2'.",
        "2 references cite documents that the question does not have: '1', '2'.",
    ]


@pytest.mark.parametrize("ids", [(" 1 ", "1"), ("caf\u00e9", "cafe\u0301")])
def test_lookalike_ids_are_refused(ids: tuple[str, str], tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "q.jsonl", *({"id": key, "question": f"{at}?"} for at, key in enumerate(ids))
    )
    (problem,) = problems_of(path)
    assert problem.message == f"The ids {ids[0]!a} and {ids[1]!a} look the same."


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_squad_answers_become_short_answers(suffix: str, tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "id": ["a", "b"],
            "question": ["Who?", "What?"],
            "answers": [
                {"text": ["Ann", "Ann", "Ann Lee"], "answer_start": [1, 1, 1]},
                {"text": [], "answer_start": []},
            ],
        }
    )
    path = tmp_path / f"questions.{suffix}"
    if suffix == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=True)
    first, second = load_set(path).questions.questions
    assert (first.short_answers, first.reference) == (("Ann", "Ann Lee"), "Ann")
    assert (second.short_answers, second.reference) == ((), None)


def test_zipped_workbook_error_has_advice(tmp_path: Path) -> None:
    path = tmp_path / "questions.xlsx.gz"
    path.write_bytes(gzip.compress(b"PK\x03\x04" + bytes(100)))
    (problem,) = problems_of(path)
    assert problem.message == "questions.xlsx.gz is a workbook or zip file inside a compressed file."
    assert problem.advice == "Unpack it first."


DAY = dt.datetime(2024, 5, 1)  # noqa: DTZ001 - cells have no time zone
HEADER = ("question_id", "answer")
ASKED = asked_of({"1": "Question 1?", "2": "Question 2?", "3": "Question 3?"})
ROWS = ((1, "One."), (2, "Two."), (3, "Three."))


def _book(path: Path, **sheets: Sequence[Sequence[object]]) -> Path:
    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


@pytest.mark.parametrize(
    "sheets",
    [
        {"a": [HEADER, *ROWS]},
        {"readme": [], "a": [HEADER, *ROWS]},
        {"notes": [("made", "by"), ("me", "you")], "a": [HEADER, *ROWS]},
        {"a": [HEADER, ROWS[0], [], (None, "  "), *ROWS[1:], (None, None, None)]},
        {"a": [(*HEADER, "on"), *((*row, DAY) for row in ROWS)]},
    ],
)
def test_workbook_rows_become_answers(sheets: dict[str, Any], tmp_path: Path) -> None:
    path = _book(tmp_path / "a.xlsx", **sheets)
    assert check_answers(path, ASKED).errors == 0
    answers = [(answer.question_id, answer.answer) for answer in read_answers(path, ASKED)]
    assert answers == [(str(key), text) for key, text in ROWS]


@pytest.mark.parametrize(
    ("sheets", "message"),
    [
        ({"a": [HEADER, *ROWS], "b": [HEADER, *ROWS]}, "a.xlsx has tables on 2 sheets: 'a', 'b'."),
        (
            {"a": [("question", "gpt")], "b": [("question", "llama")]},
            "a.xlsx has tables on 2 sheets: 'a', 'b'.",
        ),
        ({"a": [HEADER, (1, '="O"&"ne"')]}, """Row 2: The formula '="O"&"ne"' has no value."""),
        ({"a": [HEADER, (1, DAY)]}, "Row 2: The answer is a date (2024-05-01), not a string."),
        ({"a": [HEADER, (*ROWS[0], "more")]}, "The row has 3 cells, but the header has 2."),
        (
            {"a": [("Our answers", None), HEADER, *ROWS]},
            "There is no column question_id or question and no column answer; found: 'Our answers'.",
        ),
    ],
)
def test_unreadable_workbook_reports_why(sheets: dict[str, Any], message: str, tmp_path: Path) -> None:
    result = check_answers(_book(tmp_path / "a.xlsx", **sheets), ASKED)
    assert message in [problem.message for problem in result.problems]


def test_missing_openpyxl_error_has_advice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _book(tmp_path / "q.xlsx", a=[("id", "question"), (1, "Why?")])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (problem,) = problems_of(path)
    assert problem.message == "q.xlsx is an Excel workbook."
    assert problem.advice == 'Save it as "CSV UTF-8", or install "answer-arena[excel]".'


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field("x", min_length=1)
    share: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.5
    count: Annotated[int, Field(gt=0, lt=9)] = 1
    flag: bool = False
    word: Literal["one", "two"] = "one"
    several: list[int] = Field([1], min_length=1)
    needed: str


@pytest.mark.parametrize(("value", "message"), cases(__file__, "validation_errors_are_readable"))
def test_validation_errors_are_readable(value: Any, message: str) -> None:  # noqa: ANN401 - JSON
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(_Shape).validate_python(value)
    assert in_words(caught.value) == (message,)
