"""Opening a file or folder of answers: a table of texts, a harness's log, or a folder of either."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Self

from data.errors import FileFormatError
from data.files.tables.columnar import read_columnar, stored_bytes
from data.files.tables.columns import column_of
from data.files.tables.reader import ADVICE, HEAD, Table, table_format
from data.files.tables.rows import FileFormat, Header, Opening, Row
from data.files.tables.sheets import is_workbook
from data.files.text_files import (
    ARROW_MAGICS,
    PARQUET_MAGIC,
    GuardedStream,
    content_bytes,
    magic_of,
)
from data.files.zip_files import ZIP_MAGICS, members_of
from data.models import Severity
from data.text import are, counted, have
from submissions.answer_figures import FIGURES
from submissions.formats.folders import (
    files_of,
    is_inspect_archive,
    questions_beside,
    read_inspect_archive,
    unpacked,
)
from submissions.formats.registry import FURTHER_COLUMNS, is_log, is_row, logs
from submissions.limits import IntakeLimits
from submissions.problem_codes import Code, Findings, listed

LISTED = 5


class RowFile:
    """An open file of answers, or a folder of them.

    Use it as a context manager and iterate over it once.
    """

    def __init__(self, path: Path, limits: IntakeLimits, findings: Findings, header: Header) -> None:
        self._limits = limits
        self._findings = findings
        self._large: list[str] = []
        self._opening = Opening(
            note=findings.add_failure,
            header=header,
            reads=self._reads,
            is_log=is_log,
            is_row=partial(is_row, findings),
            logs=logs(),
            large=self._large.append,
        )
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
        yield from self._rows
        if self._large:
            count = len(self._large)
            message = f"{counted(count, 'sample')} {have(count)} more than {self._limits.row_bytes:,} bytes"
            message += f", and {are(count)} left out: {listed(self._large, LISTED)}."
            advice = "Log them without the transcript of their events."
            self._findings.add(0, Code.TOO_LARGE, message, advice, Severity.WARNING)

    def _reads(self, name: str) -> bool:
        known = column_of(name) is not None or name in FURTHER_COLUMNS or name in FIGURES
        return known or (bool(self._limits.system) and name == self._limits.system)

    def _opened(self, path: Path, *, within: str = "") -> tuple[FileFormat, Iterator[Row]]:
        if path.is_dir():
            return self._folder(path, path.name)
        if magic_of(path).startswith(ZIP_MAGICS) and not is_workbook(path):
            return self._archive(path, within)
        table = self._closing.enter_context(Table(path, self._limits.reading, self._opening))
        return table.format, iter(table)

    def _archive(self, path: Path, within: str) -> tuple[FileFormat, Iterator[Row]]:
        if is_inspect_archive(path):
            return FileFormat.ZIP, read_inspect_archive(path, self._limits, self._opening)
        if within:
            message = f"{path.name} in {within} is a zip file inside another."
            raise FileFormatError(message, advice=ADVICE, code=Code.WRONG_FORMAT)
        folder = Path(self._closing.enter_context(tempfile.TemporaryDirectory()))
        return self._folder(unpacked(path, folder, self._limits), path.name)

    def _folder(self, folder: Path, name: str) -> tuple[FileFormat, Iterator[Row]]:
        files, beside = files_of(folder, name, self._findings)
        if beside is not None:
            return FileFormat.JSON, self._predictions(files[0], beside)
        if len(files) == 1:
            return self._opened(files[0], within=name)
        forms = {file: table_format(magic_of(file)) for file in files}
        wrong = next((file for file, form in forms.items() if form is None), None)
        if wrong is not None:
            message = f"{wrong.name} in {name} is no Parquet or Arrow file."
            raise FileFormatError(message, advice=ADVICE, code=Code.DAMAGED_FILE)
        limits = self._limits.reading
        rows = (read_columnar(file, file.name, limits, self._opening) for file in files)
        return forms[files[0]] or FileFormat.PARQUET, chain.from_iterable(rows)

    def _predictions(self, file: Path, beside: Path) -> Iterator[Row]:
        """HELM's predictions for display, each with its question."""
        instances = questions_beside(beside, self._limits.reading)
        _, rows = self._opened(file)
        for row in rows:
            value = row.value
            if isinstance(value, Mapping):
                value = {**value, "instance": instances.get(str(value.get("instance_id")))}
            yield Row(row.line, value, row.place)


def _any_header(columns: Sequence[str], line: int) -> None:
    """Accept every header."""


def open_rows(path: Path, limits: IntakeLimits, findings: Findings, header: Header = _any_header) -> RowFile:
    """Open a file of answers, plain, gzipped or in a zip file, or a folder of them.

    Lines that cannot be parsed are noted in `findings` while iterating.

    Raises:
        FileFormatError: There is no such file, or it has none of the formats.
    """
    return RowFile(path, limits, findings, header)


def size_of(path: Path, limits: IntakeLimits) -> int:
    """Return the decompressed bytes of a file or folder, as far as known, within the limit."""
    size = 0
    with suppress(FileFormatError, OSError):
        if path.is_dir():
            size = sum(map(_table_bytes, files_of(path, path.name, Findings(1))[0]))
        elif (magic := magic_of(path)).startswith(ZIP_MAGICS):
            size = sum(members_of(path).values()) or path.stat().st_size
        elif table_format(magic) is not None:
            size = _table_bytes(path)
        else:
            return content_bytes(path, limits.reading)
    return min(size, limits.file_bytes)


def _table_bytes(path: Path) -> int:
    stored = stored_bytes(path) if magic_of(path).startswith(PARQUET_MAGIC) else 0
    return max(stored, path.stat().st_size)


def cites_passages(path: Path, limits: IntakeLimits) -> bool:
    """Return whether a file may name the set's passages without their texts, as TREC's RAG track does."""
    if not is_text(path):
        return True
    with suppress(FileFormatError), GuardedStream(path, limits.reading) as stream:
        return b'"references"' in stream.read(min(HEAD, limits.file_bytes))
    return False


def is_text(path: Path) -> bool:
    """Return whether it is no folder, archive or table, by its first bytes."""
    return not path.is_dir() and not magic_of(path).startswith((*ZIP_MAGICS, PARQUET_MAGIC, *ARROW_MAGICS))
