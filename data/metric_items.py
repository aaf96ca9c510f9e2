"""Answers to be scored, as files: JSONL lines `{"id", "question", "answer", "passages": […], …}`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from data.files import ReadLimits
from data.jsonl import read_records
from data.records import MetricItem, Passage, ProblemList

TEXTS = ("question", "answer")
LISTS = ("aspects", "sub_questions", "short_answers")


def read_items(path: Path, limits: ReadLimits) -> tuple[MetricItem, ...]:
    """Read the answers of a file.

    Raises:
        InvalidFileError: The file has problems; all of them are listed.
    """
    return read_records(path, limits, _item)


def _item(line: int, row: object, problems: ProblemList) -> MetricItem | None:
    if not isinstance(row, Mapping):
        problems.add(line, "not-object", "This line is not a JSON object.")
        return None
    before = problems.errors
    key = row.get("id", line)
    texts = {name: row.get(name) for name in TEXTS}
    for name, value in texts.items():
        if not isinstance(value, str):
            problems.add(line, "missing-field", f"There is no {name}, or it is not a string.")
    reference = row.get("reference")
    if reference is not None and not isinstance(reference, str):
        problems.add(line, "wrong-type", "The reference is not a string.")
    lists = {name: _strings(line, row, name, problems) for name in LISTS}
    passages = _passages(line, row, "passages", problems)
    contexts = _passages(line, row, "contexts", problems)
    if problems.errors > before:
        return None
    return MetricItem(
        id=str(key),
        question=str(texts["question"]),
        answer=str(texts["answer"]),
        passages=passages,
        contexts=contexts,
        reference=None if reference is None else str(reference),
        aspects=lists["aspects"],
        sub_questions=lists["sub_questions"],
        short_answers=lists["short_answers"],
        domain=str(row.get("domain") or ""),
    )


def _strings(line: int, row: Mapping[str, object], name: str, problems: ProblemList) -> tuple[str, ...]:
    value = row.get(name) or []
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        problems.add(line, "wrong-type", f"{name} is not a list of texts.")
        return ()
    return tuple(value)


def _passages(line: int, row: Mapping[str, object], name: str, problems: ProblemList) -> tuple[Passage, ...]:
    value = row.get(name) or []
    if not isinstance(value, list):
        problems.add(line, "wrong-type", f"{name} is not a list.")
        return ()
    found = []
    for number, given in enumerate(value, start=1):
        entry = {"text": given} if isinstance(given, str) else given
        if not isinstance(entry, Mapping) or not isinstance(entry.get("text"), str):
            problems.add(line, "bad-passage", f"{name}: number {number} has no text.")
            continue
        title = entry.get("title")
        found.append(
            Passage(str(entry.get("id") or f"p{number}"), entry["text"], str(title) if title else "")
        )
    return tuple(found)
