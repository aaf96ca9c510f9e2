"""One row of a file, before anything is known of its fields."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FileFormat(StrEnum):
    """The formats that answers come in."""

    JSONL = "jsonl"
    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"
    ARROW = "arrow"
    ZIP = "zip"
    """A log of inspect, whose samples are files of their own."""
    TREC_RUN = "trec-run"
    """Of contexts alone."""


@dataclass(frozen=True, slots=True)
class Row:
    """A parsed line, JSON item or CSV row.

    `line` is the physical line it starts on; `place` names the item where items can share a line.
    """

    line: int
    value: object
    place: str = ""
