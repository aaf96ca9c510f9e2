from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.models import Question, QuestionSet, Severity
from submissions.answer_warnings import copied_share, hidden_characters, judge_directed
from submissions.limits import IntakeLimits
from tests.cases import cases
from tests.narrow import known
from tests.submissions.conftest import GOOD_ROWS, QUESTIONS, Check, codes_of


def answers(questions: QuestionSet, text: Callable[[Question], str]) -> list[dict[str, str]]:
    return [{"question_id": question.id, "answer": text(question)} for question in questions.questions]


def test_copies_of_reference_are_reported(check: Check) -> None:
    copied = answers(QUESTIONS, lambda question: f"Well: {known(question.reference).upper()} [1]")
    codes = codes_of(check(copied))
    assert codes == [(0, "many-near-copies"), *((line, "near-copy") for line in range(1, 9))]
    assert check(copied).accepted
    opening = answers(QUESTIONS, lambda question: " ".join(known(question.reference).split()[:6]))
    assert codes_of(check(opening)) == codes


@pytest.mark.parametrize(
    ("answer", "copied"),
    [
        ("One, two [3]; three four five six seven eight nine ten!", 1.0),
        ("one two three four", 0.0),
        ("", 0.0),
    ],
)
def test_copied_share_counts_word_5_grams(answer: str, copied: float) -> None:
    assert copied_share(answer, "one two three four five six seven eight nine ten") == copied


def _counted(words: list[str], reference: list[str], least: float) -> float:
    total = len(words) - 4
    shingles = [tuple(words[start : start + 5]) for start in range(total)]
    copied = {tuple(reference[start : start + 5]) for start in range(len(reference) - 4)}
    missing = set(shingles) - copied
    few = sum(word in reference for word in words) * 2 < len(words)
    if few or (total - len(missing)) / total < least:
        return 0.0
    return 1 - len(missing) / len(set(shingles))


@given(
    st.lists(st.sampled_from("abcd"), min_size=5, max_size=40),
    st.lists(st.tuples(st.integers(0, 60), st.sampled_from("abx")), max_size=6),
    st.sampled_from([0.0, 0.5, 0.8, 1.0]),
)
def test_copied_share_equals_exact_count(
    reference: list[str], changes: list[tuple[int, str]], least: float
) -> None:
    words = list(reference)
    for place, word in changes:
        words.insert(place, word)
    share = copied_share(" ".join(words), " ".join(reference), least)
    assert share == pytest.approx(_counted(words, reference, least))


def test_same_answer_to_many_questions_is_reported(check: Check) -> None:
    result = check(answers(QUESTIONS, lambda _: "The  same ANSWER always." if _.id > "2" else _.id))
    (problem,) = (problem for problem in result.problems if problem.code == "same-answer")
    assert problem.line == 4
    assert "5 questions" in problem.message
    assert (4, "same-answer") in codes_of(result)


def test_many_declining_answers_are_reported_once(check: Check) -> None:
    result = check(answers(QUESTIONS, lambda _: "I couldn’t find an answer."))
    assert codes_of(result) == [(0, "many-no-answers")]
    assert result.no_answers == 8


@pytest.mark.parametrize(
    ("text", "code"), [("Error code: 429", "harness-error"), ("2 " * 4001, "long-answer")]
)
def test_long_answers_are_reported_and_errors_refused(check: Check, text: str, code: str) -> None:
    rows = answers(QUESTIONS, lambda question: text if question.id == "2" else question.id)
    assert (codes_of(check(rows)), check(rows).accepted) == ([(3, code)], code == "long-answer")
    assert check(rows, limits=IntakeLimits(keep_na=True)).accepted


def test_missing_contexts_are_reported_with_lines(check: Check) -> None:
    bare = [{**row, "contexts": None} for row in GOOD_ROWS]
    assert [problem.code for problem in check(bare).problems] == ["no-contexts"]
    (problem,) = check([*GOOD_ROWS[:6], bare[6], bare[7]]).problems
    assert (problem.line, problem.code) == (7, "missing-contexts")
    assert "lines 7, 8" in problem.message


def test_empty_contexts_give_warning(check: Check) -> None:
    row = {**GOOD_ROWS[0], "contexts": ["", "text", {"id": "x", "text": " "}]}
    assert codes_of(check([row])) == [(1, "empty-context")]


def test_partial_coverage_is_reported_by_domain(check: Check) -> None:
    result = check(GOOD_ROWS[:5])
    assert dict(result.coverage) == {"life": 1.0, "science": 0.25}
    assert result.accepted
    assert [(problem.code, problem.severity) for problem in result.problems] == [
        ("unanswered-questions", Severity.WARNING)
    ]


def test_unknown_fields_are_reported_once(check: Check) -> None:
    rows = [GOOD_ROWS[0], *({**row, "answr": "x", "score": 1} for row in GOOD_ROWS[1:])]
    assert codes_of(check(rows)) == [(2, "unknown-field"), (2, "unknown-field")]


def test_answers_with_wrong_question_are_reported(check: Check) -> None:
    rows = [{"question_id": "1", "question": QUESTIONS.questions[2].question, "answer": "x"}]
    assert codes_of(check(rows)) == [(1, "question-differs")]
    assert codes_of(check([{**rows[0], "question": "Why?"}])) == [(1, "question-differs")]
    doc = {"id": "1", "question": QUESTIONS.questions[2].question}
    slipped = {"doc_id": 0, "doc": doc, "resps": [["So it is."]]}
    assert codes_of(check([slipped])) == [(1, "question-differs")]
    slipped = {"id": "1", "user_input": doc["question"], "response": "So it is."}
    assert codes_of(check([slipped])) == [(1, "question-differs")]


AIMED = cases(__file__, "AIMED")
HONEST = cases(__file__, "HONEST")


@pytest.mark.parametrize("text", AIMED)
def test_text_aimed_at_judge_is_flagged(text: str, check: Check) -> None:
    result = check([{"question_id": "1", "answer": f"Something true. \n{text}"}])
    assert (1, "judge-directed") in codes_of(result)
    assert result.accepted


@pytest.mark.parametrize("text", HONEST)
def test_honest_text_is_not_flagged(text: str) -> None:
    assert judge_directed(text) == ""


@pytest.mark.parametrize("step", [12, pytest.param(1, marks=pytest.mark.slow)])
def test_real_answers_are_not_flagged(step: int) -> None:
    files = sorted((Path(__file__).parents[3] / "shared" / "data" / "lfrqa").glob("*.jsonl"))
    if not files:
        pytest.skip("the folder ../shared/data/lfrqa is missing")
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    texts = [json.loads(line)["answer"] for line in lines[::step]]
    assert [text for text in texts if judge_directed(text)] == []


def test_hidden_characters_exclude_ordinary_ones() -> None:
    assert hidden_characters("a\u200bb\u2060\U000e0041") == 3
    assert hidden_characters("soft\u00adhyphen, \u0645\u06cc\u200c\u062e") == 0
