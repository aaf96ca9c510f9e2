"""Reader of JSON Lines, JSON arrays and arrays in JSON objects, row by row."""

import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence

from data.errors import FileFormatError
from data.files.strict_json import parse_json
from data.files.tables.columns import Column, column_of, list_names
from data.files.tables.rows import Block, Holds, Opening, Row
from data.files.text_files import UTF8_BOM, GuardedStream, decode

TRUNCATED, NOT_JSON, NOT_FINITE, TOO_LARGE = "truncated-file", "not-json", "not-finite", "too-large"
WRONG_SHAPE, EMPTY_FILE = "wrong-shape", "empty-file"


def read_jsonl(stream: GuardedStream, opening: Opening) -> Iterator[Row | Block]:
    """Yield the lines that are JSON, with problems for the others; blank lines are skipped."""
    while content := stream.read_block():
        lines = io.BytesIO(content).readlines()
        joined = len(content) <= stream.limits.line_bytes and b"\\u0000" not in content
        block = _block(lines, stream.line + 1) if joined else None
        if block is not None:
            stream.line += len(lines)
            yield block
            continue
        stream.unread(content)
        for _ in lines:
            yield from _line(stream, opening)


def _block(lines: Sequence[bytes], first: int) -> Block | None:
    """Parse lines together, which is faster; None unless they are objects with the same fields."""
    filled = [(number, line) for number, line in enumerate(lines, start=first) if not line.isspace()]
    try:
        values = parse_json(decode(b"[%b]" % b",".join(line for _, line in filled), first), first)
    except FileFormatError:
        return None
    alike = {*map(type, values)} == {dict} and len({*map(tuple, values)}) == 1
    if not alike or not values[0] or len(values) != len(filled):
        return None
    columns = zip(*map(dict.values, values), strict=True)
    return Block([number for number, _ in filled], dict(zip(values[0], columns, strict=True)))


def _line(stream: GuardedStream, opening: Opening) -> Iterator[Row]:
    content = stream.readline()
    # Concatenated files may have several byte order marks.
    text = content.strip().removeprefix(UTF8_BOM)
    if not text:
        return
    try:
        value = parsed(text, stream.line, opening.is_log)
    except FileFormatError as error:
        if stream.line > 1 and not content.endswith(b"\n") and _is_cut_off(error):
            message, advice = "The last line is cut off.", "Export the file again and upload it in full."
            error = FileFormatError(message, advice=advice, code=TRUNCATED, line=stream.line)
        opening.note(error)
    else:
        yield Row(stream.line, value)


def parsed(content: bytes, line: int, is_log: Holds) -> object:
    """Parse a row; rows of logs may contain NaN and infinity, as Python writes them."""
    text = decode(content, line)
    try:
        return parse_json(text, line)
    except FileFormatError as error:
        if error.code != NOT_FINITE or not is_log(value := parse_json(text, line, finite=False)):
            raise
        return value


def _is_cut_off(error: FileFormatError) -> bool:
    cause = error.__cause__
    if isinstance(cause, json.JSONDecodeError):
        return cause.msg.startswith("Unterminated") or cause.pos >= len(cause.doc.rstrip())
    return isinstance(cause, UnicodeDecodeError) and cause.reason == "unexpected end of data"


CHUNK = 256 * 1024


# A string, a structural character, or the quote of a string that continues in the next chunk.
TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\],"]', re.DOTALL)
WHITE = b" \t\r\n"
GAP = re.compile(rb"[ \t\r\n]*+")
COLON = re.compile(rb"[ \t\r\n]{0,16}:")


def top_keys(head: bytes) -> set[str]:
    """Return the keys at the beginning of an object."""
    keys, depth = set[str](), 0
    for token in TOKEN.finditer(head):
        mark = token.group()
        if mark == b'"':
            break
        if mark in b"{[":
            depth += 1
        elif mark in b"}]":
            depth -= 1
        elif depth == 1 and COLON.match(head, token.end()):
            keys.add(mark[1:-1].decode("utf-8", errors="replace"))
    return keys


