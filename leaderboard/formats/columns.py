"""Columns picked out of a chunk of records."""

from __future__ import annotations

from leaderboard.formats.rows import labels, missing, names
from leaderboard.formats.sources import Chunk


def column(chunk: Chunk, name: str) -> list[object]:
    """The values of a column, None where a record lacks it."""
    return [record.get(name) for record in chunk.records]


def has(chunk: Chunk, name: str) -> bool:
    """Whether any record has the column."""
    return any(name in record for record in chunk.records)


def optional(chunk: Chunk, name: str, otherwise: str = "") -> list[str] | None:
    """A column of labels that may be absent or empty; then the same `otherwise` for every row."""
    if has(chunk, name):
        return labels(chunk.place, name, column(chunk, name))
    return [otherwise] * len(chunk.records) if otherwise else None


def identifiers(chunk: Chunk, name: str) -> list[str] | None:
    """A column of ids that stands in every record, or in none.

    Raises:
        FileFormatError: Some records have it and some lack it.
    """
    if not has(chunk, name):
        return None
    for index, record in enumerate(chunk.records):
        if name not in record:
            missing(chunk.place, index, name, " Other rows have it.")
    return names(chunk.place, name, column(chunk, name))
