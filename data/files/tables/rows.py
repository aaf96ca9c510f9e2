"""One row of a table of texts: as a container holds it, and as it is read by the names of its columns."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, NamedTuple, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, ValidationInfo

from data.errors import FileFormatError
from data.files.strict_json import parse_json
from data.files.tables.columns import Column, read_columns, renamed
from data.files.tables.values import (
    BAD_CONTEXT,
    WRONG_TYPE,
    describe_value,
    has_value,
    id_text,
    kind,
    passages_of,
)
from data.models import Importance, Nugget, Passage, ProblemList, Severity
from data.text import counted

TEXT_CELLS = "text_cells"
READ_AS_ID = "Texts and whole numbers are read."


class FileFormat(StrEnum):
    """The formats that tables of texts come in."""

    JSONL = "jsonl"
    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"
    ARROW = "arrow"
    EXCEL = "excel"
    ZIP = "zip"
    """A log of inspect, whose samples are files of their own."""
    TREC_RUN = "trec-run"
    """Of contexts alone."""

    @property
    def text_cells(self) -> bool:
        """True if every cell is a text, numbers and lists too."""
        return self in {FileFormat.CSV, FileFormat.EXCEL}


class Row(NamedTuple):
    """A parsed line, JSON item or row of a table.

    `line` is the physical line it starts on; `place` names the item where items can share a line.
    """

    line: int
    value: object
    place: str = ""


Note = Callable[[FileFormatError], object]
"""Is given what makes one row unreadable; the others are read on."""
Header = Callable[[Sequence[str], int], object]
"""Is given the columns of a table and their line, and may refuse them."""
Holds = Callable[[object], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """Options of reading a table, besides its limits.

    Attributes:
        note: Is given what is wrong with a row.
        header: Is given the columns of a table.
        reads: Which columns of a Parquet or Arrow file are read; the others are null in every row.
        is_log: Whether a row is a log's, whose numbers need not be finite.
        is_row: Whether an object without any of our columns is a row of a tool.
        logs: Where the rows of a log that is one JSON object stand, by keys that tell whose it is.
        large: Is given the places of items of a log that are too large, which are left out.
    """

    note: Note
    header: Header = lambda columns, line: None  # noqa: ARG005 - a default
    reads: Callable[[str], bool] = lambda name: True  # noqa: ARG005 - a default
    is_log: Holds = lambda row: False  # noqa: ARG005 - a default
    is_row: Holds = lambda row: False  # noqa: ARG005 - a default
    logs: Mapping[frozenset[str], str] = field(default_factory=dict)
    large: Callable[[str], object] | None = None


def _as_id(value: object, info: ValidationInfo) -> str | None:
    text = id_text(value)
    if has_value(value) and text is None:
        raise FieldError(f"The {info.field_name} is {describe_value(value)}. {READ_AS_ID}")
    return text or None


def _as_text(value: object, info: ValidationInfo) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise FieldError(f"The {info.field_name} is {describe_value(value)}, not a string.", "Write it as text.")


def _as_question(value: object, info: ValidationInfo) -> str | None:
    """Return the question's text; of JSON the field of a question, the user's message, or the one text."""
    inner = value
    if isinstance(value, str) and value.strip().startswith(("{", "[")):
        with suppress(FileFormatError):
            inner = parse_json(value, 0)
    if isinstance(inner, list):
        users = [
            message for message in inner if isinstance(message, Mapping) and message.get("role") == "user"
        ]
        inner = {"question": users[-1].get("content")} if users else None
    fields = inner if isinstance(inner, Mapping) else {}
    texts = list(_texts_in(fields))
    if len(texts) > 1 and (name := read_columns(fields).get(Column.QUESTION)):
        texts = list(_texts_in(fields[name]))
    return texts[0] if len(texts) == 1 else _as_text(value, info)


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _texts_in(part)


def _as_passages(value: object, info: ValidationInfo) -> tuple[Passage, ...]:
    context: Mapping[str, Any] = info.context or {}
    try:
        return passages_of(
            value, "c", of_cell=context.get(TEXT_CELLS, False), texts=context.get("texts", True)
        )
    except FileFormatError as error:
        raise FieldError(error.message, error.advice, error.code) from error


class FieldError(ValueError):
    """A cell that holds something else than its column does: the message, the remedy and the code."""

    def __init__(self, message: str, advice: str = "", code: str = WRONG_TYPE) -> None:
        super().__init__(message)
        self.advice = advice
        self.code = code


class CellError(FileFormatError):
    """A cell that holds something else than its column does; `column` is our name of it."""

    def __init__(self, message: str, *, column: str, advice: str = "", code: str = WRONG_TYPE) -> None:
        super().__init__(message, advice=advice, code=code)
        self.column = column


class TextRow(BaseModel):
    """A row of a table of texts; None without such a cell, or where it is null.

    Attributes:
        question_id: The question's id; a whole number is its digits, `1.0` too.
        answer: What a system wrote; may be empty.
        reference: The answer that is known to be right.
        contexts: Passages, each in its place, empty ones too; those without ids are counted.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    question_id: Annotated[str | None, BeforeValidator(_as_id)] = None
    question: Annotated[str | None, BeforeValidator(_as_question)] = None
    answer: Annotated[str | None, BeforeValidator(_as_text)] = None
    system: Annotated[str | None, BeforeValidator(_as_id)] = None
    reference: Annotated[str | None, BeforeValidator(_as_text)] = None
    domain: Annotated[str | None, BeforeValidator(_as_id)] = None
    contexts: Annotated[tuple[Passage, ...], BeforeValidator(_as_passages)] = ()

    @classmethod
    def of(
        cls, row: Mapping[str, object], *, text_cells: bool = False, texts: bool = True, ours: bool = False
    ) -> tuple[Self, list[CellError]]:
        """Read a row by the names of its columns (`NAMES`).

        Args:
            row: The row, by the names in its file.
            text_cells: Whether lists stand in its cells as text, as in CSV.
            texts: Whether every passage needs a text.
            ours: Whether the row has our names already.
        """
        fields = row if ours else renamed(row)
        context = {TEXT_CELLS: text_cells, "texts": texts}
        try:
            return cls.model_validate(fields, context=context), []
        except ValidationError as invalid:
            errors = {str(item["loc"][0]): item.get("ctx", {}).get("error") for item in invalid.errors()}
        problems = []
        for name, error in errors.items():
            fault = error if isinstance(error, FieldError) else FieldError(f"The {name} cannot be used.")
            problems.append(CellError(str(fault), column=name, advice=fault.advice, code=fault.code))
        valid = {name: value for name, value in fields.items() if name not in errors}
        return cls.model_validate(valid, context=context), problems

    def has(self, column: Column) -> bool:
        """Return whether the row's table has a column."""
        return column.value in self.model_fields_set


