"""Contexts keep their places, so that citations and ranks mean what their writer meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from data.models import QuestionSet
from submissions.check import read_answers
from submissions.context_files import check_contexts, read_contexts
from tests.submissions.conftest import Check, as_jsonl

CONTEXTS = [{"id": "p1", "text": ""}, {"id": "p2", "text": "A text."}, {"id": "p3", "text": " \n"}]


def test_a_context_without_a_text_keeps_its_place(
    check: Check, questions: QuestionSet, tmp_path: Path
) -> None:
    result = check([{"question_id": "1", "answer": "So it is [2].", "contexts": CONTEXTS}])
    (problem,) = (one for one in result.problems if one.code == "empty-context")
    assert problem.message == "2 of 3 contexts have no text; they keep their places."
    assert (result.errors, result.with_contexts) == (0, 1)
    (answer,) = read_answers(tmp_path / "answers", questions)
    assert [(one.id, one.text.strip()) for one in answer.contexts] == [
        ("p1", ""),
        ("p2", "A text."),
        ("p3", ""),
    ]


def test_a_retrieved_passage_without_a_text_keeps_its_rank(questions: QuestionSet, tmp_path: Path) -> None:
    path = tmp_path / "contexts"
    path.write_bytes(as_jsonl([{"question_id": "1", "contexts": CONTEXTS}]))
    assert check_contexts(path, questions).errors == 0
    (ranking,) = read_contexts(path, questions)
    assert [one.id for one in ranking.contexts] == ["p1", "p2", "p3"]


@pytest.mark.parametrize(
    ("answer", "unknown"),
    [("A [1]. B [2, 3].", 0), ("A [4]. B [3-5].", 3), ("A \u301012\u2020source\u3011.", 1), ("x[9] = 3", 0)],
)
def test_citations_of_no_context_are_counted(answer: str, unknown: int, check: Check) -> None:
    row: dict[str, Any] = {"question_id": "1", "answer": answer, "contexts": CONTEXTS}
    messages = [one.message for one in check([row]).problems if one.code == "unknown-citations"]
    said = f"{unknown} citations in 1 answers name no context or passage (lines 1)."
    assert messages == ([said] if unknown else [])
