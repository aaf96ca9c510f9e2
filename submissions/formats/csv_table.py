"""CSV with a header row, comma-, semicolon- or tab-separated."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator

from data.errors import FileFormatError
from data.files.text_files import GuardedStream, decode
from submissions.formats.layouts import ANSWER_COLUMNS, QUESTION_COLUMNS, missing_columns
from submissions.formats.rows import Row
from submissions.problem_codes import Code, Findings, listed, shown

DELIMITERS = ",;\t"
REQUIRED = (QUESTION_COLUMNS, ANSWER_COLUMNS)
"""Of each of these the header must name one."""


def read_csv(stream: GuardedStream, row_bytes: int, delimiter: str, findings: Findings) -> Iterator[Row]:
    """Yield rows as mappings from column to text, noting those that are not CSV; blank ones are passed over.

    Raises:
        FileFormatError: The header cannot be used, the stream ends at a limit or in damage, or there
            are too many errors.
    """
    if csv.field_size_limit() < row_bytes:
        # The module's own limit is for the whole process; it is only ever raised, to bytes that were read.
        csv.field_size_limit(row_bytes)
    lines = _Lines(stream, findings)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    columns: list[str] | None = None
    while True:
        line = reader.line_num + 1
        lines.damaged = False
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            _note(line, str(error), findings)
            continue
        if not any(cell.strip() for cell in cells) or lines.damaged:
            continue
        if columns is None:
            columns = _header(line, cells)
        elif len(cells) != len(columns):
            message = f"The row has {len(cells)} cells where the header has {len(columns)}."
            advice = "Quote cells that hold separators, quotes or line ends."
            findings.add(line, Code.BAD_CSV, message, advice)
        else:
            yield Row(line, dict(zip(columns, cells, strict=True)))


def split_header(text: str, delimiter: str) -> list[str]:
    """The names in a header line; empty where it is not CSV."""
    try:
        return [cell.strip() for cell in next(csv.reader([text], delimiter=delimiter), [])]
    except csv.Error:
        return []


class _Lines:
    """Lines as text; `damaged` turns true at one that is not UTF-8, which is noted."""

    def __init__(self, stream: GuardedStream, findings: Findings) -> None:
        self._stream = stream
        self._findings = findings
        self.damaged = False

    def __iter__(self) -> Iterator[str]:
        while content := self._stream.readline():
            try:
                yield decode(content, self._stream.line)
            except FileFormatError as error:
                self.damaged = True
                self._findings.add_failure(error)
                yield content.decode("utf-8", errors="replace").replace("\x00", "\ufffd")


def _header(line: int, cells: list[str]) -> list[str]:
    columns = [cell.strip() for cell in cells]
    twice = sorted(column for column, count in Counter(columns).items() if count > 1)
    if twice:
        message = f"A column stands twice: {listed(map(shown, twice), 5)}."
        advice = "Name every column once."
        raise FileFormatError(message, advice=advice, code=Code.DUPLICATE_COLUMN, line=line)
    if missing := missing_columns(columns, answers=True):
        message = f"There is no column {missing}."
        advice = "Name the columns in the first row: question_id, answer, contexts."
        raise FileFormatError(message, advice=advice, code=Code.MISSING_COLUMN, line=line)
    return columns


def _note(line: int, reason: str, findings: Findings) -> None:
    if "unexpected end of data" in reason:
        message = "A quoted cell that starts in this row is never closed."
        findings.add(line, Code.TRUNCATED_FILE, message, "Write the file again and upload all of it.")
    elif "field larger" in reason:
        # Where the next row starts is unknown from here on.
        message = "A cell is over the limit, or a quote is never closed."
        advice = "Close the quote or shorten the cell."
        raise FileFormatError(message, advice=advice, code=Code.TOO_LARGE, line=line)
    else:
        message = f"This is not CSV: {reason}."
        findings.add(line, Code.BAD_CSV, message, 'Quote cells that hold quotes, and write each quote as "".')
