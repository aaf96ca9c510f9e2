"""What every format of label files writes and reads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from data.errors import FileFormatError
from data.records import (
    AnnotationTask,
    BlindItem,
    GivenLabel,
    LabelScale,
    Span,
    TaskItem,
    TaskKind,
)

Json = dict[str, Any]
Entry = TypeVar("Entry", bound=BaseModel)
TIE = "tie"


class LabelFormat(StrEnum):
    """The formats of label files."""

    VOTES = "votes"
    LABELS = "labels"
    EVALUATIONS = "human-evaluations"
    LABEL_STUDIO = "label-studio"
    ARGILLA = "argilla"
    RESULTS = "results"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledItem:
    """An item with its texts (answers in the order a, b) and the labels of it that count."""

    item: TaskItem
    shown: BlindItem
    labels: tuple[GivenLabel, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledTask:
    """A task as formats write it, gold items left out."""

    task: AnnotationTask
    items: tuple[LabelledItem, ...]

    def given(self) -> Iterator[tuple[LabelledItem, GivenLabel, int]]:
        """Each label that has a value, with its item and value."""
        for item in self.items:
            for label in item.labels:
                if label.value is not None:
                    yield item, label, label.value


@dataclass(frozen=True, slots=True, kw_only=True)
class FiledLabel:
    """A label as a file has it: what a person said of an item that is named by its question and systems.

    `value` is in the order of `system_a` and `system_b`. `place` names the line or record for messages.
    """

    place: str
    question_id: str
    person: str
    value: int | None
    system_a: str = ""
    system_b: str = ""
    passage: str = ""
    sub_question: str = ""
    spans: tuple[Span, ...] = ()
    comment: str = ""
    skip_reason: str | None = None
    seconds: float = 0.0


def names_of(item: TaskItem) -> Json:
    """The fields by which files name an item; those that its kind does not have are left out."""
    named = {
        "question_id": item.question_id,
        "model_a": item.system_a,
        "model_b": item.system_b,
        "passage": item.passage,
        "sub_question": item.sub_question,
    }
    return {name: value for name, value in named.items() if value}


def side_of(value: int) -> str:
    """`a`, `b` or `tie`."""
    if value == 0:
        return TIE
    return "b" if value > 0 else "a"


def value_of_side(side: str, scale: LabelScale) -> int:
    """The value of a label that names a side only: the strongest grade, since the file says no less."""
    strongest = 2 if scale is LabelScale.GRADES else 1
    return {"a": -strongest, "b": strongest, TIE: 0}[side]


def lines(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Rows as JSON lines."""
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


def document(payload: object) -> bytes:
    """One JSON document."""
    return (json.dumps(payload, ensure_ascii=False, indent=2) + "\n").encode()


def parsed(content: bytes) -> Any:  # noqa: ANN401 - any JSON
    """One JSON document of a file.

    Raises:
        FileFormatError: It is none.
    """
    try:
        return json.loads(content.decode("utf-8-sig"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise FileFormatError(
            f"The file is no JSON document: {error}", advice="Export it again as JSON."
        ) from error


def entries_of(content: bytes, model: type[Entry], kind: str, *, advice: str) -> Iterator[tuple[str, Entry]]:
    """The entries of a file that is one JSON list, checked, each with its place.

    Raises:
        FileFormatError: It is no list, or an entry is not as the model says.
    """
    payload = parsed(content)
    if not isinstance(payload, list):
        raise FileFormatError(f"The file is no list of {kind}s.", advice=advice)
    for number, entry in enumerate(payload, start=1):
        place = f"{kind} {number}"
        try:
            checked = model.model_validate(entry)
        except ValidationError as error:
            first = error.errors()[0]
            refuse(place, f"cannot be read at {'.'.join(map(str, first['loc']))}: {first['msg']}")
        yield place, checked


def rows_of(content: bytes) -> Iterator[tuple[str, Json]]:
    """The objects of a file of JSON lines, each with its place.

    Raises:
        FileFormatError: A line is no object.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError("The file is not UTF-8.", advice="Save it as UTF-8.") from error
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise FileFormatError(
                f"Line {number} is no JSON.", advice="Write one object a line.", line=number
            ) from error
        if not isinstance(row, dict):
            refuse(f"line {number}", "is no object")
        yield f"line {number}", row


def text_of(place: str, row: Mapping[str, Any], name: str, *, needed: bool = True) -> str:
    """A text of a row.

    Raises:
        FileFormatError: It is missing, or no text.
    """
    value = row.get(name)
    if isinstance(value, str) and (value or not needed):
        return value
    if value is None and not needed:
        return ""
    return refuse(place, f"has no {name}, or none that is a text")


def refuse(place: str, message: str) -> NoReturn:
    """Refuse a file for one of its records.

    Raises:
        FileFormatError: Always.
    """
    raise FileFormatError(f"{place[:1].upper()}{place[1:]} {message}.", advice="Mend it and import again.")


KINDS_OF_PAIRS = frozenset({LabelFormat.VOTES, LabelFormat.LABELS, LabelFormat.EVALUATIONS})
"""Formats that hold labels of pairs alone."""


def require_pairs(task: AnnotationTask, form: LabelFormat) -> None:
    """Refuse a format of pairs for a task of something else.

    Raises:
        FileFormatError: It is one.
    """
    if form in KINDS_OF_PAIRS and task.terms.kind is not TaskKind.PAIRS:
        raise FileFormatError(
            f"Files of the format {form} hold pairs, and {task.name} is a task of {task.terms.kind}.",
            advice=f"Use {LabelFormat.LABEL_STUDIO}, {LabelFormat.ARGILLA} or {LabelFormat.RESULTS}.",
        )