def read_array(stream: GuardedStream, opening: Opening, key: str | None = None) -> Iterator[Row]:
    """Yield the items of an array, which may be under a key of an object; invalid items are problems."""
    for number, (line, content) in enumerate(_Items(stream, key, skip=opening.large is not None), start=1):
        place = f"Item {number}"
        if content is None:
            if opening.large is not None:
                opening.large(place)
            continue
        try:
            value = parsed(content, line, opening.is_log)
        except FileFormatError as error:
            error.message = f"{place}: {error.message}"
            opening.note(error)
            continue
        yield Row(line, value, place)


class _Items:
    """Splitter of an array at its top-level commas."""

    def __init__(self, stream: GuardedStream, key: str | None, *, skip: bool) -> None:
        self._stream = stream
        self._row_bytes = stream.limits.line_bytes
        self._key = key
        self._skip = skip and key is not None
        self._buffer = b""
        self._start, self._long = 0, False
        self._line = 1
        self._counted = 0

    def __iter__(self) -> Iterator[tuple[int, bytes | None]]:
        """Yield lines and items; None for a skipped item over the limit."""
        tokens, depth, cut = self._tokens(), 0, False
        self._skip_to_array(tokens)
        for token in tokens:
            mark = token.group()
            if mark in b"{[":
                depth += 1
            elif depth and mark in b"}]":
                depth -= 1
            elif depth == 0 and mark in b",}]":
                content = self._buffer[self._start : token.start()].strip(WHITE)
                self._long = self._long or self._is_long(len(content))
                if content or cut or mark == b"," or self._long:
                    yield self._line_of(self._start), None if self._long else content
                if mark != b",":
                    self._require_end(token.end())
                    return
                self._start, cut, self._long = token.end(), True, False

    def _tokens(self) -> Iterator[re.Match[bytes]]:
        """Yield tokens with their positions in the buffer, which is filled from `_start` on."""
        scan = 0
        while True:
            for token in TOKEN.finditer(self._buffer, scan):
                if token.group() == b'"':
                    scan = token.start()
                    break
                scan = token.end()
                yield token
            else:
                scan = len(self._buffer)
            scan = self._fill(scan)

    def _skip_to_array(self, tokens: Iterator[re.Match[bytes]]) -> None:
        key = b"" if self._key is None else json.dumps(self._key).encode()
        opened, last = list[bytes](), b""
        for token in tokens:
            mark = token.group()
            self._start = token.end()
            if mark in b"{[":
                if mark == b"[" and last == key and all(name == key for name in opened[1:]):
                    return
                opened.append(last if mark == b"{" else mark)
                last = b""
            elif mark in b"}]":
                opened.pop()
                last = b""
                if not opened:
                    message = f"The log has no {key.decode()}."
                    advice = "Write the log with its samples, not only its header."
                    raise FileFormatError(message, advice=advice, code=EMPTY_FILE, line=self._line)
            else:
                last = b"" if mark == b"," else mark

    def _fill(self, scan: int) -> int:
        """Drop the text before `_start` and the read part of a large item of a log, then read more."""
        if self._long or self._is_long(len(self._buffer) - self._start):
            self._long, self._start = True, scan
        self._line_of(self._start)
        self._buffer = self._buffer[self._start :]
        self._counted = max(0, self._counted - self._start)
        scan, self._start = scan - self._start, 0
        if self._long and self._buffer:
            escapes = len(self._buffer) - len(self._buffer.rstrip(b"\\"))
            self._buffer, self._counted = b'"' + b"\\" * (escapes % 2), 0
        chunk = self._stream.read(CHUNK)
        if not chunk:
            message = "The JSON array is cut off: its closing bracket is missing."
            if self._key is not None:
                message = f"The log is cut off before the end of its {self._key}."
            advice = "Export the file again and upload it in full."
            raise FileFormatError(message, advice=advice, code=TRUNCATED, line=self._line)
        self._buffer += chunk
        return scan

    def _line_of(self, position: int) -> int:
        """Return the line of the text after `position`; positions must increase."""
        gap = GAP.match(self._buffer, position)
        position = gap.end() if gap else position
        self._line += self._buffer.count(b"\n", self._counted, position)
        self._counted = max(self._counted, position)
        return self._line

    def _is_long(self, length: int) -> bool:
        if length > self._row_bytes and not self._skip:
            message = f"One item is longer than {self._row_bytes:,} bytes."
            advice = "Shorten its answer or contexts."
            raise FileFormatError(message, advice=advice, code=TOO_LARGE, line=self._line)
        return length > self._row_bytes

    def _require_end(self, position: int) -> None:
        rest, last = self._buffer[position:], b""
        while rest or (rest := self._stream.read(CHUNK)):
            rest, last = b"", rest.strip(WHITE)[-1:] or last
            if last and self._key is None:
                message = "There is extra data after the JSON array."
                advice = "Put all answers into one array, or write one object per line."
                raise FileFormatError(message, advice=advice, code=WRONG_SHAPE, line=self._line)
        if last != b"}" and self._key is not None:
            message = "The log is cut off: its closing brace is missing."
            advice = "Export the file again and upload it in full."
            raise FileFormatError(message, advice=advice, code=TRUNCATED, line=self._line)


