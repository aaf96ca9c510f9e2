"""Readers of CSV with a header row and of Excel workbooks."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data.errors import FileFormatError
from data.files.tables.columns import Column, read_columns, require_once
from data.files.tables.rows import Block, Note, Opening, Row
from data.files.text_files import UTF8_BOM, GuardedStream, ReadLimits, decode, too_many_bytes
from data.files.zip_files import DAMAGE, members_of

BAD_CSV, TRUNCATED, TOO_LARGE = "bad-csv", "truncated-file", "too-large"
DELIMITERS = ",;\t"
SEPARATOR_LINE = "sep="
"""First line of Excel's files, which names the separator."""


def read_csv(stream: GuardedStream, delimiter: str, opening: Opening) -> Iterator[Row | Block]:
    """Yield rows, with problems for invalid ones; blank rows are skipped.

    Arrow parses blocks of regular rows; from the first irregular one on, Python's parser reads row by row.
    """
    if csv.field_size_limit() < stream.limits.line_bytes:
        # The limit is global to the process, so it is only ever raised.
        csv.field_size_limit(stream.limits.line_bytes)
    lines = _Lines(stream, opening.note)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    columns: list[str] | None = None
    while True:
        line = stream.line + 1
        lines.damaged = False
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            opening.note(_csv_error(line, str(error)))
            continue
        if not any(map(str.strip, cells)) or lines.damaged:
            continue
        if columns is None:
            if line == 1 and cells[0].startswith(SEPARATOR_LINE):
                continue
            columns = [cell.strip() for cell in cells]
            require_once(columns, line=line)
            opening.header(columns, line)
            if delimiter in DELIMITERS:
                yield from _regular(stream, delimiter, columns)
        elif len(cells) != len(columns):
            message = f"The row has {len(cells)} cells, but the header has {len(columns)}."
            advice = "Quote cells that contain separators, quotes or line ends."
            opening.note(FileFormatError(message, advice=advice, code=BAD_CSV, line=line))
        else:
            yield Row(line, dict(zip(columns, cells, strict=True)))


def _regular(stream: GuardedStream, delimiter: str, columns: Sequence[str]) -> Iterator[Block]:
    """Yield blocks of rows until the end or an irregular row, which is not read."""
    import pyarrow as pa  # noqa: PLC0415 - loads when such a file comes

    rest = b""
    while more := stream.read_block():
        content = rest + more
        try:
            if len(content) > stream.limits.line_bytes:
                raise csv.Error
            block, rest, number = _block(content, delimiter, columns, stream.line + 1)
        except (csv.Error, pa.ArrowInvalid):
            rest = content
            break
        stream.line += number
        yield block
    stream.unread(rest)


def _block(content: bytes, delimiter: str, columns: Sequence[str], line: int) -> tuple[Block, bytes, int]:
    """Parse the complete rows of a text; return them, the remaining text, and their number of lines.

    Quotes must enclose whole cells and be doubled within, so that every second one ends a cell or is the
    first of two. Arrow would accept others too.
    """
    import numpy as np  # noqa: PLC0415 - loads when such a file comes
    import pyarrow as pa  # noqa: PLC0415 - as above
    import pyarrow.csv as pc  # noqa: PLC0415 - as above

    signs = np.frombuffer(content if content.endswith(b"\n") else content + b"\n", dtype=np.uint8)
    newlines, quotes = (np.flatnonzero(signs == ord(sign)) for sign in '\n"')
    outside = np.zeros(256, dtype=bool)
    outside[[*map(ord, f'{delimiter}\r\n"')]] = True
    quoted = outside[signs[quotes[::2] - 1]].all() and outside[signs[quotes[1::2] + 1]].all()
    returns = b"\r" in content and content.count(b"\r") != content.count(b"\r\n")
    if not quoted or returns or b"\0" in content or content.startswith(UTF8_BOM):
        raise csv.Error
    ends = np.flatnonzero(np.searchsorted(quotes, newlines) % 2 == 0)
    if not ends.size:
        return Block((), {}), content, 0
    stops = newlines[ends]
    sizes = np.diff(stops, prepend=-1)
    filled = (sizes > len("\r\n")) | ((sizes == len("\r\n")) & (signs[stops - 1] != ord("\r")))
    lines = (line + np.concatenate(([0], ends[:-1] + 1)))[filled]
    names = [*map(str, range(len(columns)))]
    table = pc.read_csv(
        pa.BufferReader(pa.py_buffer(signs[: stops[-1] + 1])),
        read_options=pc.ReadOptions(column_names=names, use_threads=False, block_size=signs.size),
        parse_options=pc.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=pc.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
    )
    if table.num_rows != lines.size:
        raise csv.Error
    cells = [column.to_pylist() for column in table.columns]
    rows = [
        at for at, text in enumerate(cells[0]) if text.strip() or any(texts[at].strip() for texts in cells)
    ]
    if len(rows) < lines.size:
        lines, cells = lines[rows], [[texts[at] for at in rows] for texts in cells]
    block = Block(lines.tolist(), dict(zip(columns, cells, strict=True)))
    return block, content[stops[-1] + 1 :], int(ends[-1]) + 1


def split_header(text: str, delimiter: str) -> list[str]:
    """Return the names in a header line; empty if it is not CSV."""
    try:
        return [cell.strip() for cell in next(csv.reader([text], delimiter=delimiter), [])]
    except csv.Error:
        return []


class _Lines:
    """Decoded lines; `damaged` is true after a line that is not UTF-8, which is reported."""

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


