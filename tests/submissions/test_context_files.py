"""Files of contexts without answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from submissions.check import check_answers, read_answers
from submissions.context_files import check_contexts, read_contexts
from submissions.limits import IntakeLimits
from tests.cases import cases
from tests.submissions.conftest import QUESTIONS, Check


def _run(folder: Path, lines: list[str]) -> Path:
    path = folder / "run.trec"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_run_order_is_that_of_trec_eval(tmp_path: Path) -> None:
    lines = ["0 Q0 low 1 0.5 r", "0 Q0 high 2 2 r", "0 Q0 a 3 1.00000001 r", "0 Q0 b 4 1 r"]
    path = _run(tmp_path, [*lines, "sci-4 Q0 x 1 -3 r"])
    result = check_contexts(path, QUESTIONS)
    assert (result.accepted, result.kind, result.format, result.answers) == (True, "contexts", "trec-run", 2)
    codes = {problem.code for problem in result.problems}
    assert codes == {"unanswered-questions"}
    first, second = read_contexts(path, QUESTIONS)
    assert [passage.id for passage in first.contexts] == ["high", "b", "a", "low"]
    assert second.question_id == "sci-4"


@pytest.mark.parametrize(("lines", "code"), cases(__file__, "measure_without_data_is_refused"))
def test_invalid_run_is_refused(tmp_path: Path, lines: list[str], code: str) -> None:
    result = check_contexts(_run(tmp_path, lines), QUESTIONS, limits=IntakeLimits(ranked=2))
    assert not result.accepted
    assert code in {problem.code for problem in result.problems if problem.severity == "error"}


def test_run_submitted_as_answers_is_refused(tmp_path: Path) -> None:
    (problem,) = check_answers(_run(tmp_path, ["0 Q0 d 1 0.5 r"]), QUESTIONS).problems
    assert (problem.code, "--kind contexts" in problem.advice) == ("wrong-format", True)


CONTEXTS = [{"id": "p1", "text": ""}, {"id": "p2", "text": "A text."}, {"id": "p3", "text": " \n"}]


def test_context_without_text_keeps_its_place(check: Check, tmp_path: Path) -> None:
    result = check([{"question_id": "1", "answer": "So it is [2].", "contexts": CONTEXTS}])
    (problem,) = (problem for problem in result.problems if problem.code == "empty-context")
    assert problem.message == "2 of 3 contexts have no text; they keep their positions."
    assert (result.errors, result.with_contexts) == (0, 1)
    assert check_contexts(tmp_path / "answers", QUESTIONS).errors == 0
    for read in (read_answers, read_contexts):
        (row,) = read(tmp_path / "answers", QUESTIONS)
        assert [(passage.id, passage.text.strip()) for passage in row.contexts] == [
            ("p1", ""),
            ("p2", "A text."),
            ("p3", ""),
        ]


@pytest.mark.parametrize(
    ("answer", "unknown"),
    [("A [1]. B [2, 3].", 0), ("A [4]. B [3-5].", 3), ("A \u301012\u2020source\u3011.", 1), ("x[9] = 3", 0)],
)
def test_unknown_citations_are_counted(answer: str, unknown: int, check: Check) -> None:
    row: dict[str, Any] = {"question_id": "1", "answer": answer, "contexts": CONTEXTS}
    messages = [problem.message for problem in check([row]).problems if problem.code == "unknown-citations"]
    expected = f"{unknown} citations in 1 answers match no context or passage (lines 1)."
    assert messages == ([expected] if unknown else [])
