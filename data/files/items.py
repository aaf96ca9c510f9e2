"""Answers to be scored and pairs that people labelled, as files: JSON Lines (docs/design.md, section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from data.files.human_evaluations import read_evaluations
from data.files.jsonl import read_records
from data.files.question_sets.nuggets import read_nuggets
from data.files.text_files import ReadLimits
from data.records import HumanLabel, MetricItem, Passage, ProblemList


@dataclass(frozen=True, slots=True)
class QuestionPassages:
    """The passages of a question, which is named by its id or its text."""

    question: str
    passages: tuple[Passage, ...]
    line: int


TEXTS = ("question", "answer")
LISTS = ("aspects", "sub_questions", "short_answers")


def read_items(path: Path, limits: ReadLimits) -> tuple[MetricItem, ...]:
    """Read the answers of a file.

    Raises:
        InvalidFileError: The file has problems; all of them are listed.
    """
    return read_records(path, limits, _item)


def read_passages(path: Path, limits: ReadLimits) -> tuple[QuestionPassages, ...]:
    """Read passages by question: `question_id` or the question's text (`query`), and `passages`.

    RAG-QA Arena's prediction files are of this form.

    Raises:
        InvalidFileError: The file has problems; all of them are listed.
    """
    return read_records(path, limits, _question_passages)


def _question_passages(line: int, row: object, problems: ProblemList) -> QuestionPassages | None:
    if not isinstance(row, Mapping):
        problems.add(line, "not-object", "This line is not a JSON object.")
        return None
    before = problems.errors
    names = [row.get(field) for field in ("question_id", "query")]
    name = next((str(value) for value in names if isinstance(value, str | int) and str(value).strip()), "")
    if not name:
        problems.add(line, "missing-field", "There is no question_id and no query.")
    if not isinstance(row.get("passages"), list):
        problems.add(line, "missing-field", "There is no list of passages.")
    passages = _passages(line, row, "passages", problems)
    return None if problems.errors > before else QuestionPassages(name, passages, line)


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
    nuggets = read_nuggets(line, row, problems)
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
        nuggets=nuggets,
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
    passages = []
    for number, item in enumerate(value, start=1):
        entry = {"text": item} if isinstance(item, str) else item
        if not isinstance(entry, Mapping) or not isinstance(entry.get("text"), str):
            problems.add(line, "bad-passage", f"{name}: number {number} has no text.")
            continue
        title = entry.get("title")
        passages.append(
            Passage(str(entry.get("id") or f"p{number}"), entry["text"], str(title) if title else "")
        )
    return tuple(passages)


LABELS: Mapping[str, float] = MappingProxyType({"a": -1.0, "b": 1.0, "tie": 0.0})
LARGEST = 2


def read_labels(path: Path, limits: ReadLimits) -> tuple[HumanLabel, ...]:
    """Read labels: JSON Lines, or RAG-QA Arena's `human_evaluations.json` as it is published.

    Raises:
        InvalidFileError: The file has problems; all of them are listed.
        FileFormatError: It is a published file whose columns do not go together.
    """
    published = read_evaluations(path, limits)
    if published is not None:
        return published
    return read_records(path, limits, _human_label)


def _human_label(line: int, row: object, problems: ProblemList) -> HumanLabel | None:
    if not isinstance(row, Mapping):
        problems.add(line, "not-object", "This line is not a JSON object.")
        return None
    before = problems.errors
    texts = {name: _text(line, row, name, problems) for name in ("question", "answer_a", "answer_b")}
    key = row.get("id")
    if not isinstance(key, str | int) or isinstance(key, bool) or not str(key):
        problems.add(line, "missing-field", "There is no id.", advice="Give every pair an id.")
    optional = {name: row.get(name) for name in ("reference", "domain", "system_a", "system_b")}
    for name, value in optional.items():
        if value is not None and not isinstance(value, str):
            problems.add(line, "wrong-type", f"The {name} is not a string.")
    passages = _passage_texts(line, row.get("passages"), problems)
    label = _number(line, row.get("label"), problems)
    if problems.errors > before:
        return None
    return HumanLabel(
        id=str(key),
        domain=str(optional["domain"] or ""),
        label=label,
        reference=str(optional["reference"]) if optional["reference"] else None,
        passages=passages,
        system_a=str(optional["system_a"] or ""),
        system_b=str(optional["system_b"] or ""),
        **texts,
    )


def _text(line: int, row: Mapping[str, object], name: str, problems: ProblemList) -> str:
    value = row.get(name)
    if isinstance(value, str):
        return value
    code = "missing-field" if value is None else "wrong-type"
    problems.add(line, code, f"There is no {name}." if value is None else f"The {name} is not a string.")
    return ""


def _number(line: int, value: object, problems: ProblemList) -> float:
    if isinstance(value, str) and value in LABELS:
        return LABELS[value]
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST:
        return float(value)
    message = f"The label is {value!r}."
    problems.add(line, "wrong-value", message, advice='Use "a", "b", "tie", or a number from -2 to 2.')
    return 0.0


def _passage_texts(line: int, value: object, problems: ProblemList) -> tuple[str, ...]:
    if value is None:
        return ()
    items = value if isinstance(value, list) else [value]
    texts = [item.get("text") if isinstance(item, Mapping) else item for item in items]
    if not all(isinstance(text, str) for text in texts):
        problems.add(line, "bad-passage", "passages is not a list of texts, or of objects with a text.")
        return ()
    return tuple(str(text) for text in texts)
