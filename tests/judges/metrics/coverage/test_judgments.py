from __future__ import annotations

from pathlib import Path

import pytest

from data.errors import InvalidFileError
from data.files.text_files import ReadLimits
from judges.metrics.coverage.judgments import AspectJudgments, read_judgments
from tests.narrow import mapping

QRELS = """q1 1 d1 1
q1 2 d1 0

q2 2 d1 2
"""
LINES = """{"question_id": "q1", "passage_id": "d1", "aspect": 1}
{"question_id": "q1", "passage_id": "d1", "aspect": 2, "relevance": 0}
{"question_id": "q2", "passage_id": "d1", "aspect": "the  second", "relevance": 2}
"""


def read(folder: Path, text: str) -> AspectJudgments:
    path = folder / "judgments"
    path.write_text(text, encoding="utf-8")
    return read_judgments(path, ReadLimits())


@pytest.mark.parametrize("text", [QRELS, LINES])
def test_both_formats_are_read_by_question(tmp_path: Path, text: str) -> None:
    judgments = read(tmp_path, text)
    aspects = ("the first", "the second")
    assert judgments.covered("q1", "d1", aspects) == (0,)
    assert judgments.covered("q2", "d1#3", aspects) == (1,)
    assert judgments.covered("q3", "d1", aspects) == ()
    assert (judgments.known("q1"), judgments.known("q3")) == (True, False)
    assert AspectJudgments.of({q: mapping(p) for q, p in judgments.as_json().items()}) == judgments


def test_problems_are_listed_by_line(tmp_path: Path) -> None:
    lines = [
        "q1 1 d1 1",
        "q1 one d1 1",
        "q1 -1 d1 1",
        "q1 1 d1",
        "q1 1 d2 high",
        '{"question_id": "q1", "aspect": 1}',
        '{"question_id": "q1", "passage_id": "d3", "aspect": ""}',
        '{"question_id": "q1", "passage_id": "d3", "aspect": 1, "relevance": "yes"}',
        "[1]",
        "{broken",
        '{"question_id": "q1", "passage_id": "d1", "aspect": 1}',
    ]
    with pytest.raises(InvalidFileError) as caught:
        read(tmp_path, "\n".join(lines))
    assert [problem.line for problem in caught.value.problems] == list(range(2, 12))
    assert "in line 1" in caught.value.problems[-1].message


def test_empty_or_missing_file_is_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match="1 problem"):
        read(tmp_path, "\n\n")
    with pytest.raises(InvalidFileError):
        read_judgments(tmp_path / "nothing", ReadLimits())


def test_judgments_without_aspect_cover_nothing(tmp_path: Path) -> None:
    judgments = read(tmp_path, "q1 0 d1 1\nq1 1 d2 1\nq2 0 d3 2\n")
    aspects = ("the first", "the second")
    assert (judgments.covered("q1", "d1", aspects), judgments.covered("q1", "d2", aspects)) == ((), (0,))
    assert judgments.known("q2")
    assert judgments.unknown_aspects("q1", aspects) == ()
    with pytest.raises(InvalidFileError) as caught:
        read(tmp_path, "q1 0 d1 1\nq1 0 d2 0\n")
    assert "only judgments without an aspect" in str(caught.value.problems)
