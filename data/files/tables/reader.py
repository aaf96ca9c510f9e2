"""Open a table in any file format, which is detected from the content, and convert its rows to records."""

import json
import re
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Self, TypeVar

from data.errors import FileFormatError
from data.files import text_files
from data.files.strict_json import parse_json
from data.files.tables import sheets
from data.files.tables.columnar import read_columnar
from data.files.tables.columns import Column, column_of, renamed
from data.files.tables.json_files import LISTS, WRONG_SHAPE, read_array, read_jsonl, rows_of_object, top_keys
from data.files.tables.rows import Block, FileFormat, Opening, Row, each_row
from data.files.tables.values import list_of_cell
from data.files.text_files import ReadLimits
from data.files.zip_files import BINARY_MAGICS, ZIP_MAGICS, ArchiveLimits, unpack
from data.models import ProblemList

HEAD = 64 * 1024
RUN_FIELDS = 6
TAR_AT = 257
LONG_LINE = HEAD // 2
MAX_OBJECT_BYTES = 1024 * text_files.MEBIBYTE
FIRST_FIELD = re.compile(rb'\{\s{0,99}"([^"\\]{1,99})"\s{0,99}:\s{0,99}(.)', re.DOTALL)
WRONG_FORMAT, EMPTY, NOT_UTF8 = "wrong-format", "empty-file", "not-utf8"
ADVICE = "Use JSONL, a JSON array, CSV, Parquet, an evaluation log, or a zip file of a dataset folder."
FOREIGN: Mapping[bytes, str] = MappingProxyType(
    {
        b"PK\x03\x04": "a workbook or zip file inside a compressed file",
        b"PAR1": "a Parquet file inside a compressed file",
        b"%PDF": "a PDF",
        b"\xd0\xcf\x11\xe0": "an old Excel or Word file",
        b"<!doctype": "an HTML page",
        b"<!DOCTYPE": "an HTML page",
        b"<html": "an HTML page",
        b"<?xml": "XML",
        b"SQLite format 3": "an SQLite database",
        b"\x93NUMPY": "a NumPy array",
        b"\x80\x04\x95": "a Python pickle",
        b"FEA1": "a Feather version 1 file",
        b"Obj\x01": "an Avro file",
        **{magic: f"a {kind} file inside a compressed file" for magic, kind in text_files.COMPRESSED.items()},
    }
)
LFS = b"version https://git-lfs.github.com/spec"
FORM = (b"--", b"content-disposition: form-data")


class Table:
    """Open table; a context manager that can be iterated once, by rows or by `parts`."""

    def __init__(self, path: Path, limits: text_files.ReadLimits, opening: Opening) -> None:
        self._limits = limits
        self._opening = opening
        self._closing = ExitStack()
        try:
            self.format, self.parts = self._opened(path, "")
        except BaseException:
            self._closing.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    def __iter__(self) -> Iterator[Row]:
        return each_row(self.parts)

    def _opened(self, path: Path, within: str) -> tuple[FileFormat, Iterator[Row | Block]]:
        magic = text_files.magic_of(path)
        if magic.startswith(ZIP_MAGICS):
            if sheets.is_workbook(path):
                return FileFormat.EXCEL, sheets.read_workbook(path, self._limits, self._opening)
            return self._packed(path, within)
        form = table_format(magic)
        if form is not None:
            return form, read_columnar(path, "", self._limits, self._opening)
        return self._text(path)

    def _unpacked(self, path: Path, within: str, limits: ArchiveLimits) -> Path:
        if within:
            raise _wrong(f"{path.name} in {within} is a zip file inside another one.")
        return unpack(path, Path(self._closing.enter_context(tempfile.TemporaryDirectory())), limits)

    def _packed(self, path: Path, within: str) -> tuple[FileFormat, Iterator[Row | Block]]:
        inner = self._unpacked(path, within, ArchiveLimits(total_bytes=self._limits.file_bytes))
        files = sorted(file for file in inner.rglob("*") if file.is_file()) if inner.is_dir() else [inner]
        if len(files) != 1:
            raise _wrong(f"{path.name} contains {len(files):,} files.", "Put a single table in it.")
        return self._opened(files[0], path.name)

    def _text(self, path: Path) -> tuple[FileFormat, Iterator[Row | Block]]:
        limits, opening = self._limits, self._opening
        shape = detect(path, limits, opening.logs)
        if shape.format is FileFormat.TREC_RUN:
            advice = "Check and add it as contexts: --kind contexts."
            raise _wrong(f"{path.name} is a TREC run, which has no answers.", advice)
        if shape.whole:
            value = _object(path, limits)
            if opening.is_row(value):
                return FileFormat.JSONL, iter((Row(1, value),))
            return shape.format, rows_of_object(path.name, value)
        stream = self._closing.enter_context(
            text_files.GuardedStream(path, limits, carriage_returns=shape.carriage_returns)
        )
        match shape.format:
            case FileFormat.JSONL:
                return shape.format, read_jsonl(stream, opening)
            case FileFormat.JSON:
                return shape.format, read_array(stream, opening, shape.detail or None)
            case _:
                return FileFormat.CSV, sheets.read_csv(stream, shape.detail, opening)