def _csv_error(line: int, reason: str) -> FileFormatError:
    if "unexpected end of data" in reason:
        message = "A quoted cell that starts in this row is never closed."
        advice = "Export the file again and upload it in full."
        return FileFormatError(message, advice=advice, code=TRUNCATED, line=line)
    if "field larger" in reason:
        message = "A cell is over the limit, or a quote is never closed."
        advice = "Close the quote or shorten the cell."
        raise FileFormatError(message, advice=advice, code=TOO_LARGE, line=line)
    message = "This is not valid CSV: a quoted cell contains a quote, or an unquoted cell a line break."
    advice = 'Quote cells that contain quotes, and write each quote as "".'
    return FileFormatError(message, advice=advice, code=BAD_CSV, line=line)


SHEETS = "xl/workbook.xml"
MAX_SHEETS_LISTED = 10
WRONG_FORMAT, DAMAGED, BAD_CELLS = "wrong-format", "damaged-file", "bad-csv"
ADVICE = 'Save it as "CSV UTF-8", or install "answer-arena[excel]".'


def is_workbook(path: Path) -> bool:
    """Return whether a zip file is an Excel workbook."""
    return SHEETS in members_of(path)


def read_workbook(path: Path, limits: ReadLimits, opening: Opening) -> Iterator[Row]:
    """Yield the rows below the header; blank rows are skipped.

    Numbers become strings, whole ones without a fraction. Needs openpyxl.
    """
    try:
        import openpyxl  # noqa: PLC0415 - an extra
    except ImportError as error:
        message = f"{path.name} is an Excel workbook."
        raise FileFormatError(message, advice=ADVICE, code=WRONG_FORMAT) from error
    try:
        if sum(members_of(path).values()) > limits.file_bytes:
            raise too_many_bytes(path.name, limits)
        # As open files, since openpyxl refuses paths with other suffixes.
        with path.open("rb") as file, path.open("rb") as again:
            values = openpyxl.load_workbook(file, read_only=True, data_only=True)
            formulas = openpyxl.load_workbook(again, read_only=True)
            sheet = _chosen(path.name, values)
            if sheet:
                yield from _rows(_lines(values[sheet], formulas[sheet]), opening)
    except (*DAMAGE, KeyError, TypeError, ValueError, SyntaxError) as error:
        message = f"{path.name} is an Excel workbook that is damaged."
        raise FileFormatError(message, advice="Save it again.", code=DAMAGED) from error


def _chosen(name: str, book: Any) -> str:  # noqa: ANN401 - openpyxl has no types
    """Return the sheet with a table of questions, else the first with rows, else an empty name."""
    filled: list[str] = []
    tables: list[str] = []
    wide: list[str] = []
    for sheet in book.worksheets:
        # Some programs write incorrect dimensions.
        sheet.reset_dimensions()
        rows = map(_cells, sheet.iter_rows(values_only=True))
        first = next((cells for cells in rows if cells), None)
        if first is None:
            continue
        filled.append(sheet.title)
        columns = [str(cell).strip() for cell in first if cell is not None]
        known_columns = read_columns(columns)
        if len(columns) > 1 and {Column.QUESTION_ID, Column.QUESTION} & known_columns.keys():
            # A table with a column for each system may have only one known column.
            (tables if len(known_columns) > 1 else wide).append(sheet.title)
    tables = tables or wide
    if len(tables) > 1:
        names = ", ".join(map(repr, tables[:MAX_SHEETS_LISTED]))
        message = f"{name} has tables on {len(tables):,} sheets: {names}."
        raise FileFormatError(message, advice="Save the one you need as a separate file.", code=WRONG_FORMAT)
    return next(iter([*tables, *filled]), "")


def _lines(values: Any, formulas: Any) -> Iterator[list[object]]:  # noqa: ANN401 - openpyxl has no types
    """Yield the cells of each row, with formulas that were never calculated."""
    for sheet in (values, formulas):
        sheet.reset_dimensions()
    pairs = zip(values.iter_rows(values_only=True), formulas.iter_rows(values_only=True), strict=True)
    for row, formula_row in pairs:
        pending = (
            _Formula(str(formula)) if value is None and formula is not None else value
            for value, formula in zip(row, formula_row, strict=True)
        )
        yield _cells(pending)


@dataclass(frozen=True, slots=True)
class _Formula:
    text: str


def _cells(values: Iterable[object]) -> list[object]:
    """Return the cells of a row as strings, without trailing blank ones."""
    cells = list(map(_text, values))
    while cells and (cells[-1] is None or (isinstance(cells[-1], str) and not cells[-1].strip())):
        cells.pop()
    return cells


def _rows(lines: Iterable[list[object]], opening: Opening) -> Iterator[Row]:
    columns: list[str] | None = None
    for line, cells in enumerate(lines, start=1):
        if not cells:
            continue
        formula = next((cell for cell in cells if isinstance(cell, _Formula)), None)
        if formula is not None:
            message = f"Row {line}: The formula {formula.text[:60]!r} has no value."
            advice = "Open the file in Excel and save it."
            opening.note(FileFormatError(message, advice=advice, code=BAD_CELLS, line=line))
        elif columns is None:
            columns = ["" if cell is None else str(cell).strip() for cell in cells]
            require_once(columns, line=line)
            opening.header(columns, line)
        elif len(cells) > len(columns):
            message = f"The row has {len(cells)} cells, but the header has {len(columns)}."
            opening.note(
                FileFormatError(message, advice="Give every column a name.", code=BAD_CELLS, line=line)
            )
        else:
            texts = ["" if cell is None else cell for cell in cells] + [""] * (len(columns) - len(cells))
            yield Row(line, dict(zip(columns, texts, strict=True)), f"Row {line}")


def _text(value: object) -> object:
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, int | float) else value
