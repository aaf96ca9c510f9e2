"""WikiContradict files as question sets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from data.files.question_sets.loader import load_set
from tests.data.conftest import problems_of

LINE = {
    "question": "When did it open?",
    "context1_self_contained": "It opened in 1960.",
    "context2_self_contained": "It opened in 1970.",
    "gt_answer_1": "1960",
    "gt_answer_2": "1970",
    **{f"answer{n}": f"Answer {n}." for n in range(5)},
    **{f"label{n}": "Correct" for n in range(5)},
    "model": "one",
}


def write(folder: Path, *rows: object) -> Path:
    """Write lines into a file."""
    path = folder / "dev.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_lines_of_several_models_are_one_question(tmp_path: Path) -> None:
    """Contexts become passages, true answers short answers, each model's column of answers a system."""
    other = {**LINE, "model": "two", "answer4": "Another."}
    loaded = load_set(write(tmp_path, LINE, other))
    (question,) = loaded.questions.questions
    assert [(one.id, one.text) for one in question.passages] == [
        ("p1", "It opened in 1960."),
        ("p2", "It opened in 1970."),
    ]
    assert question.short_answers == ("1960", "1970")
    assert set(loaded.answers) == {f"{model}-answer{n}" for model in ("one", "two") for n in range(5)}
    assert loaded.answers["two-answer4"][0].answer == "Another."


def test_an_answer_has_the_contexts_that_its_model_saw(tmp_path: Path) -> None:
    """The first answer saw no passage, the next two one each, the last two both."""
    loaded = load_set(write(tmp_path, LINE), name="wc")
    assert loaded.questions.name == "wc"
    seen = [[one.id for one in loaded.answers[f"one-answer{n}"][0].contexts] for n in range(5)]
    assert seen == [[], ["p1"], ["p2"], ["p1", "p2"], ["p1", "p2"]]


def test_a_question_with_other_contexts_is_another_question(tmp_path: Path) -> None:
    """Ids follow question and passages, so the same file gives the same ids in any order."""
    other = {**LINE, "context2_self_contained": "It opened in 1980."}
    ids = [one.id for one in load_set(write(tmp_path, LINE, other)).questions.questions]
    assert len(set(ids)) == 2
    again = [one.id for one in load_set(write(tmp_path, other, LINE)).questions.questions]
    assert again == ids[::-1]


@pytest.mark.parametrize("damaged", [{"question": "Why?"}, 3, {**LINE, "context1_self_contained": " "}])
def test_a_damaged_line_is_named(tmp_path: Path, damaged: object) -> None:
    """A line without its contexts stops the import and is named."""
    assert [problem.line for problem in problems_of(write(tmp_path, LINE, damaged))] == [2]
