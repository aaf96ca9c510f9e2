"""Telling the format of a file or folder by its content, and opening it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Self

from data.errors import FileFormatError
from data.files.parquet import PARQUET_MAGIC, stored_bytes
from data.files.text_files import GuardedStream, content_bytes
from submissions.formats.columnar import ARROW_MAGICS, read_arrow, read_parquet
from submissions.formats.csv_table import DELIMITERS, REQUIRED, read_csv, split_header
from submissions.formats.folders import (
    ZIP_MAGICS,
    Found,
    files_of,
    is_inspect_archive,
    is_office_archive,
    packed_bytes,
    questions_beside,
    read_inspect_archive,
    unpacked,
)
from submissions.formats.json_files import read_array, read_jsonl, top_keys
from submissions.formats.rows import FileFormat, Row
from submissions.limits import IntakeLimits
from submissions.problem_codes import Code, Findings

HEAD = 64 * 1024
MAGIC = 8
COLUMNS = frozenset[str]().union(*REQUIRED)
FOREIGN = {
    b"PK\x03\x04": "a zip file inside a gzip file",
    b"\x1f\x8b": "a gzip file inside a gzip file",
    b"PAR1": "a Parquet file inside a gzip file",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
    b"\x28\xb5\x2f\xfd": "a zstd file",
    b"%PDF": "a PDF",
}
ADVICE = "Give JSONL, a JSON array, CSV or Parquet, a harness's log, or a zip file of a dataset's folder."
LOGS: Mapping[frozenset[str], str] = MappingProxyType(
    {frozenset({"version", "eval"}): "samples", frozenset({"adapter_spec"}): "request_states"}
)
"""Where the rows of a log that is one JSON object stand, by keys that tell whose it is: inspect, HELM."""
RUN_FIELDS = 6
TABLES: Mapping[FileFormat, Callable[[Path, str, IntakeLimits, Findings], Iterator[Row]]] = MappingProxyType(
    {FileFormat.PARQUET: read_parquet, FileFormat.ARROW: read_arrow}
)


class RowFile:
    """An open file of answers, or a folder of them.

    Use it as a context manager and iterate over it once.
    """

    def __init__(self, path: Path, limits: IntakeLimits, findings: Findings) -> None:
        self._limits = limits
        self._findings = findings
        self._closing = ExitStack()
        try:
            self.format, self._rows = self._opened(path)
        except BaseException:
            self._closing.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    def __iter__(self) -> Iterator[Row]:
        return self._rows

    def _opened(self, path: Path, *, nested: bool = False) -> tuple[FileFormat, Iterator[Row]]:
        if path.is_dir():
            return self._folder(path, path.name)
        magic = _magic(path)
        if magic.startswith(ZIP_MAGICS):
            return self._archive(path, nested=nested)
        form = _table_format(magic)
        if form is not None:
            return form, TABLES[form](path, "", self._limits, self._findings)
        return self._text(path)

    def _archive(self, path: Path, *, nested: bool) -> tuple[FileFormat, Iterator[Row]]:
        if is_inspect_archive(path):
            return FileFormat.ZIP, read_inspect_archive(path, self._limits, self._findings)
        if nested or is_office_archive(path):
            what = "a zip file inside another" if nested else "an Excel or Office file"
            raise FileFormatError(f"{path.name} is {what}.", advice=ADVICE, code=Code.WRONG_FORMAT)
        folder = Path(self._closing.enter_context(tempfile.TemporaryDirectory()))
        return self._folder(unpacked(path, folder, self._limits), path.name)

    def _folder(self, folder: Path, name: str) -> tuple[FileFormat, Iterator[Row]]:
        found = files_of(folder, name, self._findings)
        if found.beside is not None:
            return FileFormat.JSON, self._predictions(found, found.beside)
        if len(found.files) == 1:
            return self._opened(found.files[0], nested=True)
        forms = {file: _table_format(_magic(file)) for file in found.files}
        wrong = next((file for file, form in forms.items() if form is None), None)
        if wrong is not None:
            message = f"{wrong.name} in {name} is no Parquet or Arrow file."
            raise FileFormatError(message, advice=ADVICE, code=Code.DAMAGED_FILE)
        readers = [(file, form) for file, form in forms.items() if form is not None]
        rows = (TABLES[form](file, file.name, self._limits, self._findings) for file, form in readers)
        return readers[0][1], chain.from_iterable(rows)

    def _predictions(self, found: Found, beside: Path) -> Iterator[Row]:
        """HELM's predictions for display, each with its question."""
        instances = questions_beside(beside, self._limits.reading)
        _, rows = self._text(found.files[0])
        for row in rows:
            value = row.value
            if isinstance(value, Mapping):
                value = {**value, "instance": instances.get(str(value.get("instance_id")))}
            yield Row(row.line, value, row.place)

    def _text(self, path: Path) -> tuple[FileFormat, Iterator[Row]]:
        form, detail = _detect(path, self._limits)
        stream = self._closing.enter_context(GuardedStream(path, self._limits.reading))
        row_bytes, findings = self._limits.row_bytes, self._findings
        match form:
            case FileFormat.JSONL:
                return form, read_jsonl(stream, findings)
            case FileFormat.JSON:
                return form, read_array(stream, row_bytes, findings, detail or None)
            case FileFormat.CSV:
                return form, read_csv(stream, row_bytes, detail, findings)
            case _:
                message = f"{stream.name} is a TREC run, which has no answers."
                advice = "Check and add it as contexts: --kind contexts."
                raise FileFormatError(message, advice=advice, code=Code.WRONG_FORMAT)


