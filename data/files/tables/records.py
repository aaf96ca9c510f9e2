"""Conversion of the rows of a table to records, or to a list of their problems."""

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

from data.errors import FileFormatError
from data.files.tables.columns import renamed
from data.files.tables.reader import Table
from data.files.tables.rows import Opening
from data.files.tables.values import list_of_cell
from data.files.text_files import ReadLimits
from data.models import ProblemList

Record = TypeVar("Record")
Make = Callable[[int, Mapping[str, object], ProblemList], Record | None]
"""Converts a row with its line to a record; adds problems and returns None if there are any."""


def read_records(
    path: Path,
    limits: ReadLimits,
    make: Make[Record],
    *,
    ours: bool = False,
    lists: Collection[str] = (),
    keep: Collection[str] = (),
) -> tuple[Record, ...]:
    """Read a table with at least one record; for the arguments see `each_record`."""
    problems = ProblemList()
    rows = each_record(path, limits, make, problems, ours=ours, lists=lists, keep=keep)
    records = tuple(record for _, record in rows)
    if not records and not problems.errors:
        problems.add(0, "empty-file", f"{path.name} contains no records.", advice="Add at least one.")
    problems.require_none(path.name)
    return records


def each_record(
    path: Path,
    limits: ReadLimits,
    make: Make[Record],
    problems: ProblemList,
    *,
    ours: bool = False,
    lists: Collection[str] = (),
    keep: Collection[str] = (),
) -> Iterator[tuple[int, Record]]:
    """Yield the records of a table with their lines, and add problems of unreadable rows.

    Args:
        path: The file.
        limits: Limits on its size.
        make: Converts a row to a record.
        problems: List that problems are added to.
        ours: Whether to rename known columns (`columns.NAMES`) to our names.
        lists: Fields with lists, which are strings in CSV.
        keep: Columns that are not renamed.
    """
    note = partial(problems.note, name=path.name)
    try:
        with Table(path, limits, Opening(note=note, is_row=lambda _: not ours)) as table:
            for row in table:
                if not isinstance(row.value, Mapping):
                    problems.add(row.line, "not-object", f"{path.name}: This line is not a JSON object.")
                    continue
                unchanged = {name: row.value[name] for name in keep if name in row.value}
                rest = {name: cell for name, cell in row.value.items() if name not in unchanged}
                fields = renamed(rest) | unchanged if ours else row.value
                try:
                    if table.format.text_cells:
                        fields = {name: _cell(name, cell, lists) for name, cell in fields.items()}
                    record = make(row.line, fields, problems)
                except FileFormatError as error:
                    error.line = row.line
                    note(error)
                    continue
                if record is not None:
                    yield row.line, record
    except FileFormatError as error:
        note(error)


def _cell(name: str, cell: object, lists: Collection[str]) -> object:
    if not isinstance(cell, str) or name not in lists:
        return None if cell == "" and name not in {"answer", "question"} else cell
    return list_of_cell(cell)
