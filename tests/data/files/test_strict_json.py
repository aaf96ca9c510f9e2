from __future__ import annotations

from pathlib import Path

import pytest

from data.errors import FileFormatError
from data.files.question_sets.registry import load_set
from data.files.strict_json import counting_nuls, parse_json
from leaderboard.formats import format_of
from submissions.check import check_answers

NUL = r"\u0000"


@pytest.mark.parametrize(
    ("text", "value", "count"),
    [
        (rf'"a{NUL}b{NUL}{NUL}"', "a\ufffdb\ufffd\ufffd", 3),
        (rf'{{"k{NUL}": "\\{NUL}"}}', {"k\ufffd": "\\\ufffd"}, 2),
        (rf'"a\{NUL}"', "a" + NUL, 0),
    ],
)
def test_escaped_nuls_are_replaced_and_counted(text: str, value: object, count: int) -> None:
    with counting_nuls() as counts:
        assert parse_json(text, 1) == parse_json(text, 2) == value
    assert sum(counts.values()) == count


def test_files_with_escaped_nuls_are_read_with_warning(tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").write_text(rf'{{"id": "q", "domain": "d", "question": "Why{NUL}?"}}')
    loaded = load_set(tmp_path)
    assert loaded.questions.questions[0].question == "Why\ufffd?"
    answers = tmp_path / "answers.jsonl"
    answers.write_text(rf'{{"question_id": "q", "answer": "It is{NUL} so."}}')
    with counting_nuls() as nuls, pytest.raises(FileFormatError, match="not a battle"):
        format_of(answers)  # Commands look at a file's format before they read it.
    assert not nuls
    report = check_answers(answers, loaded.questions)
    assert report.accepted
    for problems in (loaded.warnings, report.problems):
        assert [problem.message for problem in problems if problem.code == "nul-characters"] == [
            rf"NUL characters ({NUL}) read as U+FFFD, since databases cannot store them: 1."
        ]
