"""Logs of harnesses that went wrong in part, figures in columns, and exports that other tools read."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pandas as pd
import pytest

from data.errors import InputError
from data.files.question_sets.beir import write_beir
from data.models import Question, QuestionSet
from submissions.check import check_answers, read_answers
from submissions.context_files import check_contexts, read_contexts

GOLDEN = Path(__file__).parents[1] / "golden" / "answers"


def _asked(*ids: str) -> QuestionSet:
    questions = tuple(
        Question(id=name, domain="d", question=f"Question {at} why?") for at, name in enumerate(ids, start=1)
    )
    return QuestionSet(name="s", title="S", domains={"d": "D"}, questions=questions)


def test_a_sample_that_failed_after_its_output_has_no_answer() -> None:
    path, asked = GOLDEN / "inspect_failed.json.gz", _asked("1", "2", "3", "4")
    result = check_answers(path, asked)
    assert (result.errors, result.answers) == (0, 3)
    (told,) = (one.message for one in result.problems if one.code == "failed-rows")
    assert "RuntimeError('boom')" in told
    assert {one.question_id: one.answer for one in read_answers(path, asked)} == {
        name: f"Inspect answer {name}." for name in ("1", "2", "4")
    }


def test_a_filter_that_fits_nothing_hides_no_answer() -> None:
    path, asked = GOLDEN / "lm_eval_strict.jsonl", _asked("1", "2", "3", "4")
    assert check_answers(path, asked).errors == 0
    assert [one.answer for one in read_answers(path, asked)] == [
        f"Long answer to Q: Question {at} why?." for at in range(1, 5)
    ]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet", ".feather", ".xlsx"])
def test_figures_are_columns_in_every_container(suffix: str, tmp_path: Path) -> None:
    rows = {
        "question_id": ["1", "2"],
        "answer": ["A.", "B."],
        "tokens": [3, 0],
        "usd": [0.1, 0.0],
        "milliseconds": [5.0, 6.5],
    }
    frame, path, asked = pd.DataFrame(rows), tmp_path / f"a{suffix}", _asked("1", "2")
    match suffix:
        case ".csv":
            frame.to_csv(path, index=False)
        case ".jsonl":
            frame.to_json(path, orient="records", lines=True)
        case ".parquet":
            frame.to_parquet(path)
        case ".feather":
            frame.to_feather(path)
        case _:
            frame.to_excel(path, index=False)
    assert check_answers(path, asked).errors == 0
    assert [(one.tokens, one.usd, one.milliseconds) for one in read_answers(path, asked)] == [
        (3, 0.1, 5.0),
        (0, 0.0, 6.5),
    ]


def test_ids_in_another_unicode_form_are_the_same_ids(tmp_path: Path) -> None:
    names = ("caf\u00e9-1", "t\u00fcr-2")
    asked, path = _asked(*names), tmp_path / "file"
    other = [unicodedata.normalize("NFD", name) for name in names]
    path.write_text("question_id,answer\n" + "".join(f"{name},A.\n" for name in other), encoding="utf-8")
    assert [one.question_id for one in read_answers(path, asked)] == list(names)
    path.write_text("".join(f"{name} Q0 d 1 1 r\n" for name in other), encoding="utf-8")
    assert check_contexts(path, asked).warnings == 0
    assert [one.question_id for one in read_contexts(path, asked)] == list(names)


def test_a_file_of_nothing_but_missing_values_has_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("question_id,answer\n1,NA\n2,NULL\n")
    result = check_answers(path, _asked("1", "2"))
    assert (result.accepted, result.errors) == (False, 1)
    assert result.problems[-1].message == "None of the 2 rows has an answer."


def test_what_beir_cannot_read_is_not_written(tmp_path: Path) -> None:
    bare = _asked("1")
    with pytest.raises(InputError, match="no passages"):
        write_beir(bare, tmp_path / "bare")
