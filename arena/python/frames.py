"""Read answers from Python values: data frames, rows or files, one per system."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from arena.services.ranking.requests import Columns, named_files, require_system, with_distinct_names
from data.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from submissions.answer_tables import AnswerTable

Data: TypeAlias = Any
"""Data frame of pandas or Polars, rows (a list of dicts), a path, or a dict of these by system."""
ADVICE = "Pass a data frame, a list of dicts, a path, or a dict of these by the names of systems."


def tables_of(data: Data, names: Columns) -> list[AnswerTable]:
    """Return the tables of the data.

    Raises:
        InputError: Its type is not supported, or it lacks a column.
        InvalidFileError: Rows cannot be read; every problem is listed.
    """
    paths = [data] if _is_path(data) else data
    if isinstance(data, Mapping) and not _is_row(data):
        tables = [_table(part, str(system), names).called(str(system)) for system, part in data.items()]
    elif isinstance(paths, Sequence) and all(map(_is_path, paths)):
        files = named_files([str(path) for path in paths])
        tables = with_distinct_names(files, [file.table(file.path, names) for file in files])
    else:
        tables = [_table(data, "system", names)]
    require_system(names, tables)
    return tables


def references_of(data: Data, names: Columns) -> AnswerTable:
    """Return the table of references, which may also use our column names."""
    from submissions.answer_tables import answer_table_of

    if _is_path(data):
        return names.references(Path(data))
    rows = list(_rows(data))
    fields = {name for row in rows for name in row}
    called = {column: name for column, name in names.in_file(Path()).items() if name in fields}
    return answer_table_of(rows, name="references", answers=False, called=called)


def _table(data: Data, system: str, names: Columns) -> AnswerTable:
    from submissions.answer_tables import answer_table_of, read_answer_table

    if _is_path(data):
        called = names.in_file(Path(data))
        keep = {"repeats": names.repeats, "keep_na": names.keep_na}
        return read_answer_table(Path(data), system=system, called=called, **keep)
    called = names.in_file(Path())
    return answer_table_of(_rows(data), name=system, system=system, called=called, repeats=names.repeats)


def _rows(data: Data) -> Iterator[dict[str, Any]]:
    for row in _plain_rows(data):
        if not isinstance(row, Mapping):
            raise InputError(f"Each row must be a mapping (got {type(row).__name__}).", advice=ADVICE)
        yield {str(name): _cell(cell) for name, cell in row.items()}


def _plain_rows(data: Data) -> Iterable[Any]:
    if hasattr(data, "to_dicts"):
        rows: Iterable[Any] = data.to_dicts()
        return rows
    if hasattr(data, "to_dict") and hasattr(data, "columns"):
        columns: Iterable[Any] = with_index(data).to_dict("records")
        return columns
    if isinstance(data, Iterable) and not isinstance(data, str | bytes | Mapping):
        return data
    raise InputError(f"Answers cannot be read from the type {type(data).__name__}.", advice=ADVICE)


def with_index(frame: pd.DataFrame) -> pd.DataFrame:
    """Convert a named pandas index to a column, unless a column has that name."""
    names = list(frame.index.names)
    taken = [name for name in names if name is None or name in frame.columns]
    return frame if len(taken) == len(names) else frame.reset_index(level=taken, drop=True).reset_index()


def _cell(cell: object) -> object:
    """Return a cell as a plain Python value; None for every kind of missing value."""
    value: object = cell.tolist() if hasattr(cell, "tolist") else cell
    nothing = value is None or type(value).__name__ in {"NAType", "NaTType"}
    return None if nothing or (isinstance(value, float) and isnan(value)) else value


def _is_path(value: object) -> bool:
    return isinstance(value, str | PathLike)


def _is_row(data: Mapping[Any, Any]) -> bool:
    return not all(
        hasattr(part, "columns") or isinstance(part, list | tuple) or _is_path(part) for part in data.values()
    )
