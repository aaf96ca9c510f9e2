"""Small records for tests of `data`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from data.errors import InvalidFileError
from data.files.question_sets.registry import load_set
from data.files.text_files import ReadLimits
from data.models import Passage, Problem, Question, QuestionSet


def problems_of(path: Path, limits: ReadLimits | None = None) -> tuple[Problem, ...]:
    """Return the problems of a refused set."""
    with pytest.raises(InvalidFileError) as refused:
        load_set(path, limits=limits)
    return tuple(refused.value.problems)


def write_lines(path: Path, *rows: object) -> Path:
    """Write rows as JSONL."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def make_set(name: str = "tiny", count: int = 6) -> QuestionSet:
    """Make a small question set: two domains, references for all questions except the last."""
    return QuestionSet(
        name=name,
        title="A tiny set",
        licence="CC0-1.0",
        reference_name="human",
        domains={"x": "Ex", "y": "Why"},
        questions=tuple(
            Question(
                id=f"q{number}",
                domain="xy"[number % 2],
                question=f"What is {number}?",
                reference=None if number == count - 1 else f"It is {number}.",
                passages=(Passage(f"q{number}-p1", f"{number} is a number.", "Numbers"),),
                aspects=("size",),
                gold_doc_ids=("7", "8"),
                citation_numbers=((1,), (1, 2)),
                citations=(("7",), ("7", "8"), ()),
            )
            for number in range(count)
        ),
    )
