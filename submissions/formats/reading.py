"""Telling the format of a file by its content, and opening it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Self

from data.errors import FileFormatError
from data.files.text_files import GuardedStream
from submissions.formats.csv_table import DELIMITERS, REQUIRED, read_csv, split_header
from submissions.formats.json_files import read_array, read_jsonl
from submissions.formats.rows import FileFormat, Row
from submissions.limits import IntakeLimits
from submissions.problem_codes import Code, Findings

HEAD = 64 * 1024
COLUMNS = frozenset().union(*REQUIRED)
FOREIGN = {
    b"PK\x03\x04": "a zip or Excel file",
    b"\x1f\x8b": "a gzip file inside a gzip file",
    b"PAR1": "a Parquet file",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
    b"\x28\xb5\x2f\xfd": "a zstd file",
    b"%PDF": "a PDF",
}
ADVICE = "Give JSONL, a JSON array or CSV, plain or gzipped."

RUN_FIELDS = 6


class RowFile:
    """An open file of answers.

    Use it as a context manager and iterate over it once.
    """

    def __init__(self, path: Path, limits: IntakeLimits, findings: Findings) -> None:
        self.format, self._delimiter = _detect(path, limits)
        self._limits = limits
        self._findings = findings
        self._stream = GuardedStream(path, limits.reading)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def __iter__(self) -> Iterator[Row]:
        match self.format:
            case FileFormat.JSONL:
                return read_jsonl(self._stream, self._findings)
            case FileFormat.JSON:
                return read_array(self._stream, self._limits.row_bytes, self._findings)
            case FileFormat.CSV:
                return read_csv(self._stream, self._limits.row_bytes, self._delimiter, self._findings)
            case FileFormat.TREC_RUN:
                message = f"{self._stream.name} is a TREC run, which has no answers."
                advice = "Check and add it as contexts: --kind contexts."
                raise FileFormatError(message, advice=advice, code=Code.WRONG_FORMAT)


def open_rows(path: Path, limits: IntakeLimits, findings: Findings) -> RowFile:
    """Open a file of answers, plain or gzipped.

    Lines that cannot be parsed are noted in `findings` while iterating.

    Raises:
        FileFormatError: There is no such file, or it has none of the formats.
    """
    return RowFile(path, limits, findings)


def _detect(path: Path, limits: IntakeLimits) -> tuple[FileFormat, str]:
    with GuardedStream(path, limits.reading) as stream:
        head = stream.read(min(HEAD, limits.file_bytes)).lstrip()
    for magic, kind in FOREIGN.items():
        if head.startswith(magic):
            raise FileFormatError(f"{path.name} is {kind}.", advice=ADVICE, code=Code.WRONG_FORMAT)
    if not head:
        raise FileFormatError(f"{path.name} is empty.", advice="Write it again.", code=Code.EMPTY_FILE)
    if head.startswith(b"["):
        return FileFormat.JSON, ""
    lines = [line.strip() for line in head.splitlines()]
    if head.startswith(b"{"):
        if lines[0] == b"{":
            message = f"{path.name} spreads one JSON object over several lines."
            advice = "Write one object a line, or one array of objects."
            raise FileFormatError(message, advice=advice, code=Code.WRONG_SHAPE, line=1)
        return FileFormat.JSONL, ""
    delimiter = _delimiter(lines[0])
    if delimiter:
        return FileFormat.CSV, delimiter
    if any(line.startswith(b"{") for line in lines):
        return FileFormat.JSONL, ""
    fields = lines[0].split()
    if len(fields) == RUN_FIELDS and fields[1].upper() == b"Q0":
        return FileFormat.TREC_RUN, ""
    return _refuse(path, lines[0])


def _delimiter(header: bytes) -> str:
    text = header.decode("utf-8", errors="replace")
    columns = {delimiter: COLUMNS.intersection(split_header(text, delimiter)) for delimiter in DELIMITERS}
    best = max(DELIMITERS, key=lambda delimiter: len(columns[delimiter]))
    return best if columns[best] else ""


def _refuse(path: Path, first: bytes) -> tuple[FileFormat, str]:
    try:
        first.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"{path.name} is neither JSON nor CSV in UTF-8."
        raise FileFormatError(message, advice=ADVICE, code=Code.NOT_UTF8, line=1) from error
    if any(delimiter.encode() in first for delimiter in DELIMITERS):
        message = f"{path.name} looks like CSV, and its header names none of the columns."
        advice = "Start with a header that names question_id and answer."
        raise FileFormatError(message, advice=advice, code=Code.MISSING_COLUMN, line=1)
    raise FileFormatError(
        f"{path.name} is neither JSON nor CSV.", advice=ADVICE, code=Code.WRONG_FORMAT, line=1
    )
