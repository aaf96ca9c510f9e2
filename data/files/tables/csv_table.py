"""CSV with a header row, comma-, semicolon- or tab-separated."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from data.errors import FileFormatError
from data.files.tables.columns import require_once
from data.files.tables.rows import Note, Opening, Row
from data.files.text_files import GuardedStream, decode

BAD_CSV, TRUNCATED, TOO_LARGE = "bad-csv", "truncated-file", "too-large"
SEPARATOR_LINE = "sep="
"""Excel's first line, which names the separator."""


def read_csv(stream: GuardedStream, delimiter: str, opening: Opening) -> Iterator[Row]:
    """Yield rows as mappings from column to text, noting those that are not CSV; blank ones are passed over.

    Raises:
        FileFormatError: The header cannot be used, the stream ends at a limit or in damage, or there
            are too many errors.
    """
    if csv.field_size_limit() < stream.limits.line_bytes:
        # The module's own limit is for the whole process; it is only ever raised, to bytes that were read.
        csv.field_size_limit(stream.limits.line_bytes)
    lines = _Lines(stream, opening.note)
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
            opening.note(_told(line, str(error)))
            continue
        if not any(cell.strip() for cell in cells) or lines.damaged:
            continue
        if columns is None:
            if line == 1 and cells[0].startswith(SEPARATOR_LINE):
                continue
            columns = [cell.strip() for cell in cells]
            require_once(columns, line=line)
            opening.header(columns, line)
        elif len(cells) != len(columns):
            message = f"The row has {len(cells)} cells where the header has {len(columns)}."
            advice = "Quote cells that hold separators, quotes or line ends."
            opening.note(FileFormatError(message, advice=advice, code=BAD_CSV, line=line))
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

    def __init__(self, stream: GuardedStream, note: Note) -> None:
        self._stream = stream
        self._note = note
        self.damaged = False

    def __iter__(self) -> Iterator[str]:
        while content := self._stream.readline():
            try:
                yield decode(content, self._stream.line)
            except FileFormatError as error:
                self.damaged = True
                self._note(error)
                yield content.decode("utf-8", errors="replace").replace("\x00", "\ufffd")


def _told(line: int, reason: str) -> FileFormatError:
    """What the parser found, in our words.

    Raises:
        FileFormatError: Where the next row starts is unknown from here on.
    """
    if "unexpected end of data" in reason:
        message = "A quoted cell that starts in this row is never closed."
        return FileFormatError(
            message, advice="Write the file again and upload all of it.", code=TRUNCATED, line=line
        )
    if "field larger" in reason:
        message = "A cell is over the limit, or a quote is never closed."
        advice = "Close the quote or shorten the cell."
        raise FileFormatError(message, advice=advice, code=TOO_LARGE, line=line)
    message = "This is not CSV: a quote stands inside a quoted cell, or a line end inside an unquoted one."
    advice = 'Quote cells that hold quotes, and write each quote as "".'
    return FileFormatError(message, advice=advice, code=BAD_CSV, line=line)
