"""What every format of label files writes and reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, NoReturn, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from data.errors import FileFormatError, InputError
from data.records import AnnotationTask, BlindItem, GivenLabel, LabelScale, TaskItem

Json = dict[str, Any]
TIE = "tie"
LONGEST_NAME = 100
NOBODY = "has no annotator: several people's labels cannot be told apart"


class LabelFormat(StrEnum):
    """The formats of label files."""

    VOTES = "votes"
    LABELS = "labels"
    EVALUATIONS = "human-evaluations"
    LABEL_STUDIO = "label-studio"
    ARGILLA = "argilla"
    RESULTS = "results"


class Entry(BaseModel):
    """A record of a file; what it has besides is not read."""

    model_config = ConfigDict(extra="ignore")


def expected(what: str) -> PydanticCustomError:
    """The error of a field that holds something else."""
    return PydanticCustomError("expected", "{what} is expected", {"what": what})


def _number(value: object) -> object:
    if isinstance(value, bool):
        raise expected("a whole number")
    return value


def _name(value: object) -> object:
    if isinstance(value, int | float) and not isinstance(value, bool) and value % 1 == 0:
        return str(int(value))
    return "" if value is None else value


Whole = Annotated[int, BeforeValidator(_number)]
"""A whole number, also one that is written as a text or as 2.0."""
Name = Annotated[str, BeforeValidator(_name)]
"""A name or a number, of which 0 is one; empty where there is none."""


class Named(Entry):
    """The fields by which files name an item."""

    question_id: Name
    model_a: Name = ""
    model_b: Name = ""


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

    `side` and `grade` are in the order of `system_a` and `system_b`. `place` names the line or record for
    messages.
    """

    place: str
    question_id: str
    person: str
    system_a: str = ""
    system_b: str = ""
    side: str | None = None
    grade: int | None = None
    comment: str = ""
    skip_reason: str | None = None
    seconds: float = 0.0

    def value(self, scale: LabelScale) -> int | None:
        """The grade, else the strongest of the side, since the file says no less; None for a skip.

        Raises:
            FileFormatError: There is neither, they contradict each other, or the scale has no such grade.
        """
        if self.skip_reason is not None:
            return None
        if self.grade is None:
            if self.side is None:
                refuse(self.place, "has a label without a value")
            return {"a": -scale.largest, "b": scale.largest, TIE: 0}[self.side]
        if self.side is not None and side_of(self.grade) != self.side:
            words = f"which says {side_of(self.grade)}"
            refuse(self.place, f"prefers {self.side} and has the grade {self.grade}, {words}")
        if abs(self.grade) > scale.largest:
            bounds = f"{-scale.largest} to {scale.largest}"
            refuse(self.place, f"has the value {self.grade}; {bounds} is expected")
        return self.grade


Read = TypeVar("Read", bound=BaseModel)
Made = TypeVar("Made")


@dataclass
class Tolerance:
    """What happens to a record that cannot be read: it refuses the file, or is left out and counted.

    Attributes:
        lenient: Whether such records are left out.
        left_out: Of those that were, what is wrong with each.
    """

    lenient: bool = False
    left_out: list[str] = field(default_factory=list)

    def take(self, make: Callable[[], Made]) -> Made | None:
        """What is made of a record; None where it is left out.

        Raises:
            FileFormatError: The record cannot be read, and nothing is tolerated.
        """
        try:
            return make()
        except (FileFormatError, InputError) as error:
            if not self.lenient:
                raise
            self.left_out.append(error.message)
            return None


def names_of(item: TaskItem) -> Json:
    """The fields by which files name an item."""
    return {"question_id": item.question_id, "model_a": item.system_a, "model_b": item.system_b}


def side_of(value: int) -> str:
    """`a`, `b` or `tie`."""
    if value == 0:
        return TIE
    return "b" if value > 0 else "a"


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


def entries_of(
    content: bytes, model: type[Read], kind: str, tolerance: Tolerance, *, advice: str
) -> Iterator[tuple[str, Read]]:
    """The entries of a file that is one JSON list, checked, each with its place.

    Raises:
        FileFormatError: It is no list, or an entry is not as the model says.
    """
    payload = parsed(content)
    if not isinstance(payload, list):
        raise FileFormatError(f"The file is no list of {kind}s.", advice=advice)
    return _checked(
        ((f"{kind} {number}", entry) for number, entry in enumerate(payload, 1)), model, tolerance
    )


def rows_of(content: bytes, model: type[Read], tolerance: Tolerance) -> Iterator[tuple[str, Read]]:
    """The objects of a file of JSON lines, checked, each with its place; errors as of `entries_of`."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError("The file is not UTF-8.", advice="Save it as UTF-8.") from error
    return _checked(_rows(text), model, tolerance)


def _rows(text: str) -> Iterator[tuple[str, object]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield f"line {number}", json.loads(line)
            except (json.JSONDecodeError, RecursionError) as error:
                raise FileFormatError(
                    f"Line {number} is no JSON.", advice="Write one object a line.", line=number
                ) from error


def _checked(
    entries: Iterator[tuple[str, object]], model: type[Read], tolerance: Tolerance
) -> Iterator[tuple[str, Read]]:
    for place, entry in entries:
        found = tolerance.take(lambda: checked(place, entry, model))  # noqa: B023 - called at once
        if found is not None:
            yield place, found


def checked(place: str, entry: object, model: type[Read]) -> Read:
    """A record as its model.

    Raises:
        FileFormatError: It is not as the model says, or has half of a character, which no file can store.
    """
    try:
        json.dumps(entry, ensure_ascii=False).encode()
        return model.model_validate(entry)
    except UnicodeEncodeError:
        refuse(place, "has half of a character (a lone surrogate), as a cut emoji leaves it")
    except ValidationError as error:
        _refuse_field(place, error.errors()[0])


def _refuse_field(place: str, first: ErrorDetails) -> NoReturn:
    # Branches of a union are named by classes; fields and places are what the file has.
    path = [str(part) for part in first["loc"] if isinstance(part, int) or str(part).islower()]
    where = ".".join(part for part in path if part not in {"str", "int", "float", "none", "bool"})
    if first["type"] == "missing":
        refuse(place, f"has no {where}")
    seen = first["input"]
    what = "empty" if seen is None else json.dumps(seen, default=str)[:60]
    wanted = {
        "expected": first["msg"],
        "literal_error": f"{first.get('ctx', {}).get('expected')} is expected",
    }
    why = wanted.get(first["type"], "something else is expected")
    refuse(place, f"has as {where} {what}; {why}" if where else f"is {what}; {why}")


def refuse(place: str, message: str) -> NoReturn:
    """Refuse a file for one of its records.

    Raises:
        FileFormatError: Always.
    """
    raise FileFormatError(f"{place[:1].upper()}{place[1:]} {message}.", advice="Mend it and import again.")