def _object(path: Path, limits: text_files.ReadLimits) -> Mapping[str, object]:
    try:
        capped = replace(limits, file_bytes=min(limits.file_bytes, MAX_OBJECT_BYTES))
        value: Mapping[str, object] = parse_json(text_files.read_text(path, capped), 0)
    except FileFormatError as error:
        cause = error.__cause__
        if not isinstance(cause, json.JSONDecodeError):
            raise
        error.line = cause.lineno
        if cause.msg.startswith("Extra data"):
            error.message = f"{path.name} spreads one JSON object over several lines."
            error.advice, error.code = "Write one object per line, or one array of objects.", WRONG_SHAPE
        raise
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Layout of a text.

    Attributes:
        detail: Key of the rows of a log, or separator of CSV.
        whole: Whether it is one JSON object that is read at once.
        carriage_returns: Whether lines end with carriage returns only.
    """

    format: FileFormat
    detail: str = ""
    whole: bool = False
    carriage_returns: bool = False


def table_format(magic: bytes) -> FileFormat | None:
    """Return the format of a binary file by its first bytes; None for a text."""
    if magic.startswith(text_files.PARQUET_MAGIC):
        return FileFormat.PARQUET
    return FileFormat.ARROW if magic.startswith(text_files.ARROW_MAGICS) else None


def is_run(path: Path, limits: text_files.ReadLimits) -> bool:
    """Return whether a file is neither JSON nor a table with a known column."""
    if text_files.magic_of(path).startswith(BINARY_MAGICS):
        return False
    for _, content in text_files.read_lines(path, limits):
        header = content.decode("utf-8", errors="replace").lstrip().split("\r", maxsplit=1)[0]
        if header.startswith(("{", "[", sheets.SEPARATOR_LINE)):
            return False
        names = (name for sign in sheets.DELIMITERS for name in sheets.split_header(header, sign))
        has_column = any(map(column_of, names))
        return not has_column or len(header.split()) == RUN_FIELDS
    raise FileFormatError(f"{path.name} is empty.", advice="Save it again.", code=EMPTY)


def detect(path: Path, limits: text_files.ReadLimits, logs: Mapping[frozenset[str], str]) -> Shape:
    """Detect the layout of a text from its beginning."""
    with text_files.GuardedStream(path, limits) as stream:
        whole = stream.read(min(HEAD, limits.file_bytes))
    head = whole.lstrip()
    if not head:
        raise FileFormatError(f"{path.name} is empty.", advice="Save it again.", code=EMPTY)
    _require_readable(path, whole, head)
    carriage_returns = b"\r" in head and b"\n" not in head
    if head.startswith(b"["):
        return Shape(format=FileFormat.JSON)
    lines = [line.strip() for line in head.replace(b"\r", b"\n").split(b"\n") if line.strip()]
    if head.startswith(b"{"):
        return _of_object(head, lines, logs, carriage_returns=carriage_returns)
    fields = lines[0].split()
    if len(fields) == RUN_FIELDS and fields[1].upper() == b"Q0":
        return Shape(format=FileFormat.TREC_RUN)
    delimiter = _delimiter(lines)
    if delimiter:
        return Shape(format=FileFormat.CSV, detail=delimiter, carriage_returns=carriage_returns)
    if any(line.startswith(b"{") for line in lines):
        return Shape(format=FileFormat.JSONL, carriage_returns=carriage_returns)
    try:
        lines[0].decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"{path.name} is neither JSON nor CSV in UTF-8."
        raise FileFormatError(message, advice=ADVICE, code=NOT_UTF8, line=1) from error
    raise _wrong(f"{path.name} is neither JSON nor CSV.", line=1)


def _wrong(message: str, advice: str = ADVICE, line: int = 0) -> FileFormatError:
    return FileFormatError(message, advice=advice, code=WRONG_FORMAT, line=line)


def _require_readable(path: Path, whole: bytes, head: bytes) -> None:
    if head.startswith(LFS):
        message = f"{path.name} is a Git LFS pointer, not the file itself."
        raise _wrong(message, "Fetch the file: git lfs pull.")
    if head.startswith(FORM[0]) and FORM[1] in head[:1024].lower():
        message = f"{path.name} is a multipart/form-data upload, not the bare file."
        raise _wrong(message, "Send the file as the body: curl --data-binary @FILE.")
    kind = next((kind for magic, kind in FOREIGN.items() if head.startswith(magic)), "")
    if not kind and whole[TAR_AT : TAR_AT + 5] == b"ustar":
        kind = "a tar archive"
    if kind:
        advice = "Unpack it first." if kind.endswith("inside a compressed file") else ADVICE
        raise _wrong(f"{path.name} is {kind}.", advice)


def _of_object(
    head: bytes, lines: Sequence[bytes], logs: Mapping[frozenset[str], str], *, carriage_returns: bool
) -> Shape:
    """Detect a log, a table in one object, or one object per line."""
    keys = top_keys(head)
    log = next((rows for log_keys, rows in logs.items() if log_keys <= keys), "")
    if log:
        return Shape(format=FileFormat.JSON, detail=log)
    jsonl = Shape(format=FileFormat.JSONL, carriage_returns=carriage_returns)
    whole = Shape(format=FileFormat.JSON, whole=True)
    first = _parsed(lines[0])
    if first is not None:
        lists = any(isinstance(first.get(name), list) for name in LISTS)
        is_row = not lists and any(
            column_of(key) and not isinstance(cell, dict | list) for key, cell in first.items()
        )
        return jsonl if len(lines) > 1 or is_row else whole
    if len(lines) > 1:
        return jsonl if any(map(_parsed, lines[1:-1])) else whole
    return whole if len(head) >= LONG_LINE and _is_table(head) else jsonl


def _is_table(head: bytes) -> bool:
    match = FIRST_FIELD.match(head)
    if match is None:
        return False
    name = match.group(1).decode("utf-8", errors="replace")
    return match.group(2) in b"[{" and column_of(name) is not Column.CONTEXTS


def _parsed(line: bytes) -> dict[str, object] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _delimiter(lines: Sequence[bytes]) -> str:
    """Select the delimiter that yields the most known columns, else the most frequent one."""
    first = lines[0].decode("utf-8", errors="replace")
    if first.startswith(sheets.SEPARATOR_LINE) and len(first) == len(sheets.SEPARATOR_LINE) + 1:
        return first[-1]
    counts = {
        delimiter: sum(column_of(name) is not None for name in sheets.split_header(first, delimiter))
        for delimiter in sheets.DELIMITERS
    }
    best = max(sheets.DELIMITERS, key=lambda delimiter: (counts[delimiter], first.count(delimiter)))
    return best if counts[best] or best in first else ""


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
        problems: List to extend.
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
