from __future__ import annotations

import json

from data.models import Question, QuestionSet
from submissions.question_index import answers_template, sample_answers
from tests.submissions.conftest import QUESTIONS, Check


def test_template_has_every_question_without_reference() -> None:
    lines = list(answers_template(QUESTIONS))
    assert [json.loads(line)["question_id"] for line in lines] == [
        question.id for question in QUESTIONS.questions
    ]
    assert not any("human-written reference" in line for line in lines)


def test_completed_template_is_valid(check: Check) -> None:
    rows = [json.loads(line) for line in answers_template(QUESTIONS)]
    result = check([{**row, "answer": f"Answer {row['question_id']}."} for row in rows])
    assert [problem.code for problem in result.problems] == ["no-contexts"]


def test_sample_is_valid(check: Check) -> None:
    result = check("\n".join(sample_answers(QUESTIONS, number=4)).encode())
    assert (result.accepted, result.answers, result.with_contexts) == (True, 4, 4)
    assert set(result.coverage.values()) == {0.5}
    assert {problem.code for problem in result.problems} == {"unanswered-questions"}


def test_sample_without_passages_is_valid(check: Check) -> None:
    bare = QuestionSet(
        name="bare", title="B", domains={"x": "X"}, questions=(Question(id="1", domain="x", question="Why?"),)
    )
    assert check("\n".join(sample_answers(bare)).encode(), questions=bare).accepted
