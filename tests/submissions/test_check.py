from __future__ import annotations

import csv
import gzip
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from data.errors import InvalidFileError, RecordError
from data.models import Problem, Severity
from submissions.check import check_answers, read_answers, report_csv, report_lines
from submissions.limits import IntakeLimits
from submissions.problem_codes import Code
from tests.submissions.conftest import ENCODERS, GOOD_ROWS, QUESTIONS, Check, codes_of

GOLDEN = Path(__file__).parents[1] / "golden"
PAGE = Path(__file__).parents[2] / "docs" / "submission-format.md"
GOOD = b'{"question_id": "1", "answer": "Fine."}\n'

FILES = {
    "empty array": (b"[]", [(0, "empty-file")]),
    "figures out of range": (
        b'{"question_id": "1", "answer": "Fine.", "tokens": 1.5, "usd": -1, "milliseconds": 1e10}\n',
        [(1, "bad-figure")] * 3,
    ),
    "figure that is a truth": (
        b'{"question_id": "1", "answer": "Fine.", "tokens": true}\n',
        [(1, "bad-figure")],
    ),
    "figure in a cell": (b"question_id,answer,usd\n1,Fine,cheap\n", [(2, "bad-figure")]),
    "empty gzip": (gzip.compress(b""), [(0, "empty-file")]),
    "ragged": (b"question_id,answer\n1,a,b\n2\n", [(2, "bad-csv"), (3, "bad-csv")]),
    "half a pair": (b'{"question_id": "1", "answer": "\\ud800"}\n', [(1, "not-utf8")]),
    "infinite": (b'{"question_id": "1", "answer": 1e999}\n', [(1, "not-finite")]),
    "deep": (b'{"question_id": "1", "answer": ' + b"[" * 100_000 + b"}\n", [(1, "too-deep")]),
    "scalars": (b'[1, "x", null]', [(1, "not-object")] * 3),
}


@pytest.mark.parametrize(("content", "expected"), FILES.values(), ids=FILES.keys())
def test_invalid_file_has_its_code(
    content: bytes, expected: list[tuple[int | None, str]], check: Check
) -> None:
    result = check(content)
    problems = [(line, code) for line, code in codes_of(result) if code != "same-answer"]
    assert [code for _, code in problems] == [code for _, code in expected]
    assert all(line in {None, actual} for (line, _), (actual, _) in zip(expected, problems, strict=True))
    assert not result.accepted


FINE = {"question_id": "1", "answer": "x"}
ROWS = {
    "empty": ({"question_id": "1", "answer": " \n"}, "empty-answer"),
    "invisible": ({"question_id": "1", "answer": "\u200b\u2060"}, "empty-answer"),
    "long": ({"question_id": "1", "answer": "x" * 60_000}, "answer-too-long"),
    "contexts object": ({**FINE, "contexts": {}}, "bad-context"),
    "context title": ({**FINE, "contexts": [{"text": "t", "title": 1}]}, "bad-context"),
    "contexts many": ({**FINE, "contexts": ["t"] * 201}, "bad-context"),
    "context long": ({**FINE, "contexts": ["t" * 100_001]}, "bad-context"),
}


@pytest.mark.parametrize(("row", "code"), ROWS.values(), ids=ROWS.keys())
def test_invalid_row_has_its_code(row: dict[str, Any], code: str, check: Check) -> None:
    result = check([{"question_id": "0", "answer": "Fine."}, row])
    assert [problem for problem in codes_of(result) if problem[1] == code] == [(2, code)]
    assert result.errors == 1


def test_report_formats_list_every_problem() -> None:
    result = check_answers(GOLDEN / "bad_answers.jsonl", QUESTIONS)
    expected = json.loads((GOLDEN / "bad_answers_report.json").read_text(encoding="utf-8"))
    assert result.model_dump(mode="json") == expected
    lines = (GOLDEN / "bad_answers_report.txt").read_text(encoding="utf-8").splitlines()
    assert list(report_lines(result)) == lines
    rows = [(row["line"], row["code"]) for row in csv.DictReader(io.StringIO(report_csv(result)))]
    assert rows == [(str(problem["line"]), problem["code"]) for problem in expected["problems"]]


