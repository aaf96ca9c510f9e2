"""A JSON array, or an object of arrays or records, read element by element where it may not fit memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NoReturn, TextIO

from data.errors import FileFormatError
from leaderboard.formats.rows import CHUNK_ROWS

READ_CHARACTERS = 1 << 20
ELEMENT_LIMIT = 64 * 1024 * 1024
"""Characters of one element; a longer one is no battle but a file of another kind, or an attack."""

_SPACE = re.compile(r"[ \t\r\n]*")
_STRINGS = re.compile(r'(?:"[^"\\\x00-\x1f]*+"[ \t\r\n]*+,[ \t\r\n]*+){1,4096}')
_STRING = re.compile(r'"([^"]*)"')


class JsonStream:
    """One pass over a JSON text whose outermost value is an array, or an object of arrays or of records."""

    def __init__(self, text: TextIO, name: str) -> None:
        self._text = text
        self._name = name
        self._buffer = ""
        self._position = 0
        self._ended = False
        self._decoder = json.JSONDecoder()

    def array(self) -> Iterator[list[object]]:
        """The elements of the outermost array, in lists of at most `CHUNK_ROWS`.

        Raises:
            FileFormatError: The text is no whole JSON array; the message names the row.
        """
        self._expect("[", "the file")
        yield from self._elements("row")
        self._require_end_of_file()

    def columns(self) -> Iterator[tuple[str, list[object]]]:
        """The arrays of the outermost object with their keys, each in parts; other values are skipped.

        Raises:
            FileFormatError: The text is no whole JSON object; the message names column and row.
        """
        self._expect("{", "the file")
        if self._peek() == "}":
            self._position += 1
        else:
            yield from self._members()
        self._require_end_of_file()

    def records(self) -> Iterator[tuple[str, object]]:
        """The values of the outermost object with their keys.

        Raises:
            FileFormatError: The text is no whole JSON object; the message names the record.
        """
        self._expect("{", "the file")
        ended = self._peek() == "}"
        self._position += ended
        while not ended:
            key = self._value("a record's key")
            self._expect(":", f"record {key!r}")
            yield str(key), self._value(f"record {key!r}")
            ended = self._separator("}", f"record {key!r}")
        self._require_end_of_file()

    def _members(self) -> Iterator[tuple[str, list[object]]]:
        while True:
            key = self._value("a column's name")
            self._expect(":", f"column {key!r}")
            if self._peek() == "[":
                self._position += 1
                yield str(key), []
                for part in self._elements(f"column {key!r}, row"):
                    yield str(key), part
            else:
                self._value(f"column {key!r}")
            if self._separator("}", f"column {key!r}"):
                return

    def _elements(self, where: str) -> Iterator[list[object]]:
        if self._peek() == "]":
            self._position += 1
            return
        row = 0
        part: list[object] = []
        while True:
            plain = self._plain_strings()
            row += len(plain) + 1
            part += plain
            part.append(self._value(where, row))
            last = self._separator("]", where, row)
            if last or len(part) >= CHUNK_ROWS:
                yield part
                part = []
            if last:
                return

    def _plain_strings(self) -> list[str]:
        """Strings without escapes, each followed by a comma: columns of names, a thousand at a time."""
        self._peek()
        match = _STRINGS.match(self._buffer, self._position)
        if match is None:
            return []
        self._position = match.end()
        return _STRING.findall(match[0])

    def _value(self, where: str, row: int | None = None) -> object:
        """Decode one value; a number is whole only once something follows it."""
        self._peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._buffer, self._position)
            except RecursionError:
                self._fail(where, row, "is nested too deeply to be a battle")
            except ValueError:
                end = len(self._buffer)
                value = None
                if self._ended:
                    self._fail(where, row)
            if end < len(self._buffer) or self._ended:
                self._position = end
                return value
            if len(self._buffer) - self._position > ELEMENT_LIMIT:
                self._fail(where, row, "is too long to be a battle")
            self._read()

    def _separator(self, closing: str, where: str, row: int | None = None) -> bool:
        """Step over a comma, or over the closing bracket: then True."""
        character = self._peek()
        if character not in {",", closing} or not character:
            self._fail(where, row)
        self._position += 1
        return character == closing

    def _expect(self, character: str, where: str) -> None:
        if self._peek() != character:
            self._fail(where)
        self._position += 1

    def _peek(self) -> str:
        """The next character that is no space, or nothing at the end."""
        while True:
            match = _SPACE.match(self._buffer, self._position)
            self._position = match.end() if match else self._position
            if self._position < len(self._buffer):
                return self._buffer[self._position]
            if self._ended:
                return ""
            self._read()

    def _read(self) -> None:
        """Drop what is behind and read on; at least doubling keeps long elements linear."""
        unread = self._buffer[self._position :]
        piece = self._text.read(max(READ_CHARACTERS, len(unread)))
        self._ended = not piece
        self._buffer = unread + piece
        self._position = 0

    def _require_end_of_file(self) -> None:
        if self._peek():
            self._fail("the file", None, "goes on after its end")

    def _fail(self, where: str, row: int | None = None, problem: str = "") -> NoReturn:
        place = f"{self._name}, {where}{'' if row is None else f' {row}'}"
        cut = "is cut off here" if self._ended and self._position >= len(self._buffer.rstrip()) else ""
        message = f"{place}: the JSON {problem or cut or 'cannot be read, or is cut off, here'}."
        raise FileFormatError(message, advice="Write the file again as one whole JSON value.")