def open_rows(path: Path, limits: IntakeLimits, findings: Findings) -> RowFile:
    """Open a file of answers, plain, gzipped or in a zip file, or a folder of them.

    Lines that cannot be parsed are noted in `findings` while iterating.

    Raises:
        FileFormatError: There is no such file, or it has none of the formats.
    """
    return RowFile(path, limits, findings)


def size_of(path: Path, limits: IntakeLimits) -> int:
    """How many bytes a file or folder holds, decompressed, as far as that can be told, within the limit."""
    size = 0
    with suppress(FileFormatError, OSError):
        if path.is_dir():
            size = sum(_table_bytes(file) for file in files_of(path, path.name, Findings(1)).files)
        elif (magic := _magic(path)).startswith(ZIP_MAGICS):
            size = packed_bytes(path)
        elif _table_format(magic) is not None:
            size = _table_bytes(path)
        else:
            return content_bytes(path, limits.reading)
    return min(size, limits.file_bytes)


def _table_bytes(path: Path) -> int:
    stored = stored_bytes(path) if _magic(path).startswith(PARQUET_MAGIC) else 0
    return max(stored, path.stat().st_size)


def cites_passages(path: Path, limits: IntakeLimits) -> bool:
    """Whether a file may name passages of the set in place of their texts, as TREC's RAG track does."""
    if not is_text(path):
        return True
    with suppress(FileFormatError), GuardedStream(path, limits.reading) as stream:
        return b'"references"' in stream.read(min(HEAD, limits.file_bytes))
    return False


def is_text(path: Path) -> bool:
    """Whether it is no folder, archive or table, by its first bytes."""
    return not path.is_dir() and not _magic(path).startswith((*ZIP_MAGICS, PARQUET_MAGIC, *ARROW_MAGICS))


def _magic(path: Path) -> bytes:
    """The first bytes of a file as it is stored; empty where it cannot be read, which is said later."""
    with suppress(OSError), path.open("rb") as file:
        return file.read(MAGIC)
    return b""


def _table_format(magic: bytes) -> FileFormat | None:
    if magic.startswith(PARQUET_MAGIC):
        return FileFormat.PARQUET
    return FileFormat.ARROW if magic.startswith(ARROW_MAGICS) else None


def _detect(path: Path, limits: IntakeLimits) -> tuple[FileFormat, str]:
    """The format of a text; of a log also the key of its rows, of CSV the delimiter."""
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
        return _detect_object(path, head, lines[0])
    delimiter = _delimiter(lines[0])
    if delimiter:
        return FileFormat.CSV, delimiter
    if any(line.startswith(b"{") for line in lines):
        return FileFormat.JSONL, ""
    fields = lines[0].split()
    if len(fields) == RUN_FIELDS and fields[1].upper() == b"Q0":
        return FileFormat.TREC_RUN, ""
    return _refuse(path, lines[0])


def _detect_object(path: Path, head: bytes, first: bytes) -> tuple[FileFormat, str]:
    """Whether a text that begins with an object is one log, or an object a line."""
    keys = top_keys(head)
    log = next((rows for known, rows in LOGS.items() if known <= keys), "")
    if log:
        return FileFormat.JSON, log
    if first == b"{":
        message = f"{path.name} spreads one JSON object over several lines."
        advice = "Write one object a line, or one array of objects."
        raise FileFormatError(message, advice=advice, code=Code.WRONG_SHAPE, line=1)
    return FileFormat.JSONL, ""


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
