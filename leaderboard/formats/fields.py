"""Columns of records, as the readers of formats take them."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

from leaderboard.formats.cells import labels, missing, names
from leaderboard.formats.places import Place
from leaderboard.formats.rows import COLUMNS
from leaderboard.formats.sources import Chunk
from leaderboard.names import QUESTION


def column(chunk: Chunk, name: str) -> list[object]:
    """The values of a column, None where a record lacks it."""
    return [record.get(name) for record in chunk.records]


def has(chunk: Chunk, name: str) -> bool:
    """Whether any record has the column."""
    return any(name in record for record in chunk.records)


def optional(chunk: Chunk, name: str, otherwise: str = "", field: str = "") -> list[str] | None:
    """A column of labels that may be absent or empty; then the same `otherwise` for every row.

    `field` is what the project's own battles call the column.
    """
    if has(chunk, name):
        return labels(called(chunk.place, field or name, name), field or name, column(chunk, name))
    return [otherwise] * len(chunk.records) if otherwise else None


def identifiers(chunk: Chunk, name: str) -> list[str] | None:
    """A column of questions' ids, whatever the file calls it, that stands in every record or in none.

    Raises:
        FileFormatError: Some records have it and some lack it.
    """
    if not has(chunk, name):
        return None
    for index, record in enumerate(chunk.records):
        if name not in record:
            missing(chunk.place, index, name, " Other rows have it.")
    return names(called(chunk.place, QUESTION, name), QUESTION, column(chunk, name))


def judges(chunk: Chunk, name: str, otherwise: str = "") -> list[str] | None:
    """Who decided each battle; a list of names, such as a model and its prompt, becomes one."""
    if not has(chunk, name):
        return [otherwise] * len(chunk.records) if otherwise else None
    values = [
        ", ".join(map(str, value)) if isinstance(value, list) else value for value in column(chunk, name)
    ]
    return labels(called(chunk.place, "judge", name), "judge", values)


def texts(chunk: Chunk, name: str) -> list[str] | None:
    """A column of which only equal cells matter, whatever they hold; nothing is the empty text."""
    if not has(chunk, name):
        return None
    return ["" if value is None else str(value) for value in column(chunk, name)]


def called(place: Place, field: str, name: str) -> Place:
    """The place, where the file calls a field by a name of its own."""
    return place if field == name else replace(place, names=(*place.names, (field, name)))


def further(chunk: Chunk, own: Collection[str]) -> dict[str, list[object]]:
    """The columns that no reader takes, as they stand; `own` are those of the format."""
    return {
        name: [_plain(cell) for cell in column(chunk, name)]
        for name in _others(chunk, own)
        if name not in COLUMNS
    }


def _plain(cell: object) -> object:
    """A cell as JSON has it: NaN is none, and what JSON knows no kind of is text."""
    if cell is None or isinstance(cell, str | bool | int):
        return cell
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None if math.isnan(cell) else str(cell)
    if isinstance(cell, list):
        return [_plain(part) for part in cell]
    if isinstance(cell, dict):
        return {str(name): _plain(part) for name, part in cell.items()}
    return str(cell)


def clashing(chunk: Chunk, own: Collection[str]) -> tuple[str, ...]:
    """The columns that would take the place of the project's own, and so cannot be kept beside them."""
    return tuple(name for name in _others(chunk, own) if name in COLUMNS)


def _others(chunk: Chunk, own: Collection[str]) -> list[str]:
    found = dict.fromkeys(name for record in chunk.records for name in record)
    return [name for name in found if name not in own]
