"""Answers as Python has them, read as tables: data frames, rows, files, one of each a system."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from arena.services.ranking.requests import named_files
from data.errors import InputError
from data.files.tables.columns import Column

if TYPE_CHECKING:
    from submissions.answer_tables import AnswerTable

Data: TypeAlias = Any
"""A data frame of pandas or Polars, rows (a list of dicts), a path, or a dict of these by system."""
ADVICE = "Give a data frame, a list of dicts, a path, or a dict of these by the names of systems."


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Column names beyond those of `data.files.tables.columns.NAMES`."""

    system: str | None = None
    question: str | None = None
    answer: str | None = None
    reference: str | None = None
    domain: str | None = None

    def renamed(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row with our names in place of these.

        Raises:
            InputError: A name is in no column.
        """
        ours = {
            theirs: column.value
            for column, theirs in (
                (Column.SYSTEM, self.system),
                (Column.QUESTION, self.question),
                (Column.ANSWER, self.answer),
                (Column.REFERENCE, self.reference),
                (Column.DOMAIN, self.domain),
            )
            if theirs is not None
        }
        missing = [theirs for theirs in ours if theirs not in row]
        if missing:
            raise InputError(
                f"There is no column {missing[0]!r}; there are: {', '.join(map(repr, row))}.",
                advice="Name a column that is there.",
            )
        taken = set(ours.values())
        return {ours.get(name, name): cell for name, cell in row.items() if name in ours or name not in taken}


def tables_of(data: Data, names: Names) -> list[AnswerTable]:
    """Return the tables of some data.

    Raises:
        InputError: It is of no kind that is read, or lacks a column.
        InvalidFileError: Rows cannot be read; every problem is listed.
    """
    if isinstance(data, Mapping) and not _is_row(data):
        return [_table(part, str(system), names).called(str(system)) for system, part in data.items()]
    paths = [data] if _is_path(data) else data
    if isinstance(paths, Sequence) and paths and all(map(_is_path, paths)):
        return [one.table(one.path) for one in named_files([str(path) for path in paths])]
    return [_table(data, "system", names)]


def references_of(data: Data, names: Names) -> AnswerTable:
    """Return the one table of references, whose columns may be called as ours too; raises as `tables_of`."""
    known = names
    if not _is_path(data):
        data = [dict(row) for row in _rows(data, Names())]
        found = {name for row in data for name in row}
        theirs = {one.name: getattr(names, one.name) for one in fields(names)}
        known = Names(**{name: column for name, column in theirs.items() if column in found})
    return _table(data, "", known, name="references", answers=False)


def _table(
    data: Data, system: str, names: Names, *, name: str | None = None, answers: bool = True
) -> AnswerTable:
    from submissions.answer_tables import answer_table_of, read_answer_table

    if _is_path(data):
        return read_answer_table(Path(data), system=system, answers=answers)
    return answer_table_of(_rows(data, names), name=name or system, system=system, answers=answers)


def _rows(data: Data, names: Names) -> Iterator[dict[str, Any]]:
    for row in _plain_rows(data):
        if not isinstance(row, Mapping):
            raise InputError(f"A row is a {type(row).__name__}.", advice=ADVICE)
        yield names.renamed({str(name): _cell(cell) for name, cell in row.items()})


def _plain_rows(data: Data) -> Iterable[Any]:
    if hasattr(data, "to_dicts"):
        rows: Iterable[Any] = data.to_dicts()
        return rows
    if hasattr(data, "to_dict") and hasattr(data, "columns"):
        columns: Iterable[Any] = with_index(data).to_dict("records")
        return columns
    if isinstance(data, Iterable) and not isinstance(data, str | bytes | Mapping):
        return data
    raise InputError(f"A {type(data).__name__} holds no answers.", advice=ADVICE)


def with_index(frame: Any) -> Any:  # noqa: ANN401 - a data frame, whose library need not be there
    """Turn a pandas index that has a name into a column, unless one of that name exists."""
    names = list(frame.index.names)
    taken = [name for name in names if name is None or name in frame.columns]
    return frame if len(taken) == len(names) else frame.reset_index(level=taken, drop=True).reset_index()


def _cell(cell: Any) -> Any:  # noqa: ANN401 - what a data frame holds
    """Return a value as JSON would give it."""
    if hasattr(cell, "tolist") and not isinstance(cell, str):
        cell = cell.tolist()
    missing = cell is None or type(cell).__name__ in {"NAType", "NaTType"}
    return None if missing or (isinstance(cell, float) and cell != cell) else cell  # noqa: PLR0124 - NaN alone differs from itself


def _is_path(value: object) -> bool:
    return isinstance(value, str | PathLike)


def _is_row(data: Mapping[Any, Any]) -> bool:
    return not all(
        hasattr(part, "columns") or isinstance(part, list | tuple) or _is_path(part) for part in data.values()
    )
