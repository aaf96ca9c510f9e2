"""Rows of tables of texts, before and after their columns are known."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import repeat
from typing import Any, NamedTuple, Self

from data.errors import FileFormatError
from data.files.tables.columns import Column, read_columns, renamed
from data.files.tables.values import (
    BAD_CONTEXT,
    WRONG_TYPE,
    describe_value,
    has_value,
    id_text,
    kind,
    passages_of,
    unpacked,
)
from data.models import Importance, Nugget, Passage, ProblemList, Severity
from data.text import counted

READ_AS_ID = "Use a string or a whole number."


class FileFormat(StrEnum):
    """File formats of tables."""

    JSONL = "jsonl"
    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"
    ARROW = "arrow"
    EXCEL = "excel"
    ZIP = "zip"
    """Log of inspect with a file per sample."""
    TREC_RUN = "trec-run"
    """Only for contexts."""

    @property
    def text_cells(self) -> bool:
        """True if all cells are strings, including numbers and lists."""
        return self in {FileFormat.CSV, FileFormat.EXCEL}


class Row(NamedTuple):
    """Parsed line, JSON item or row of a table.

    `line` is the physical line of its start; `place` names the item if items can share a line.
    """

    line: int
    value: object
    place: str = ""


class Block(NamedTuple):
    """Consecutive rows of a table by column; `place` is the beginning of their places."""

    lines: Sequence[int]
    columns: Mapping[str, Sequence[object]]
    place: str = ""

    def values(self) -> Iterator[dict[str, object]]:
        """Yield the values of the rows."""
        return map(dict, map(zip, repeat(tuple(self.columns)), zip(*self.columns.values(), strict=True)))

    def rows(self) -> Iterator[Row]:
        """Yield the rows."""
        for line, value in zip(self.lines, self.values(), strict=False):
            yield Row(line, value, f"{self.place}{line}" if self.place else "")


def each_row(parts: Iterable[Row | Block]) -> Iterator[Row]:
    """Yield single rows, and the rows of blocks."""
    for part in parts:
        if isinstance(part, Block):
            yield from part.rows()
        else:
            yield part


Note = Callable[[FileFormatError], object]
"""Callback for an unreadable row; reading continues."""
Header = Callable[[Sequence[str], int], object]
"""Callback for the columns of a table and their line, which may refuse them."""
Holds = Callable[[object], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """Options for reading a table, except its limits.

    Attributes:
        reads: Whether to read a column of a Parquet or Arrow file; the others are null.
        is_log: Whether a row belongs to a log, whose numbers need not be finite.
        is_row: Whether an object without known columns is a row of a tool.
        logs: Key of the rows of a log in one JSON object, by keys that identify the tool.
        large: Callback for too large items of a log, which are skipped.
    """

    note: Note
    header: Header = lambda columns, line: None  # noqa: ARG005 - a default
    reads: Callable[[str], bool] = lambda name: True  # noqa: ARG005 - a default
    is_log: Holds = lambda row: False  # noqa: ARG005 - a default
    is_row: Holds = lambda row: False  # noqa: ARG005 - a default
    logs: Mapping[frozenset[str], str] = field(default_factory=dict)
    large: Callable[[str], object] | None = None


def _id(value: object, name: str) -> str | None:
    text = id_text(value)
    if has_value(value) and text is None:
        raise _wrong_type(f"The {name} is {describe_value(value)}. {READ_AS_ID}")
    return text or None


def _text(value: object, column: Column, *, text_cells: bool) -> str | None:
    """Return a text; in JSON its field, the last message of the user or model, or the only text.

    A text may be an answer in JSON. It is parsed only in a table's cell, and if it has a known field.
    """
    is_question = column is Column.QUESTION
    inner = unpacked(value) if is_question or text_cells else value
    if inner is None or isinstance(inner, str):
        return inner
    if isinstance(inner, list):
        role = "user" if is_question else "assistant"
        messages = [
            message for message in inner if isinstance(message, Mapping) and message.get("role") == role
        ]
        inner = {column: messages[-1].get("content")} if messages else None
    fields = inner if isinstance(inner, Mapping) else {}
    columns = read_columns(fields)
    name = columns.get(column) or (None if is_question else columns.get(Column.ANSWER))
    part = fields[name] if name else inner
    texts = [*_texts_in(part)] if name or is_question or not isinstance(value, str) else []
    if len(texts) == 1 or (name and part is None):
        return next(iter(texts), None)
    if isinstance(value, str):
        return value
    raise _wrong_type(f"The {column} is {describe_value(value)}, not a string.", "Write it as a string.")


def _wrong_type(message: str, advice: str = "") -> FileFormatError:
    return FileFormatError(message, advice=advice, code=WRONG_TYPE)


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _texts_in(part)


IDS = frozenset({Column.QUESTION_ID, Column.SYSTEM, Column.DOMAIN})


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRow:
    """Row of a table of texts; cells are None if missing, null or invalid.

    Attributes:
        question_id: The question's id; whole numbers such as `1.0` are written as digits.
        answer: The system's text; may be empty.
        reference: The correct answer.
        contexts: Passages in order, including empty ones; those without ids are numbered.
        columns: Columns with a valid cell.
    """

    question_id: str | None = None
    question: str | None = None
    answer: str | None = None
    system: str | None = None
    reference: str | None = None
    domain: str | None = None
    contexts: tuple[Passage, ...] = ()
    columns: Collection[Column] = ()

    @classmethod
    def of(
        cls, row: Mapping[str, object], *, text_cells: bool = False, texts: bool = True, ours: bool = False
    ) -> tuple[Self, Mapping[Column, FileFormatError]]:
        """Read a row by the names of its columns (`NAMES`), with the errors of invalid cells.

        Args:
            row: The row by the names in its file.
            text_cells: Whether lists are strings, as in CSV.
            texts: Whether every passage needs a text.
            ours: Whether the row already has our names.
        """
        fields = row if ours else renamed(row)
        cells: dict[str, Any] = {}
        errors: dict[Column, FileFormatError] = {}
        for column in filter(fields.__contains__, Column):
            value = fields[column]
            try:
                if column is Column.CONTEXTS:
                    cells[column] = passages_of(value, "c", of_cell=text_cells, texts=texts)
                elif column in IDS:
                    cells[column] = _id(value, column)
                else:
                    cells[column] = _text(value, column, text_cells=text_cells)
            except FileFormatError as error:
                errors[column] = error
        return cls(**cells, columns={*map(Column, cells)}), errors


NUGGETS = "nuggets"
FAILED = "failed"
"""Importance that nuggetizer writes for a nugget without a grade."""
GRADES = ", ".join(f'"{grade.value}"' for grade in Importance)


class Fields:
    """Reader of the fields of a row, which adds problems with its line."""

    def __init__(self, line: int, row: Mapping[str, object], problems: ProblemList) -> None:
        self.line, self.row = line, row
        self._problems, self._before = problems, problems.errors

    @property
    def wrong(self) -> bool:
        """True if the row has an error."""
        return self._problems.errors > self._before

    def note(self, code: str, message: str, advice: str = "") -> None:
        """Add an error."""
        self._problems.add(self.line, code, message, advice=advice)

    def text(self, name: str, *, blank: bool = False) -> str:
        """Return a required string, which must not be empty unless `blank` is allowed."""
        value, advice = self.row.get(name), f"Add `{name}` to every line."
        if isinstance(value, str) and (blank or value.strip()):
            return value
        if value is None:
            self.note("missing-field", f"The {name} is missing.", advice)
        elif isinstance(value, str):
            self.note("empty-field", f"The {name} is empty.", advice)
        else:
            self.note("wrong-type", f"The {name} is {describe_value(value)}, not a string.")
        return ""

    def optional(self, name: str) -> str | None:
        """Return a string; None if it is missing or empty."""
        value = self.row.get(name)
        if value is None or isinstance(value, str):
            return value or None
        self.note("wrong-type", f"The {name} is {describe_value(value)}, not a string.")
        return None

    def id(self, *names: str) -> str:
        """Return the first id under one of the names."""
        value = next((self.row[name] for name in names if has_value(self.row.get(name))), None)
        name = id_text(value)
        if value is None or (name is not None and not name.strip()):
            self.note("missing-field", f"The {names[0]} is missing.", f"Add `{names[0]}` to every line.")
        elif name is None:
            self.note("wrong-type", f"The {names[0]} is {describe_value(value)}. {READ_AS_ID}")
        return name or ""

    def list(self, name: str) -> list[object]:
        """Return a list; empty if missing."""
        value = self.row.get(name)
        if isinstance(value, list):
            return value
        if value is not None:
            self.note("wrong-type", f"{name} is {kind(value)}, not a list.")
        return []

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of non-blank strings."""
        values = self.list(name)
        wrong = next((value for value in values if not isinstance(value, str) or not value.strip()), None)
        if wrong is not None or None in values:
            self.note("wrong-type", f"{name} contains {kind(wrong)} where a string is expected.")
            return ()
        return tuple(map(str, values))

    def ids(self, name: str) -> tuple[str, ...]:
        """Return a list of ids."""
        values = self.list(name)
        ids = tuple(id_text(value) or "" for value in values)
        if "" in ids:
            message = f"{name} contains {describe_value(values[ids.index('')])}. {READ_AS_ID}"
            self.note("wrong-type", message, "List document ids.")
            return ()
        return ids

    def passages(self, name: str, prefix: str) -> tuple[Passage, ...]:
        """Return passages; those without an id are numbered with a prefix."""
        try:
            return passages_of(self.row.get(name), prefix)
        except FileFormatError as error:
            code = "bad-passage" if error.code == BAD_CONTEXT else error.code
            self.note(code, f"{name}: {error.message}", error.advice)
            return ()

    def nuggets(self, *, ungraded: Severity = Severity.ERROR) -> tuple[Nugget, ...]:
        """Return nuggets: strings, or objects with `text` and `importance`.

        Nuggets that nuggetizer could not grade are skipped, with a problem of the severity `ungraded`.
        """
        values = self.list(NUGGETS)
        parsed = [self._nugget(place, value) for place, value in enumerate(values, start=1)]
        nuggets = tuple(nugget for nugget in parsed if nugget is not None)
        failed = sum(isinstance(value, Mapping) and value.get("importance") == FAILED for value in values)
        if failed:
            message = f"{counted(failed, 'nugget')} with the importance {FAILED!r} skipped."
            advice = "Nuggetizer could not grade them. Remove them, or set their importance."
            self._problems.add(self.line, "ungraded-nugget", message, severity=ungraded, advice=advice)
        if len({nugget.text for nugget in nuggets}) != len(nuggets):
            self.note("duplicate-nugget", "Two nuggets of a question have the same text.")
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
            self.note("wrong-value", message, f"Use {GRADES}, or omit it.")
            return None
        return Nugget(text, None if importance is None else Importance(str(importance)))
