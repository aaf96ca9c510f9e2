"""Records from JSONL files of strangers: every problem at once, or every record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from data.errors import FileFormatError, InvalidFileError
from data.files import ReadLimits, decode, parse_json, read_lines
from data.records import ProblemList

Record = TypeVar("Record")
Make = Callable[[int, object, ProblemList], Record | None]


def read_records(path: Path, limits: ReadLimits, make: Make[Record]) -> tuple[Record, ...]:
    """Read a file of records, at least one.

    Args:
        path: The file, plain or gzipped.
        limits: How much of it is read.
        make: Makes a record of a line's parsed JSON, noting what is wrong with it; None where it has
            problems.

    Raises:
        InvalidFileError: The file has problems; all of them are listed.
    """
    problems = ProblemList()
    found = tuple(made for _, made in each_record(path, limits, make, problems))
    if not found and not problems.errors:
        problems.add(0, "empty-file", f"{path.name} holds no records.", advice="Write at least one.")
    if problems.errors:
        message = f"{path} has {problems.errors} {'problem' if problems.errors == 1 else 'problems'}."
        raise InvalidFileError(message, problems.result(), advice="Mend them and try again.")
    return found


def each_record(
    path: Path, limits: ReadLimits, make: Make[Record], problems: ProblemList
) -> Iterator[tuple[int, Record]]:
    """Yield the records of a file with their lines; what cannot be read is noted and left out."""
    try:
        for line, content in read_lines(path, limits):
            try:
                made = make(line, parse_json(decode(content, line), line), problems)
            except FileFormatError as error:
                problems.add(line, error.code, f"{path.name}: {error.message}", advice=error.advice)
                continue
            if made is not None:
                yield line, made
    except FileFormatError as error:
        problems.add(error.line, error.code, error.message, advice=error.advice)
