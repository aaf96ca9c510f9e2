"""Nuggets in question files, and in TREC's files beside them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from data.errors import InvalidFileError
from data.files.question_sets.registry import load_set
from data.files.question_sets.rows import content_hash, question_to_json, write_set
from data.models import Importance, Nugget, QuestionSet
from tests.data.conftest import problems_of

NUGGETS = (
    Nugget("Opened in 1905."),
    Nugget("Two towers.", Importance.VITAL),
    Nugget("Red.", Importance.OKAY),
)


def test_nuggets_survive_export_and_import(make_set: Callable[..., QuestionSet], tmp_path: Path) -> None:
    """A nugget is a text or an object, as it came; they change the hash, and a set without has none."""
    plain = make_set()
    first, *others = plain.questions
    written = plain.with_questions([replace(first, nuggets=NUGGETS), *others])
    write_set(written, tmp_path / "out")
    loaded = load_set(tmp_path / "out").questions
    assert loaded == written
    assert question_to_json(loaded.questions[0])["nuggets"] == [
        "Opened in 1905.",
        {"text": "Two towers.", "importance": "vital"},
        {"text": "Red.", "importance": "okay"},
    ]
    assert content_hash(loaded) != content_hash(plain)
    assert all("nuggets" not in question_to_json(question) for question in plain.questions)


def written_beside(folder: Path, *topics: Mapping[str, Any]) -> Path:
    """A folder of two questions with a file of nuggets."""
    rows = [{"id": key, "domain": "d", "question": f"When is {key}?"} for key in ("12", "13")]
    for name, lines in (("questions.jsonl", rows), ("nuggets.jsonl", topics)):
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder


def test_trecs_nuggets_are_taken_from_beside_the_questions(tmp_path: Path) -> None:
    """AutoNuggetizer's lines are taken by their qid, assignments left alone; other topics are warned of."""
    graded = {"text": "Red.", "importance": "okay", "assignment": "partial_support"}
    folder = written_beside(
        tmp_path,
        {"query": "When?", "qid": 12, "nuggets": [graded, {"text": "Two towers.", "importance": "vital"}]},
        {"query": "Who?", "qid": "99", "nuggets": []},
    )
    loaded = load_set(folder)
    assert loaded.questions.by_id["12"].nuggets == (NUGGETS[2], NUGGETS[1])
    assert loaded.questions.by_id["13"].nuggets == ()
    (warning,) = loaded.warnings
    assert warning.message.startswith("nuggets.jsonl: Topics of no question of this set, left out: 1")


@pytest.mark.parametrize(
    ("topic", "code"),
    [
        ({"qid": "12", "nuggets": [{"text": "Red.", "importance": "great"}]}, "wrong-value"),
        ({"qid": "12", "nuggets": [{"importance": "okay"}]}, "bad-nugget"),
        ({"qid": "12", "nuggets": ["Red.", "Red."]}, "duplicate-nugget"),
        ({"qid": "12", "nuggets": "Red."}, "wrong-type"),
        ({"qid": "12"}, "missing-field"),
        ({"nuggets": ["Red."]}, "missing-field"),
    ],
)
def test_unusable_nuggets_are_problems_of_their_file(
    tmp_path: Path, topic: dict[str, Any], code: str
) -> None:
    """What cannot be read is refused with its line, its file and a code; nothing is left out silently."""
    (problem,) = problems_of(written_beside(tmp_path, {"qid": "13", "nuggets": ["Blue."]}, topic))
    assert (problem.line, problem.code) == (2, code)
    assert problem.message.startswith("nuggets.jsonl: ")


def test_nuggets_given_twice_are_refused(tmp_path: Path) -> None:
    """Two lines on one question are a problem, since either could be meant."""
    topic = {"qid": "12", "nuggets": ["Red."]}
    with pytest.raises(InvalidFileError, match="1 problem"):
        load_set(written_beside(tmp_path, topic, topic))
