"""Nuggets in files: of a line of questions or answers, and TREC's files of nuggets by topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from data.files.jsonl import each_record
from data.files.text_files import ReadLimits
from data.records import Importance, Nugget, ProblemList, Question, Severity

NUGGETS = "nuggets"
FILES = ("nuggets.jsonl", "nuggets.jsonl.gz")
TOPICS = ("question_id", "qid")
GRADES = ", ".join(f'"{grade.value}"' for grade in Importance)
Topic = tuple[str, tuple[Nugget, ...]]


def read_nuggets(line: int, row: Mapping[str, object], problems: ProblemList) -> tuple[Nugget, ...]:
    """Read the `nuggets` of a line, noting every problem: texts, or objects of `text` and `importance`.

    An object's further fields are left alone, such as `assignment` in TREC's files of graded answers.
    """
    values = row.get(NUGGETS)
    if values is None:
        return ()
    if not isinstance(values, list):
        problems.add(line, "wrong-type", f"{NUGGETS} is not a list.", advice="Write a list of texts.")
        return ()
    found = [_nugget(line, place, value, problems) for place, value in enumerate(values, start=1)]
    nuggets = tuple(nugget for nugget in found if nugget is not None)
    if len({nugget.text for nugget in nuggets}) != len(nuggets):
        problems.add(line, "duplicate-nugget", "Two nuggets of one question have one text.")
    return nuggets


def _nugget(line: int, place: int, value: object, problems: ProblemList) -> Nugget | None:
    entry = {"text": value} if isinstance(value, str) else value
    text = entry.get("text") if isinstance(entry, Mapping) else None
    if not isinstance(entry, Mapping) or not isinstance(text, str) or not text.strip():
        problems.add(line, "bad-nugget", f"Nugget {place} has no text.")
        return None
    importance = entry.get("importance")
    if importance is None:
        return Nugget(text)
    if not isinstance(importance, str) or importance not in {grade.value for grade in Importance}:
        message = f"The importance of nugget {place} is {importance!r}."
        problems.add(line, "wrong-value", message, advice=f"Use {GRADES}, or leave it out.")
        return None
    return Nugget(text, Importance(importance))


def nugget_to_json(nugget: Nugget) -> str | dict[str, str]:
    """Write a nugget: its text alone where it says nothing of its importance."""
    if nugget.importance is None:
        return nugget.text
    return {"text": nugget.text, "importance": nugget.importance.value}


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
    noted = ProblemList()
    left_out: list[int] = []
    filled: set[str] = set()
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
        message = f"{file.name}: {one.message}"
        problems.add(one.line, one.code, message, severity=one.severity, advice=one.advice)
    return list(known.values())


def _topic(line: int, row: object, problems: ProblemList) -> Topic | None:
    if not isinstance(row, Mapping):
        problems.add(line, "not-object", "This line is not a JSON object.")
        return None
    before = problems.errors
    names = [row.get(name) for name in TOPICS]
    key = next((str(name) for name in names if isinstance(name, str | int) and str(name).strip()), "")
    if not key:
        problems.add(line, "missing-field", "There is no qid.", advice="Give the id of a question.")
    if row.get(NUGGETS) is None:
        problems.add(line, "missing-field", f"There are no {NUGGETS}.", advice="Give a list of them.")
    nuggets = read_nuggets(line, row, problems)
    return None if problems.errors > before else (key, nuggets)
