"""TREC's files of nuggets by topic, beside the questions of a set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from data.files.tabular.fields import NUGGETS, Fields
from data.files.tabular.records import each_record
from data.files.text_files import ReadLimits
from data.models import Nugget, ProblemList, Question, Severity

FILES = ("nuggets.jsonl", "nuggets.jsonl.gz")
Topic = tuple[str, tuple[Nugget, ...]]


def with_nuggets(
    questions: Sequence[Question], folder: Path, limits: ReadLimits, problems: ProblemList
) -> list[Question]:
    """The questions with the nuggets of `nuggets.jsonl` in their folder, where there is one.

    A line is an object with `qid` (or `question_id`) and `nuggets`, as AutoNuggetizer writes it. Topics of no
    question are left out, with a warning that says how many these are.
    """
    file = next((folder / name for name in FILES if (folder / name).exists()), None)
    if file is None:
        return list(questions)
    known = {question.id: question for question in questions}
    left_out: list[int] = []
    filled: set[str] = set()
    noted = ProblemList()
    for line, (key, nuggets) in each_record(file, limits, _topic, noted):
        if key not in known:
            left_out.append(line)
        elif key in filled or known[key].nuggets:
            message = f"Question {key!r} has nuggets already."
            noted.add(line, "duplicate-question", message, advice="Give them once.")
        else:
            filled.add(key)
            known[key] = replace(known[key], nuggets=nuggets)
    if left_out:
        message = f"Topics of no question of this set, left out: {len(left_out):,}."
        noted.add(left_out[0], "unknown-question", message, severity=Severity.WARNING)
    for one in noted.result():
        message = one.message if file.name in one.message else f"{file.name}: {one.message}"
        problems.add(one.line, one.code, message, severity=one.severity, advice=one.advice)
    return list(known.values())


def _topic(line: int, row: Mapping[str, object], problems: ProblemList) -> Topic | None:
    fields = Fields(line, row, problems)
    key = fields.id("qid", "question_id")
    if row.get(NUGGETS) is None:
        fields.note("missing-field", f"There are no {NUGGETS}.", "Give a list of them.")
    nuggets = fields.nuggets()
    return None if fields.wrong else (key, nuggets)