LISTS = (
    *("results", "data", "rows", "answers", "predictions", "responses", "questions", "examples", "samples"),
    *("testCases", "cases"),
)
"""Keys of rows in an object; deepeval's are its test cases."""
ADVICE = "Write one object per line, one array of objects, or an object of columns."


def rows_of_object(name: str, value: Mapping[str, object]) -> Iterator[Row]:
    """Yield the rows of an object of any supported layout.

    These are: a single row; columns of equal length, as lists or by row number (pandas); rows under one of
    `LISTS`, with `columns` by pandas; answers, rows or contexts by ids or texts of questions.
    """
    rows = _rows(value)
    if rows is None:
        message = f"{name} is a single JSON object, not a table; its fields are: {list_names(value)}."
        raise FileFormatError(message, advice=ADVICE, code=WRONG_SHAPE, line=1)
    for number, row in enumerate(rows, start=1):
        yield Row(number, row, "" if row is value else f"Row {number}")


def _rows(value: Mapping[str, object]) -> Sequence[object] | None:
    listed = next((cells for name in LISTS if isinstance(cells := value.get(name), list) and cells), None)
    failures = value.get("failures")
    if listed is not None or failures:
        listed = [*(listed or ()), *(failures if isinstance(failures, list) else ())]
        names = value.get("columns")
        if isinstance(names, list) and all(isinstance(row, list) for row in listed):
            listed = [dict(zip(map(str, names), row, strict=False)) for row in listed]
        return _by_columns(value) or listed
    if _known(value):
        return _by_columns(value) or [value]
    return _by_questions(value)


def _by_questions(value: Mapping[str, object]) -> Sequence[object] | None:
    cells = list(value.values())
    # Keys that all have spaces are texts of questions.
    name = (Column.QUESTION if all(" " in key.strip() for key in value) else Column.QUESTION_ID).value
    if cells and all(isinstance(cell, str) for cell in cells):
        return [{name: key, "answer": cell} for key, cell in value.items()]
    rows = _mappings(value)
    if rows and any(map(_known, rows.values())):
        named = {key for key, row in rows.items() if any(column_of(field) == name for field in row)}
        return [row if key in named else {name: key, **row} for key, row in rows.items()]
    if cells and all(isinstance(cell, list) for cell in cells):
        listed = [(key, row) for key, cell in value.items() if isinstance(cell, list) for row in cell]
        owned = [{"system": key, **row} for key, row in listed if isinstance(row, Mapping)]
        if any(column_of(field) is Column.QUESTION for row in owned for field in row):
            return owned
        return [{name: key, "contexts": cell} for key, cell in value.items()]
    return None


def _by_columns(value: Mapping[str, object]) -> list[dict[str, object]] | None:
    if not _known(value):
        return None
    if columns := _mappings(value):
        index = list(dict.fromkeys(key for inner in columns.values() for key in inner))
        return [{name: inner.get(key) for name, inner in columns.items()} for key in index]
    lists = {name: cell for name, cell in value.items() if isinstance(cell, list)}
    if len(lists) == len(value) and len({len(cells) for cells in lists.values()}) == 1:
        return [dict(zip(lists, cells, strict=True)) for cells in zip(*lists.values(), strict=True)]
    return None


def _mappings(value: Mapping[str, object]) -> Mapping[str, Mapping[str, object]]:
    """Return the values if all are objects, else nothing."""
    mappings = {name: cell for name, cell in value.items() if isinstance(cell, Mapping)}
    return mappings if len(mappings) == len(value) else {}


def _known(row: Mapping[str, object]) -> bool:
    return any(column_of(name) for name in row)
