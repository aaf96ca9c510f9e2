"""Pooling of answer files from other tools into one question set."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data.errors import InputError, InvalidFileError
from data.models import Question
from data.text import is_blank
from submissions.answer_tables import AnswerTable, answer_table_of, read_answer_table
from submissions.pooling import pool
from submissions.shapes import Shape

QUESTIONS = ("Why does bread rise?", "What is rain?", "Who wrote Emma?")


def table(name: str, rows: Sequence[Mapping[str, object]], *, answers: bool = True) -> AnswerTable:
    return answer_table_of(rows, name=f"{name}.csv", system=name, answers=answers)


def rows_with(answer: str = "An answer.", **more: object) -> list[dict[str, object]]:
    return [{"prompt": question, "response": answer, **more} for question in QUESTIONS]


def test_answers_keyed_by_question_text_are_read(tmp_path: Path) -> None:
    for name in ("mine", "right"):
        (tmp_path / f"{name}.json").write_text(json.dumps(dict.fromkeys(QUESTIONS, name)))
    cases = [{"name": "t", "input": text, "actualOutput": "theirs"} for text in QUESTIONS]
    (tmp_path / "run.json").write_text(json.dumps({"testCases": cases, "metricsScores": [], "prompts": []}))
    (tmp_path / "both.json").write_text(json.dumps({"a": rows_with("x"), "b": rows_with("y")}))
    assert list(read_answer_table(tmp_path / "both.json").systems) == ["a", "b"]
    read = [read_answer_table(tmp_path / f"{name}.json", system=name) for name in ("mine", "run")]
    joined = pool(read, read_answer_table(tmp_path / "right.json", answers=False))
    assert {question.question: question.reference for question in joined.questions} == dict.fromkeys(
        QUESTIONS, "right"
    )
    assert {name: {answer.answer for answer in some} for name, some in joined.answers.items()} == {
        "mine": {"mine"},
        "run": {"theirs"},
    }


def test_long_and_wide_tables_match_separate_files(tmp_path: Path) -> None:
    systems = ("alpha", "beta", "org/gamma-7b")
    files = [table(name, [{"question": q, "answer": f"{name}: {q}"} for q in QUESTIONS]) for name in systems]
    long = tmp_path / "long.jsonl"
    long.write_text(
        "".join(
            json.dumps({"model": name, "prompt": q, "response": f"{name}: {q}"}) + "\n"
            for q in QUESTIONS
            for name in systems
        )
    )
    wide = tmp_path / "wide.csv"
    pd.DataFrame({"question": QUESTIONS, **{n: [f"{n}: {q}" for q in QUESTIONS] for n in systems}}).to_csv(
        wide, index=False
    )
    read = [read_answer_table(path) for path in (long, wide)]
    assert [read_table.shape for read_table in read] == [Shape.LONG, Shape.WIDE]
    assert "read model as the system, prompt as the question, response as the answer." in read[0].sentence
    assert (read[1].unread, table("x", rows_with(golds=["yes"])).sentence[-20:]) == (
        (),
        "; not read: 'golds'.",
    )
    assert "read: 'response', 'output'. If" in table("x", rows_with(output="no")).problems[0].message
    assert "3 systems, a column each ('alpha', 'beta', 'org/gamma-7b')" in read[1].sentence
    expected = pool(files).answers
    assert set(expected) == set(systems)
    for file in read:
        assert pool([file]).answers == expected


def test_joins_use_ids_or_else_texts() -> None:
    shared = [
        table("a", [{"id": i, "question": q, "answer": "x"} for i, q in enumerate(QUESTIONS)]),
        table("b", [{"id": i, "answer": "y"} for i in range(3)]),
    ]
    joined = pool(shared)
    assert [question.id for question in joined.questions] == ["0", "1", "2"]
    assert not joined.lacking
    assert not joined.by_text
    numbered = [
        table("a", [{"id": i, "question": q, "answer": "x"} for i, q in enumerate(QUESTIONS)]),
        table("b", [{"id": i, "question": q, "answer": q} for i, q in enumerate(reversed(QUESTIONS))]),
    ]
    joined = pool(numbered)
    assert joined.by_text
    by_id = {question.id: question.question for question in joined.questions}
    assert all(by_id[answer.question_id] == answer.answer for answer in joined.answers["b"])
    with pytest.raises(InputError, match="two different questions"):
        pool([*numbered, table("c", [{"id": 1, "answer": "z"}])])


def test_failed_join_reports_error() -> None:
    with pytest.raises(InputError, match=r"No file has the text of 1 question: '7'") as refused:
        pool([table("a", [{"id": 7, "answer": "x"}])])
    assert "--references" in str(refused.value)
    twice = [answer_table_of(rows_with(), name=name, system="same") for name in ("first.csv", "second.csv")]
    with pytest.raises(InputError, match=r"first.csv and second.csv both have an answer of same"):
        pool(twice)
    rows = [*rows_with(), {"prompt": QUESTIONS[0], "response": "again"}, {"response": "to what?"}]
    rows += [{"prompt": "What else?", "response": float("nan")}, {"prompt": "And?", "response": "  "}]
    frame = pd.DataFrame(rows).astype(object).where(lambda cells: cells.notna(), None)
    plain = [{str(name): cell for name, cell in row.items()} for row in frame.to_dict("records")]
    joined = pool([table("a", plain)])
    assert joined.notes == (
        "1 row without a question left out.",
        "a: 2 rows without an answer.",
        "a: 1 answer left out as repeated answers to a question; the first counts (see --repeats).",
    )
    assert [answer.answer for answer in joined.answers["a"]] == ["An answer."] * 3
    assert len(joined.questions) == 5
    assert joined.lacking


def test_repeated_rows_are_answers_to_one_question() -> None:
    rows = [{"id": at, "question": q, "answer": ["Yes.", f"No {at}."]} for at, q in enumerate(QUESTIONS)]
    tables = [table("a", rows), table("b", [*rows[:2], {**rows[1], "answer": "Third."}])]
    joined = pool(tables, repeats=True)
    assert (joined.each, joined.lacking, len(joined.distinct)) == (", 2 to 3 answers each", {"b": 1}, 3)
    assert [question.id for question in joined.questions][:4] == ["0", "0#answer-2", "1", "1#answer-2"]
    assert {answer.question_id: answer.answer for answer in joined.answers["b"]} == {
        "0": "Yes.",
        "0#answer-2": "No 0.",
        "1": "Yes.",
        "1#answer-2": "No 1.",
        "1#answer-3": "Third.",
    }
    assert [len(some) for some in pool(tables).answers.values()] == [3, 2]


def test_tests_with_same_question_share_reference() -> None:
    tests = [
        {"ask": "Why?", "style": "short"},
        {"ask": "Why?", "style": "long"},
        {"ask": "How?", "style": "x"},
    ]
    log = table(
        "log",
        [
            {"vars": variables, "testIdx": 0, "provider": "m", "response": {"output": "So."}}
            for variables in tests
        ],
    )
    right = table(
        "r",
        [{"id": at, "question": q, "reference": f"{q} So."} for at, q in enumerate(("Why?", "How?"))],
        answers=False,
    )
    joined = pool([log], right)
    assert {question.question: question.reference for question in joined.questions} == {
        "How?": "How? So.",
        "Why?\nshort": "Why? So.",
        "Why?\nlong": "Why? So.",
    }
    assert not joined.lacking
    assert "Why?" in {
        question.question for question in pool([log, table("b", [{"id": 0, "answer": "x"}])], right).questions
    }
    before = [
        Question(id="1", domain="all", question="How?"),
        Question(id="0", domain="all", question="Why?"),
    ]
    assert {question.id for question in pool([log], right, before).questions} >= {"1"}


def test_references_are_read_from_answers_or_own_file() -> None:
    own = table("refs", [{"question": q, "answer": f"R {q}", "topic": "t"} for q in QUESTIONS], answers=False)
    joined = pool([table("a", rows_with()), table("b", rows_with("Other."))], own)
    assert [question.reference for question in joined.questions] == [f"R {q}" for q in QUESTIONS]
    assert {question.domain for question in joined.questions} == {"t"}
    assert set(joined.answers) == {"a", "b"}
    others = pool([table("a", rows_with(ground_truth="G")), table("b", rows_with())])
    assert others.references == 3


def test_table_without_questions_reports_columns() -> None:
    with pytest.raises(InvalidFileError) as refused:
        answer_table_of([{"response": "x"}], name="rows", system="s")
    assert "No row names a question" in refused.value.problems[0].message


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    texts=st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=6, unique_by=str.strip),
    answers=st.lists(st.text(), min_size=6, max_size=6),
)
def test_pooling_neither_loses_nor_invents_answers(texts: list[str], answers: list[str]) -> None:
    rows = [{"question": q, "answer": a} for q, a in zip(texts, answers, strict=False)]
    if all(is_blank(row["answer"]) for row in rows):
        return
    joined = pool([table("s", rows)])
    by_id = {question.id: question.question for question in joined.questions}
    given_pairs: dict[str, str] = {}
    for row in rows:
        if not is_blank(row["answer"]):
            given_pairs.setdefault(" ".join(row["question"].casefold().split()), row["answer"])
    found = [answer.answer for answer in joined.answers["s"]]
    assert set(found) <= set(answers)
    assert all(by_id[answer.question_id] for answer in joined.answers["s"])
    assert len(found) <= len(given_pairs)
