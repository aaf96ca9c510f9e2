"""Answers as JSON Lines, one JSON array, or an array in a JSON object, read row by row."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from data.errors import FileFormatError
from data.files.text_files import GuardedStream, decode, parse_json
from submissions.formats.layouts import is_log
from submissions.formats.rows import Row
from submissions.problem_codes import Code, Findings


def read_jsonl(stream: GuardedStream, findings: Findings) -> Iterator[Row]:
    """Yield the lines that are JSON, noting those that are not; blank lines are passed over.

    Raises:
        FileFormatError: The stream ends at a limit or in damage, or there are too many errors.
    """
    while content := stream.readline():
        text = content.strip()
        if not text:
            continue
        try:
            value = _parsed(text, stream.line)
        except FileFormatError as error:
            if (
                not content.endswith(b"\n")
                and error.code in {Code.NOT_JSON, Code.NOT_UTF8}
                and stream.line > 1
            ):
                findings.add(
                    stream.line,
                    Code.TRUNCATED_FILE,
                    "The last line is cut off.",
                    "Write the file again and upload all of it.",
                )
                continue
            findings.add_failure(error)
            continue
        yield Row(stream.line, value)


def _parsed(content: bytes, line: int) -> object:
    """A row; those of logs may hold numbers that are not finite, as Python writes them."""
    text = decode(content, line)
    try:
        return parse_json(text, line)
    except FileFormatError as error:
        if error.code != Code.NOT_FINITE or not is_log(value := parse_json(text, line, finite=False)):
            raise
        return value


CHUNK = 256 * 1024
# A whole string, or a mark of structure, or the quote of a string that goes on in the next chunk.
TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\],"]', re.DOTALL)
WHITE = b" \t\r\n"
GAP = re.compile(rb"[ \t\r\n]*+")
COLON = re.compile(rb"[ \t\r\n]{0,16}:")


def top_keys(head: bytes) -> set[str]:
    """The keys of an object, as far as its beginning shows them."""
    keys, depth = set[str](), 0
    for token in TOKEN.finditer(head):
        mark = token.group()
        if mark in b"{[":
            depth += 1
        elif mark in b"}]":
            depth -= 1
        elif depth == 1 and COLON.match(head, token.end()):
            keys.add(mark[1:-1].decode("utf-8", errors="replace"))
    return keys


def read_array(
    stream: GuardedStream, row_bytes: int, findings: Findings, key: str | None = None
) -> Iterator[Row]:
    """Yield the items that are JSON, noting those that are not.

    Args:
        stream: A JSON array, or an object that has one.
        row_bytes: Bytes of one item at most.
        findings: What is wrong is noted here.
        key: Where the array stands in the object; what else is in the object is passed over.

    Raises:
        FileFormatError: The array is cut off or not there, an item is over the limit, something follows the
            array, the stream ends at a limit or in damage, or there are too many errors.
    """
    for number, (line, content) in enumerate(_Items(stream, row_bytes, key), start=1):
        place = f"Item {number}"
        try:
            value = _parsed(content, line)
        except FileFormatError as error:
            findings.add_failure(error, place)
            continue
        yield Row(line, value, place)


class _Items:
    """Cuts the text of an array at its own commas."""

    def __init__(self, stream: GuardedStream, row_bytes: int, key: str | None) -> None:
        self._stream = stream
        self._row_bytes = row_bytes
        self._key = key
        self._buffer = b""
        self._line = 1
        self._counted = 0

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        self._skip_to_array()
        start = self._buffer.find(b"[") + 1
        scan, depth, cut = start, 0, False
        while True:
            for token in TOKEN.finditer(self._buffer, scan):
                mark = token.group()
                scan = token.end()
                if mark in b"{[":
                    depth += 1
                elif depth and mark in b"}]":
                    depth -= 1
                elif mark == b'"':
                    scan = token.start()
                    break
                elif depth == 0 and mark in b",}]":
                    content = self._buffer[start : token.start()].strip(WHITE)
                    self._require_short(len(content))
                    if content or cut or mark == b",":
                        yield self._line_of(start), content
                    if mark != b",":
                        self._require_end(token.end())
                        return
                    start, cut = token.end(), True
            else:
                scan = len(self._buffer)
            self._fill(start)
            scan, start = scan - start, 0

    def _skip_to_array(self) -> None:
        if self._key is not None:
            self._skip_to(json.dumps(self._key).encode())
        while b"[" not in self._buffer:
            self._fill(0)

    def _skip_to(self, key: bytes) -> None:
        """Drop what stands before the array of an object's key."""
        depth, last, scan = 0, b"", 0
        while True:
            for token in TOKEN.finditer(self._buffer, scan):
                mark = token.group()
                if mark == b'"':
                    scan = token.start()
                    break
                scan = token.end()
                if mark in b"{[":
                    if mark == b"[" and depth == 1 and last == key:
                        self._line_of(token.start())
                        self._buffer = self._buffer[token.start() :]
                        self._counted = 0
                        return
                    depth += 1
                elif mark in b"}]":
                    depth -= 1
                    if depth == 0:
                        self._refuse_without(key)
                elif depth == 1:
                    last = b"" if mark == b"," else mark
            else:
                scan = len(self._buffer)
            self._fill(scan)
            scan = 0

    def _refuse_without(self, key: bytes) -> None:
        message = f"The log has no {key.decode()}."
        advice = "Write the log with its samples, not its header alone."
        raise FileFormatError(message, advice=advice, code=Code.EMPTY_FILE, line=self._line)

    def _fill(self, start: int) -> None:
        """Drop what is done with and read on."""
        self._line_of(start)
        self._buffer = self._buffer[start:]
        self._counted = max(0, self._counted - start)
        self._require_short(len(self._buffer))
        chunk = self._stream.read(CHUNK)
        if not chunk:
            message = "The JSON array is cut off: its closing bracket is missing."
            if self._key is not None:
                message = f"The log is cut off before the end of its {self._key}."
            advice = "Write the file again and upload all of it."
            raise FileFormatError(message, advice=advice, code=Code.TRUNCATED_FILE, line=self._line)
        self._buffer += chunk

    def _line_of(self, position: int) -> int:
        """The line on which the text after `position` starts; positions must not go back."""
        gap = GAP.match(self._buffer, position)
        position = gap.end() if gap else position
        self._line += self._buffer.count(b"\n", self._counted, position)
        self._counted = max(self._counted, position)
        return self._line

    def _require_short(self, length: int) -> None:
        if length > self._row_bytes:
            message = f"One item is longer than {self._row_bytes:,} bytes."
            advice = "Shorten its answer or contexts."
            raise FileFormatError(message, advice=advice, code=Code.TOO_LARGE, line=self._line)

    def _require_object_end(self, rest: bytes) -> None:
        last = b""
        while rest or (rest := self._stream.read(CHUNK)):
            last, rest = rest.strip(WHITE)[-1:] or last, b""
        if last != b"}":
            message = "The log is cut off: its closing brace is missing."
            advice = "Write the file again and upload all of it."
            raise FileFormatError(message, advice=advice, code=Code.TRUNCATED_FILE, line=self._line)

    def _require_end(self, position: int) -> None:
        rest = self._buffer[position:]
        if self._key is not None:
            self._require_object_end(rest)
            return
        while rest or (rest := self._stream.read(CHUNK)):
            if rest.strip(WHITE):
                message = "Something follows the JSON array."
                advice = "Put every answer into one array, or write one object a line."
                raise FileFormatError(message, advice=advice, code=Code.WRONG_SHAPE, line=self._line)
            rest = b""
