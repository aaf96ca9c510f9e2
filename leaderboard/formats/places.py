"""Where records stand in their file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a chunk stands in its file, so that an error can name row and line.

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
        """The place of some consecutive records."""
        lines = None if self.lines is None else self.lines[start:stop]
        return replace(self, first_row=self.first_row + start, lines=lines)
