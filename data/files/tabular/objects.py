"""The rows in one JSON object: columns, a list under a name, or answers by the ids of their questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from data.errors import FileFormatError
from data.files.tabular.columns import Column, column_of, shown_names
from data.files.tabular.rows import Row

WRONG_SHAPE = "wrong-shape"
LISTS = (
    *("results", "data", "rows", "answers", "predictions", "responses", "questions", "examples", "samples"),
    "testCases",
)
"""Under which names of one object its rows stand; deepeval's are its test cases."""
ADVICE = "Write one object a line, one array of objects, or an object of columns."


def rows_of_object(name: str, value: Mapping[str, object]) -> Iterator[Row]:
    """The rows of an object, whichever of these it is.

    One row; columns of equally many cells, as lists or by the row's number (pandas); rows under one of
    `LISTS`, which pandas writes with `columns` beside; answers, rows or contexts by the ids of questions, or
    by their texts.

    Raises:
        FileFormatError: It is none of these.
    """
    rows = _rows(value)
    if rows is None:
        message = f"{name} is one JSON object that is no table; its fields are: {shown_names(value)}."
        raise FileFormatError(message, advice=ADVICE, code=WRONG_SHAPE, line=1)
    for number, row in enumerate(rows, start=1):
        yield Row(number, row, "" if row is value else f"Row {number}")


def _rows(value: Mapping[str, object]) -> Sequence[object] | None:
    listed = next((cells for name in LISTS if isinstance(cells := value.get(name), list) and cells), None)
    if listed is not None:
        return _by_columns(value) or _of_list(listed, value.get("columns"))
    if _known(value):
        return _by_columns(value) or [value]
    return _by_questions(value)


def _of_list(rows: list[object], columns: object) -> list[object]:
    if not isinstance(columns, list) or not all(isinstance(row, list) for row in rows):
        return rows
    names = list(map(str, columns))
    return [dict(zip(names, row, strict=False)) for row in rows if isinstance(row, list)]


def _by_questions(value: Mapping[str, object]) -> Sequence[object] | None:
    cells = list(value.values())
    # Where each key has spaces, they are the questions' texts.
    name = (Column.QUESTION if all(" " in key.strip() for key in value) else Column.QUESTION_ID).value
    if cells and all(isinstance(cell, str) for cell in cells):
        return [{name: key, "answer": cell} for key, cell in value.items()]
    if cells and all(isinstance(cell, Mapping) for cell in cells) and any(map(_known, _mappings(cells))):
        return [_named(name, key, inner) for key, inner in zip(value, _mappings(cells), strict=True)]
    if cells and all(isinstance(cell, list) for cell in cells):
        return [{name: key, "contexts": cell} for key, cell in value.items()]
    return None


def _by_columns(value: Mapping[str, object]) -> list[dict[str, object]] | None:
    """The rows of an object whose fields are columns; None where it is a row itself."""
    if not _known(value):
        return None
    if all(isinstance(cell, Mapping) for cell in value.values()):
        columns = dict(zip(value, _mappings(value.values()), strict=True))
        index = list(dict.fromkeys(key for inner in columns.values() for key in inner))
        return [{name: inner.get(key) for name, inner in columns.items()} for key in index]
    lists = {name: cell for name, cell in value.items() if isinstance(cell, list)}
    if len(lists) == len(value) and len({len(cells) for cells in lists.values()}) == 1:
        return [dict(zip(lists, cells, strict=True)) for cells in zip(*lists.values(), strict=True)]
    return None


def _named(column: str, key: str, row: Mapping[str, object]) -> dict[str, object]:
    named = any(column_of(name) == column for name in row)
    return dict(row) if named else {column: key, **row}


def _known(row: Mapping[str, object]) -> bool:
    return any(column_of(name) for name in row)


def _mappings(cells: object) -> list[Mapping[str, object]]:
    return [cell for cell in cells if isinstance(cell, Mapping)] if hasattr(cells, "__iter__") else []
