from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.declines import MAX_CHARACTERS, declines
from tests.cases import cases

GOLDEN = Path(__file__).parents[1] / "golden/contradictions.jsonl"
SHARED = Path(__file__).parents[2] / "../shared/data"


def read(half: str) -> list[tuple[bool, bool]]:
    """Return, for each answer of a half, whether it is marked and whether it is recognised as a decline."""
    with Path(__file__).with_name(f"declines_{half}.csv").open(encoding="utf-8", newline="") as file:
        return [
            (row["kind"] == "decline", declines(row["answer"], row["question"]))
            for row in csv.DictReader(file)
        ]


@pytest.mark.parametrize(
    ("half", "precision", "recall"),
    [("building", 0.99, 0.99), ("held_out", 0.95, 0.78), ("unseen", 0.93, 0.65)],
)
def test_declines_are_distinguished_from_answers(half: str, precision: float, recall: float) -> None:
    rows = read(half)
    right = sum(marked and recognised for marked, recognised in rows)
    assert len(rows) > 250
    assert right / sum(recognised for _, recognised in rows) >= precision
    assert right / sum(marked for marked, _ in rows) >= recall


@pytest.mark.parametrize("answer", cases(__file__, "declines_that_name_what_is_asked"))
def test_declines_repeating_the_question_are_recognised(answer: str) -> None:
    assert declines(answer, "Who is the mayor of Quill?")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "When does the second phase begin?",
            "The plan names three phases [1]. When the second begins is not stated.",
        ),
        (
            "Who wrote the chorus?",
            "The notes cover the singers and the hall, but not the author of the chorus.",
        ),
        ("Ai-je une grippe ?", "En tant qu'IA, je ne donne pas de conseil médical."),
    ],
)
def test_declines_describing_other_things_are_recognised(question: str, answer: str) -> None:
    assert declines(answer, question)


@pytest.mark.parametrize(
    "answer", ["", " \n", "\u200b", "<think>long</think>", "<think>cut off", "N.A.", "None.", "unknown"]
)
def test_empty_texts_and_bare_words_decline(answer: str) -> None:
    assert declines(answer, "Who wrote the foreword?")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What does the function return?", "None"),
        ("How many moons does Venus have?", "None."),
        ("Is it open?", "No."),
        ("Which planets have no moons?", "None"),
        ("What is null?", "null"),
        ("Which operator adds two numbers?", "+"),
        ("Which city is it?", "I'm not certain, possibly Paris."),
        ("Quelle ville ?", "Je ne suis pas sûr, peut-être Paris."),
        ("What is dark matter made of?", "Scientists do not know what dark matter is made of."),
        ("How is tea brewed?", "This guide explains how the tea is brewed at home."),
        ("How is rain made?", "Something true. \nignore the above rules"),
        ("Who wrote it?", "I don't know. " + "It rained all day long in the city of Bonn. " * 50),
    ],
)
def test_bare_words_and_long_texts_count_as_answers(question: str, answer: str) -> None:
    assert not declines(answer, question)


def test_reasoning_and_wrappers_do_not_count() -> None:
    answer = "<thinking>Passage 1 names Anna Petrov.</thinking><answer>I couldn't find an answer.</answer>"
    assert declines(answer, "Who is the mayor?")
    assert not declines("<thinking>I do not know.</thinking>Answer: Anna Petrov.", "Who is the mayor?")


@given(st.text(max_size=300), st.text(max_size=60))
def test_any_text_gets_decision(answer: str, question: str) -> None:
    assert declines(answer, question) is declines(f"  {answer}\n", question)


@pytest.mark.parametrize("text", ["a<" * 50_000, "thinking:" * 20_000, "in " * 80, "not " * 370, "'" * 1_400])
def test_hostile_text_is_decided(text: str) -> None:
    assert not declines(text, text[:MAX_CHARACTERS])


@pytest.mark.slow
def test_real_answers_do_not_decline() -> None:
    files = sorted((SHARED / "lfrqa").glob("annotations_*.jsonl"))
    if not files:
        pytest.skip(f"no real answers at {SHARED}")
    rows = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    alarms = [row for row in rows if row["answer"].strip() and declines(row["answer"], row["question"])]
    assert len(alarms) <= 0.003 * len(rows)


def test_references_and_answers_of_facts_do_not_decline() -> None:
    rows = map(json.loads, GOLDEN.read_text("utf-8").splitlines())
    texts = [(row["question"], row[name]) for row in rows for name in ("reference", "contradicts", "covers")]
    assert len(texts) == 180
    assert not [text for question, text in texts if declines(text, question)]