NUGGETS = "nuggets"
FAILED = "failed"
"""The importance that nuggetizer writes for a nugget without a grade."""
GRADES = ", ".join(f'"{grade.value}"' for grade in Importance)


class Fields:
    """Reads the fields of a row; `row` has them by name, `line` says where it stands."""

    def __init__(self, line: int, row: Mapping[str, object], problems: ProblemList) -> None:
        self.line, self.row = line, row
        self._problems, self._before = problems, problems.errors

    @property
    def wrong(self) -> bool:
        """True if an error was noted since the row was begun."""
        return self._problems.errors > self._before

    def note(self, code: str, message: str, advice: str = "") -> None:
        """Note an error."""
        self._problems.add(self.line, code, message, advice=advice)

    def text(self, name: str, *, blank: bool = False) -> str:
        """Return a text that must be there, and hold something unless it may be `blank`."""
        value, advice = self.row.get(name), f"Give every line its {name}."
        if isinstance(value, str) and (blank or value.strip()):
            return value
        if value is None:
            self.note("missing-field", f"There is no {name}.", advice)
        elif isinstance(value, str):
            self.note("empty-field", f"The {name} is empty.", advice)
        else:
            self.note("wrong-type", f"The {name} is {describe_value(value)}, not a string.")
        return ""

    def optional(self, name: str) -> str | None:
        """Return a text; None where it is missing or empty."""
        value = self.row.get(name)
        if value is None or isinstance(value, str):
            return value or None
        self.note("wrong-type", f"The {name} is {describe_value(value)}, not a string.")
        return None

    def id(self, *names: str) -> str:
        """Return the first id that is given under one of some names; a whole number is its digits."""
        value = next((self.row[name] for name in names if has_value(self.row.get(name))), None)
        name = id_text(value)
        if value is None or (name is not None and not name.strip()):
            self.note("missing-field", f"There is no {names[0]}.", f"Give every line its {names[0]}.")
        elif name is None:
            self.note("wrong-type", f"The {names[0]} is {describe_value(value)}. {READ_AS_ID}")
        return name or ""

    def list(self, name: str) -> list[object]:
        """Return a list; empty without one."""
        value = self.row.get(name)
        if isinstance(value, list):
            return value
        if value is not None:
            self.note("wrong-type", f"{name} is {kind(value)}, not a list.")
        return []

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts, none of them blank."""
        values = self.list(name)
        wrong = next((value for value in values if not isinstance(value, str) or not value.strip()), None)
        if wrong is not None or None in values:
            self.note("wrong-type", f"{name} holds {kind(wrong)} where a text is expected.")
            return ()
        return tuple(map(str, values))

    def ids(self, name: str) -> tuple[str, ...]:
        """Return a list of ids."""
        values = self.list(name)
        ids = tuple(id_text(value) or "" for value in values)
        if "" in ids:
            message = f"{name} holds {describe_value(values[ids.index('')])}. {READ_AS_ID}"
            self.note("wrong-type", message, "Give the ids of documents.")
            return ()
        return ids

    def passages(self, name: str, prefix: str) -> tuple[Passage, ...]:
        """Passages; those without an id are counted behind a prefix."""
        try:
            return passages_of(self.row.get(name), prefix)
        except FileFormatError as error:
            code = "bad-passage" if error.code == BAD_CONTEXT else error.code
            self.note(code, f"{name}: {error.message}", error.advice)
            return ()

    def nuggets(self, *, ungraded: Severity = Severity.ERROR) -> tuple[Nugget, ...]:
        """Read nuggets: texts, or objects of `text` and `importance`; other fields are ignored.

        Nuggets that nuggetizer could not grade are left out, with a problem of the severity `ungraded`.
        """
        values = self.list(NUGGETS)
        parsed = [self._nugget(place, value) for place, value in enumerate(values, start=1)]
        nuggets = tuple(nugget for nugget in parsed if nugget is not None)
        failed = sum(isinstance(value, Mapping) and value.get("importance") == FAILED for value in values)
        if failed:
            message = f"{counted(failed, 'nugget')} with the importance {FAILED!r}, which sets leave out."
            advice = "Nuggetizer could not grade them. Remove them, or give their importance."
            self._problems.add(self.line, "ungraded-nugget", message, severity=ungraded, advice=advice)
        if len({nugget.text for nugget in nuggets}) != len(nuggets):
            self.note("duplicate-nugget", "Two nuggets of one question have one text.")
        return nuggets

    def _nugget(self, place: int, value: object) -> Nugget | None:
        entry = value if isinstance(value, Mapping) else {"text": value}
        text, importance = entry.get("text"), entry.get("importance")
        if not isinstance(text, str) or not text.strip():
            self.note("bad-nugget", f"Nugget {place} has no text.")
            return None
        if importance == FAILED:
            return None
        if importance is not None and importance not in list(Importance):
            message = f"The importance of nugget {place} is {importance!r}."
            self.note("wrong-value", message, f"Use {GRADES}, or leave it out.")
            return None
        return Nugget(text, None if importance is None else Importance(str(importance)))
