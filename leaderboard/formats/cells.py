"""Cells of battle files, checked a column at a time; errors name row and column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NoReturn, Self

from data.errors import FileFormatError, RecordError
from leaderboard.battles import SPELLINGS, WinnerWord
from leaderboard.columns import LARGEST_WEIGHT, LEAST_WEIGHT
from leaderboard.names import DOMAIN, fault, spelled

MISSING_COLUMN = "missing-column"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Place of a chunk in its file, so that an error can name row and line.

    Attributes:
        file: The file's name.
        first_row: Number of the chunk's first record; records count from 1, a header does not.
        lines: Line number of each record; None where records do not stand on lines.
        rows_a_record: How many consecutive rows of the chunk come from one record.
        names: What the file calls some columns, where it is not what the project's own battles call them.
    """

    file: str
    first_row: int
    lines: Sequence[int] | None = None
    rows_a_record: int = 1
    names: tuple[tuple[str, str], ...] = ()

    def at(self, index: int, column: str = "") -> str:
        """Name a record, and a column of it, for a message."""
        record = index // self.rows_a_record
        row = self.first_row + record
        line = f" (line {self.lines[record]})" if self.lines and self.lines[record] != row else ""
        called = dict(self.names).get(column, column)
        return f"{self.file}, row {row}{line}" + (f', column "{called}"' if column else "")

    def part(self, start: int, stop: int) -> Self:
        """Return the place of some consecutive records."""
        lines = None if self.lines is None else self.lines[start:stop]
        return replace(self, first_row=self.first_row + start, lines=lines)


def names(place: Place, column: str, values: Sequence[object]) -> list[str]:
    """Check a column of names or ids: text, or whole numbers, which become text."""
    if set(map(type, values)) == {str} and all(values):
        return _spelled(place, column, [value for value in values if isinstance(value, str)])
    return _spelled(place, column, [_text(place, column, at, value) for at, value in enumerate(values)])


def labels(place: Place, column: str, values: Sequence[object]) -> list[str]:
    """Check a column of names of which some may be empty: nothing becomes the empty text."""
    if set(map(type, values)) == {str}:
        return _spelled(place, column, [value for value in values if isinstance(value, str)])
    texts = ["" if value is None or value == "" else value for value in values]
    named = [_text(place, column, at, value) if value != "" else "" for at, value in enumerate(texts)]
    return _spelled(place, column, named)


def _text(place: Place, column: str, index: int, value: object) -> str:
    if isinstance(value, str) and value:
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        refuse(place, index, column, value, "a name is expected")
    return str(value)


def _spelled(place: Place, column: str, texts: list[str]) -> list[str]:
    """Return the texts as names are spelled; most are already, and a chunk has few different ones."""
    changed: dict[str, str] = {}
    for text in set(texts):
        name = spelled(text, column)
        if text and (problem := fault(name, column)):
            index = texts.index(text)
            if column == DOMAIN and "\0" not in name and name:
                advice = "Rename the domain."
                raise FileFormatError(f"{place.at(index, column)}: {problem}.", advice=advice)
            refuse(place, index, column, text, problem)
        if name != text:
            changed[text] = name
    return [changed.get(text, text) for text in texts] if changed else texts


def winners(place: Place, values: Sequence[object], column: str = "winner") -> list[str]:
    """Check a column of winner words."""
    try:
        return [SPELLINGS[value] for value in values]  # type: ignore[index]  # what is no word is caught
    except (KeyError, TypeError):
        pass
    for index, value in enumerate(values):
        if not isinstance(value, str) or value not in SPELLINGS:
            allowed = ", ".join(f'"{word}"' for word in WinnerWord)
            refuse(place, index, column, value, f"one of {allowed} is expected")
    return []


def scores(place: Place, values: Sequence[object]) -> list[float | None]:
    """Check a column of shares, 0–1; nothing, or an empty CSV cell, is a battle without one."""
    return [
        None if value is None or value == "" else share(place, index, "score", value)
        for index, value in enumerate(values)
    ]


def share(place: Place, index: int, column: str, value: object) -> float:
    """Check one share, 0–1."""
    number = as_number(place, index, column, value)
    if not 0 <= number <= 1:
        refuse(place, index, column, value, "a share between 0 and 1 is expected")
    return number


def counts(place: Place, column: str, values: Sequence[object]) -> list[float | None]:
    """Check a column of counts or weights; None for an empty cell, which counts once."""
    checked: list[float | None] = []
    for index, value in enumerate(values):
        number = None if value is None or value == "" else as_number(place, index, column, value)
        if number is not None and number < 0:
            refuse(place, index, column, value, "a count cannot be negative")
        if number and not LEAST_WEIGHT <= number <= LARGEST_WEIGHT:
            refuse(
                place,
                index,
                column,
                value,
                f"0 or a count of {LEAST_WEIGHT:g}–{LARGEST_WEIGHT:g} is expected",
            )
        checked.append(number)
    return checked


def as_number(place: Place, index: int, column: str, value: object) -> float:
    """Read a finite number from JSON or from the text of a CSV cell."""
    try:
        number = math.nan if isinstance(value, bool) or value is None else float(str(value))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        refuse(place, index, column, value, "a finite number is expected")
    return number


def refuse(place: Place, index: int, column: str, value: object, expected: str) -> NoReturn:
    """Raise the error about one cell."""
    quoted = "nothing" if value is None else repr(value)
    if len(quoted) > 60:  # noqa: PLR2004 - the width of a message, used once
        quoted = quoted[:57] + "…"
    message = f"{place.at(index, column)}: {quoted} cannot be used; {expected}."
    raise RecordError(message, advice="Correct the cell and read the file again.")


def missing(place: Place, index: int, column: str, hint: str = "") -> NoReturn:
    """Raise the error about a column that a record does not have."""
    message = f"{place.at(index, column)}: the column is missing.{hint}"
    advice = "See the battle formats in the documentation of `arena battles`."
    raise FileFormatError(message, advice=advice, code=MISSING_COLUMN)
