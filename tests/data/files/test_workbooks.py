"""Workbooks of Excel, as openpyxl and pandas write them."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from openpyxl import Workbook

from data.errors import InvalidFileError
from data.files.labelled_pairs import read_items
from data.files.question_sets.registry import load_set
from data.files.text_files import ReadLimits
from data.models import Question, QuestionSet
from submissions.check import check_answers, read_answers

DAY = dt.datetime(2024, 5, 1)  # noqa: DTZ001 - cells have no time zone
HEADER = ("question_id", "answer")
ROWS = ((1, "One."), (2, "Two."), (3, "Three."))


@pytest.fixture
def asked() -> QuestionSet:
    """Three questions."""
    questions = tuple(Question(id=str(at), domain="d", question=f"Question {at}?") for at in (1, 2, 3))
    return QuestionSet(name="s", title="S", domains={"d": "D"}, questions=questions)


def _book(path: Path, **sheets: Sequence[Sequence[object]]) -> Path:
    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


@pytest.mark.parametrize("name", ["a.xlsx", "upload.tmp"])
@pytest.mark.parametrize(
    "sheets",
    [
        {"a": [HEADER, *ROWS]},
        {"readme": [], "a": [HEADER, *ROWS]},
        {"notes": [("made", "by"), ("me", "you")], "a": [HEADER, *ROWS]},
        {"a": [HEADER, ROWS[0], [], (None, "  "), *ROWS[1:], (None, None, None)]},
        {"a": [HEADER, *((float(key), text) for key, text in ROWS)]},
        {"a": [(*HEADER, "on"), *((*row, DAY) for row in ROWS)]},
    ],
)
def test_the_rows_of_a_workbook_are_answers(
    sheets: dict[str, Any], name: str, asked: QuestionSet, tmp_path: Path
) -> None:
    """Blank rows and sheets without questions are passed over, numbers are ids, whatever the file's name."""
    path = _book(tmp_path / name, **sheets)
    assert check_answers(path, asked).errors == 0
    read = [(one.question_id, one.answer) for one in read_answers(path, asked)]
    assert read == [(str(key), text) for key, text in ROWS]


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
        ({"a": [HEADER, (*ROWS[0], "more")]}, "The row has 3 cells where the header has 2."),
        (
            {"a": [("Our answers", None), HEADER, *ROWS]},
            "There is no column question_id or question and no column answer; there are: 'Our answers'.",
        ),
    ],
)
def test_what_a_workbook_cannot_say_is_named(
    sheets: dict[str, Any], message: str, asked: QuestionSet, tmp_path: Path
) -> None:
    """Of two tables none is chosen in silence, and a formula without its value is no empty answer."""
    result = check_answers(_book(tmp_path / "a.xlsx", **sheets), asked)
    assert message in [one.message for one in result.problems]


def test_sets_and_items_come_from_workbooks(tmp_path: Path) -> None:
    """What pandas writes with `to_excel` is a question set, and a file of items to score."""
    path = tmp_path / "q.xlsx"
    frame = pd.DataFrame(
        {"id": [1, 2], "question": ["Why?", "How?"], "reference": ["So.", "Thus."], "answer": ["A.", "B."]}
    )
    frame.drop(columns="answer").to_excel(path)
    assert [(one.id, one.reference) for one in load_set(path).questions.questions] == [
        ("1", "So."),
        ("2", "Thus."),
    ]
    frame.to_excel(path, index=False)
    assert [(one.id, one.answer) for one in read_items(path, ReadLimits())] == [("1", "A."), ("2", "B.")]


def test_without_openpyxl_one_line_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The remedy is another way to save the file, or the extra."""
    path = _book(tmp_path / "q.xlsx", a=[("id", "question"), (1, "Why?")])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(InvalidFileError) as caught:
        load_set(path)
    (problem,) = caught.value.problems
    assert problem.message == "q.xlsx is an Excel workbook."
    assert problem.advice == 'Save it as "CSV UTF-8", or install "answer-arena[excel]".'
