"""Any uploaded bytes lead to a report."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data.errors import InvalidFileError
from data.models import QuestionSet
from submissions.card import check_card
from submissions.check import CheckReport, check_answers, read_answers, report_lines
from submissions.limits import IntakeLimits
from submissions.problem_codes import Code
from tests.submissions.conftest import ENCODERS, GOOD_ROWS, QUESTIONS

QUICK = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
LIMITS = IntakeLimits(file_bytes=4_000, row_bytes=600, answers=12, answer_chars=200, errors=20)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
FIELDS = st.sampled_from(["question_id", "answer", "contexts", "query", "pred", "passages", "question", "x"])
IDS = st.sampled_from(["0", 1, "sci-4", "absent"])
ROWS = (
    VALUES
    | st.fixed_dictionaries({"question_id": IDS, "answer": SCALARS}, optional={"contexts": VALUES})
    | (st.dictionaries(FIELDS, VALUES, max_size=4))
)


def check_twice(path: Path, questions: QuestionSet) -> CheckReport:
    result = check_answers(path, questions, limits=LIMITS)
    assert {problem.code for problem in result.problems} <= set(Code)
    json.dumps(result.model_dump(mode="json"), allow_nan=False).encode()
    assert all(line.isprintable() for line in report_lines(result))
    try:
        read = list(read_answers(path, questions, limits=LIMITS))
    except InvalidFileError:
        assert result.errors
    else:
        assert (result.errors == 0) == (len(read) > 0)
        assert len(read) == result.answers
    return result


@QUICK
@given(content=st.binary(max_size=300) | st.text(max_size=200).map(str.encode), zipped=st.booleans())
def test_arbitrary_bytes_give_report(content: bytes, zipped: bool, tmp_path: Path) -> None:
    path = tmp_path / "answers"
    path.write_bytes(gzip.compress(content) if zipped else content)
    check_twice(path, QUESTIONS)


@pytest.mark.slow
@QUICK
@given(rows=st.lists(ROWS, max_size=6), form=st.sampled_from(["jsonl", "json"]))
def test_arbitrary_json_gives_report(rows: list[object], form: str, tmp_path: Path) -> None:
    path = tmp_path / "answers"
    lines = [json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) if form == "jsonl" else f"[{','.join(lines)}]", encoding="utf-8")
    check_twice(path, QUESTIONS)


@QUICK
@given(data=st.data(), form=st.sampled_from(["jsonl", "json", "csv", "jsonl.gz", "csv.gz"]))
def test_damaged_file_gives_report(data: st.DataObject, form: str, tmp_path: Path) -> None:
    content = bytearray(ENCODERS[form](GOOD_ROWS))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        length = data.draw(st.integers(0, 20))
        content[place : place + length] = data.draw(st.binary(max_size=6))
        content = content or bytearray(b" ")
    path = tmp_path / "answers"
    path.write_bytes(bytes(content[: data.draw(st.integers(1, len(content)))]))
    check_twice(path, QUESTIONS)


@QUICK
@given(text=st.text(max_size=200) | st.text(alphabet="model: link\n[]{}&*!|>'\"-#%@,0", max_size=60))
def test_arbitrary_card_text_gives_card_or_problems(text: str) -> None:
    card, problems = check_card(text)
    assert (card is None) == bool(problems)


@pytest.mark.parametrize("form", ["jsonl", "json", "csv"])
def test_truncated_file_never_has_more_answers(form: str, tmp_path: Path) -> None:
    content = ENCODERS[form](GOOD_ROWS)
    path = tmp_path / "answers"
    for length in range(0, len(content), 7):
        path.write_bytes(content[:length])
        result = check_answers(path, QUESTIONS)
        assert result.answers <= len(GOOD_ROWS)
        assert not (form == "json" and result.accepted)
