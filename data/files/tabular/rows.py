"""One row of a table of texts: as a container holds it, and as it is read by the names of its columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, ValidationInfo

from data.errors import FileFormatError
from data.files.tabular.columns import Column, renamed
from data.files.tabular.values import WRONG_TYPE, given, id_text, passages_of, seen
from data.models.questions import Passage

TEXT_CELLS = "text_cells"


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
        """Whether every cell is a text, numbers and lists too."""
        return self in {FileFormat.CSV, FileFormat.EXCEL}


@dataclass(frozen=True, slots=True)
class Row:
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
    """How a table is read beside its limits.

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
    if given(value) and text is None:
        raise FieldError(f"The {info.field_name} is {seen(value)}. Texts and whole numbers are read.")
    return text or None


def _as_text(value: object, info: ValidationInfo) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise FieldError(f"The {info.field_name} is {seen(value)}, not a string.")


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
    """A row of a table of texts; None where there is no such cell, or it is null.

    Attributes:
        question_id: The question's id; a whole number is its digits, `1.0` too.
        question: The question's text.
        answer: What a system wrote; may be empty.
        system: Whose answer it is.
        reference: The answer that is known to be right.
        domain: The question's subject.
        contexts: Passages, each in its place, empty ones too; those without ids are counted.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    question_id: Annotated[str | None, BeforeValidator(_as_id)] = None
    question: Annotated[str | None, BeforeValidator(_as_text)] = None
    answer: Annotated[str | None, BeforeValidator(_as_text)] = None
    system: Annotated[str | None, BeforeValidator(_as_id)] = None
    reference: Annotated[str | None, BeforeValidator(_as_text)] = None
    domain: Annotated[str | None, BeforeValidator(_as_id)] = None
    contexts: Annotated[tuple[Passage, ...], BeforeValidator(_as_passages)] = ()

    @classmethod
    def of(
        cls, row: Mapping[str, object], *, text_cells: bool = False, texts: bool = True
    ) -> tuple[Self, list[CellError]]:
        """Read a row by the names of its columns (`NAMES`).

        Args:
            row: The row, by the names in its file.
            text_cells: Whether lists stand in its cells as text, as in CSV.
            texts: Whether every passage needs a text.

        Returns:
            What can be read, and a problem for each cell that is of another kind.
        """
        fields = renamed(row)
        context = {TEXT_CELLS: text_cells, "texts": texts}
        try:
            return cls.model_validate(fields, context=context), []
        except ValidationError as error:
            found = {str(one["loc"][0]): one.get("ctx", {}).get("error") for one in error.errors()}
        problems = [_problem(name, one) for name, one in found.items()]
        sound = {name: value for name, value in fields.items() if name not in found}
        return cls.model_validate(sound, context=context), problems

    def has(self, column: Column) -> bool:
        """Whether the row's table has a column."""
        return column.value in self.model_fields_set


def _problem(name: str, error: object) -> CellError:
    if isinstance(error, FieldError):
        return CellError(str(error), column=name, advice=error.advice, code=error.code)
    return CellError(f"The {name} cannot be used.", column=name, code=WRONG_TYPE)