def test_reports_escape_texts_of_file(tmp_path: Path) -> None:
    result = check_answers(GOLDEN / "bad_answers.jsonl", QUESTIONS)
    evil = Problem(1, "unknown-question", '=HYPERLINK("http://evil.invalid")', advice="<script>x</script>")
    result = result.model_copy(update={"problems": (evil,)})
    (row,) = csv.DictReader(io.StringIO(report_csv(result)))
    assert row["message"].startswith("'=")


def test_missing_file_is_problem(tmp_path: Path) -> None:
    for path, code in ((tmp_path / "nowhere.jsonl", "missing-file"), (tmp_path, "empty-file")):
        result = check_answers(path, QUESTIONS)
        assert [problem.code for problem in result.problems] == [code]


def test_gzip_bomb_is_refused(check: Check) -> None:
    blank = gzip.compress((b" " * 1023 + b"\n") * 40 * 1024)
    assert codes_of(check(gzip.compress(GOOD) + blank))[0][1] == "gzip-bomb"
    assert codes_of(check(gzip.compress(GOOD + b" " * (40 * 1024 * 1024)))) == [(2, "too-large")]


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        (IntakeLimits(file_bytes=100), "too-large"),
        (IntakeLimits(row_bytes=50), "too-large"),
        (IntakeLimits(answers=2), "too-many-answers"),
        (IntakeLimits(answer_chars=20), "answer-too-long"),
    ],
)
@pytest.mark.parametrize("form", ["jsonl", "json", "csv", "parquet"])
def test_limits_apply_in_every_format(limits: IntakeLimits, code: str, form: str, check: Check) -> None:
    result = check(ENCODERS[form](GOOD_ROWS), limits=limits)
    assert {problem.code for problem in result.problems if problem.severity is Severity.ERROR} == {code}


def test_limits_below_one_are_refused() -> None:
    with pytest.raises(RecordError, match="answer_chars"):
        IntakeLimits(answer_chars=0)


def test_check_stops_after_many_errors(check: Check) -> None:
    result = check([{"question_id": "?", "answer": "x"}] * 30, limits=IntakeLimits(errors=10))
    assert result.errors == 12
    assert result.problems[-1].code == "too-many-errors"


def test_few_empty_answers_of_large_file_are_warnings(check: Check) -> None:
    rows = [
        {"question_id": question.id, "answer": "" if question.id == "2" else f"{question.id}."}
        for question in QUESTIONS.questions
    ]
    limits = IntakeLimits(empty_from=8, empty_share=0.2)
    assert not check(rows).accepted
    result = check(rows, limits=limits)
    assert (result.accepted, result.answers, result.no_answers) == (True, 8, 1)
    assert [problem.severity for problem in result.problems if problem.code == "empty-answer"] == [
        Severity.WARNING
    ]


def test_reading_unchecked_file_fails_at_first_error(tmp_path: Path) -> None:
    path = tmp_path / "answers"
    path.write_bytes(GOOD + b'{"question_id": "2", "answer": ""}\n')
    reading = read_answers(path, QUESTIONS)
    assert next(reading).question_id == "1"
    with pytest.raises(InvalidFileError) as caught:
        list(reading)
    assert [problem.code for problem in caught.value.problems] == ["empty-answer"]


def test_page_explains_every_code() -> None:
    errors, warnings = PAGE.read_text(encoding="utf-8").split("### Errors")[1].split("### Warnings")
    for text, severity in ((errors, Severity.ERROR), (warnings.split("\n## ")[0], Severity.WARNING)):
        documented = re.findall(r"^\| `([a-z0-9_-]+)` \|", text, flags=re.MULTILINE)
        assert documented == [code.value for code in Code if code.severity is severity]
