"""Reading text files that strangers wrote: plain or gzipped, with limits, never a traceback.

A gzip bomb stops at the limit on *decompressed* bytes; lines are streamed, so memory is bounded by
the longest line allowed.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, cast

from data.errors import FileFormatError

GZIP_MAGIC = b"\x1f\x8b"
UTF8_BOM = b"\xef\xbb\xbf"
UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLimits:
    """How much of a file is read: bytes after decompression, and bytes of one line."""

    file_bytes: int = 200 * MEBIBYTE
    line_bytes: int = 16 * MEBIBYTE


@contextmanager
def open_binary(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes, decompressing gzip by its content, not its name.

    Raises:
        FileFormatError: It is missing, a folder, unreadable or empty.
    """
    with _open(path) as raw:
        head = raw.peek(2)[:2]
        if not head:
            raise FileFormatError(f"{path} is empty.", advice="Write it again.", code="empty-file")
        if head == GZIP_MAGIC:
            with gzip.GzipFile(fileobj=raw, mode="rb") as unpacked:
                yield cast("IO[bytes]", unpacked)
        else:
            yield raw


def _open(path: Path) -> BufferedReader:
    try:
        return path.open("rb")
    except FileNotFoundError as error:
        message = f"There is no file {path}."
        raise FileFormatError(message, advice="Check the path.", code="missing-file") from error
    except IsADirectoryError as error:
        message = f"{path} is a folder."
        raise FileFormatError(message, advice="Name the file inside it.", code="missing-file") from error
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}."
        raise FileFormatError(message, advice="Check its permissions.", code="unreadable-file") from error


def read_lines(path: Path, limits: ReadLimits) -> Iterator[tuple[int, bytes]]:
    """Yield numbered lines without their line ends, the byte order mark removed, blank ones left out.

    Raises:
        FileFormatError: As `open_binary`, or the file is cut off, no gzip inside, or over a limit.
    """
    with open_binary(path) as stream:
        read = 0
        number = 0
        while True:
            try:
                line = stream.readline(limits.line_bytes + 1)
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                message = f"{path.name} is a gzip file that is cut off or damaged after line {number}."
                raise FileFormatError(
                    message, advice="Compress and upload it again.", code="truncated-gzip", line=number
                ) from error
            if not line:
                return
            number += 1
            read += len(line)
            _check_size(path, number, read, len(line), limits)
            if number == 1:
                line = _without_bom(path, line)
            stripped = line.rstrip(b"\r\n")
            if stripped.strip():
                yield number, stripped


def read_text(path: Path, limits: ReadLimits) -> str:
    """Read a whole file as UTF-8 text, with or without a byte order mark.

    Raises:
        FileFormatError: As `read_lines`, or it is not UTF-8.
    """
    with open_binary(path) as stream:
        try:
            content = stream.read(limits.file_bytes + 1)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            message = f"{path.name} is a gzip file that is cut off or damaged."
            raise FileFormatError(
                message, advice="Compress and upload it again.", code="truncated-gzip"
            ) from error
    _check_size(path, 0, len(content), 0, limits)
    content = _without_bom(path, content)
    if not content.strip():
        raise FileFormatError(f"{path.name} is empty.", advice="Write it again.", code="empty-file")
    return decode(content, 0)


def decode(content: bytes, line: int) -> str:
    """Decode UTF-8.

    Raises:
        FileFormatError: It is not UTF-8, or it holds NUL characters, which no database keeps.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"Byte {error.start + 1} is not UTF-8."
        raise FileFormatError(
            message, advice="Save the file as UTF-8.", code="not-utf8", line=line
        ) from error
    if "\x00" in text:
        message = "There is a NUL character."
        raise FileFormatError(message, advice="Save the file as UTF-8 text.", code="not-utf8", line=line)
    return text


def parse_json(text: str, line: int) -> Any:  # noqa: ANN401 - JSON of a stranger is of any shape
    """Parse JSON strictly: no NaN or infinity, no duplicate keys, no lone surrogates.

    Raises:
        FileFormatError: With code `not-json`, `not-finite`, `duplicate-key`, `too-deep` or `not-utf8`.
    """
    try:
        value = json.loads(
            text, parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_no_duplicates
        )
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
            if "\\u0000" in text:
                message = "There is a NUL character."
                raise FileFormatError(message, advice="Remove it.", code="not-utf8")
    except json.JSONDecodeError as error:
        message = f"This is not JSON: {error.msg} at column {error.colno}."
        raise FileFormatError(
            message, advice="Write one JSON object a line.", code="not-json", line=line
        ) from error
    except UnicodeEncodeError as error:
        message = "There is half of a character pair (a lone surrogate)."
        raise FileFormatError(
            message, advice="Save the text as UTF-8.", code="not-utf8", line=line
        ) from error
    except RecursionError as error:
        message = "The JSON is nested too deeply."
        raise FileFormatError(message, advice="Flatten it.", code="too-deep", line=line) from error
    except ValueError as error:
        message = f"This is not JSON: {error}."
        raise FileFormatError(message, advice="Write plain numbers.", code="not-json", line=line) from error
    except FileFormatError as error:
        error.line = line
        raise
    return value


def _check_size(path: Path, line: int, read: int, line_bytes: int, limits: ReadLimits) -> None:
    if line_bytes > limits.line_bytes:
        message = f"Line {line} of {path.name} is longer than {limits.line_bytes:,} bytes."
        raise FileFormatError(message, advice="Split the file by lines.", code="too-large", line=line)
    if read > limits.file_bytes:
        message = f"{path.name} holds more than {limits.file_bytes:,} bytes once decompressed."
        raise FileFormatError(message, advice="Bring a smaller file.", code="too-large", line=line)


def _without_bom(path: Path, content: bytes) -> bytes:
    if content.startswith(UTF16_BOMS):
        message = f"{path.name} is UTF-16."
        raise FileFormatError(message, advice="Save it as UTF-8.", code="not-utf8", line=1)
    return content.removeprefix(UTF8_BOM)


def _refuse_constant(word: str) -> float:
    message = f"{word} is not a number that JSON knows."
    raise FileFormatError(message, advice="Use finite numbers or null.", code="not-finite")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        message = f"{digits} is too large for a number."
        raise FileFormatError(message, advice="Use finite numbers.", code="not-finite")
    return value


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        names = [name for name, _ in pairs]
        twice = sorted({name for name in names if names.count(name) > 1})
        message = f"A field stands twice: {', '.join(twice)}."
        raise FileFormatError(message, advice="Give every field once.", code="duplicate-key")
    return record
