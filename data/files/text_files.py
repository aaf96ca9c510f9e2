"""Reading untrusted text files: plain or gzipped, with limits, never a traceback.

A gzip bomb stops at the limit on *decompressed* bytes, or earlier at the ratio that no text reaches;
lines are streamed, so memory is bounded by the longest line allowed.
"""

from __future__ import annotations

import gzip
import io
import json
import math
import os
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self, cast

from data import progress
from data.errors import FileFormatError

GZIP_MAGIC = b"\x1f\x8b"
UTF8_BOM = b"\xef\xbb\xbf"
UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
MEBIBYTE = 1024 * 1024
LONGEST_NAME = 60
"""Characters; no file system counts more than four bytes for one, or takes fewer than 255."""
RATIO_FROM = 16 * MEBIBYTE


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLimits:
    """How much of a file is read.

    Attributes:
        file_bytes: Bytes after decompression.
        line_bytes: Bytes of one line.
        lines: Lines, blank ones included.
        gzip_ratio: Decompressed bytes for one compressed byte, looked at past the first 16 MiB.
    """

    file_bytes: int = 200 * MEBIBYTE
    line_bytes: int = 16 * MEBIBYTE
    lines: int = 10_000_000
    gzip_ratio: int = 300


def file_name(path_text: str) -> str:
    """What somebody calls a file, as the name of one: without folders, printable, not too long."""
    last = re.split(r"[/\\]", path_text)[-1][-LONGEST_NAME:]
    return "".join(sign for sign in last if sign.isprintable()).strip(" .") or "file"


class GuardedStream:
    """The bytes of a file, decompressed where its content is gzip, never beyond the limits.

    Use it as a context manager. `line` counts the line ends passed by `readline`.

    Raises:
        FileFormatError: When opened: it is missing, a folder, unreadable or empty. When read: it is
            cut off, damaged, or over a limit.
    """

    def __init__(self, path: Path, limits: ReadLimits) -> None:
        self.name = path.name
        self.limits = limits
        self.line = 0
        self._read = 0
        self._raw, self.gzipped = _open(path)
        self._work = progress.begin(
            f"reading {self.name}", os.fstat(self._raw.fileno()).st_size, in_bytes=True
        )
        self._stream: IO[bytes] = self._raw
        if self.gzipped:
            self._stream = cast("IO[bytes]", gzip.GzipFile(fileobj=self._raw, mode="rb"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self._stream is not self._raw:
            self._stream.close()
        self._raw.close()
        progress.end(self._work)

    def readline(self) -> bytes:
        """The next line with its line end; empty at the end. The byte order mark is removed."""
        content = self._guarded(lambda: self._stream.readline(self.limits.line_bytes + 1))
        self.line += bool(content)
        if len(content) > self.limits.line_bytes:
            message = f"Line {self.line} of {self.name} is longer than {self.limits.line_bytes:,} bytes."
            advice = "Split the file by lines."
            raise FileFormatError(message, advice=advice, code="too-large", line=self.line)
        if self.line > self.limits.lines:
            message = f"{self.name} has more than {self.limits.lines:,} lines."
            raise FileFormatError(message, advice="Give a smaller file.", code="too-large", line=self.line)
        return content

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; empty at the end. The byte order mark is removed."""
        return self._guarded(lambda: self._stream.read(size))

    def _guarded(self, read: Callable[[], bytes]) -> bytes:
        try:
            content = read()
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            after = f" after line {self.line}" if self.line else ""
            message = f"{self.name} is a gzip file that is cut off or damaged{after}."
            advice = "Compress and upload it again."
            raise FileFormatError(message, advice=advice, code="truncated-gzip", line=self.line) from error
        except OSError as error:
            message = f"{self.name} cannot be read: {error.strerror or error}."
            raise FileFormatError(message, advice="Try again.", code="unreadable-file") from error
        first = self._read == 0
        self._read += len(content)
        self._work.done = self._raw.tell()
        self._check_size()
        return _without_bom(self.name, content) if first else content

    def _check_size(self) -> None:
        if self._read > self.limits.file_bytes:
            message = f"{self.name} holds more than {self.limits.file_bytes:,} bytes once decompressed."
            raise FileFormatError(message, advice="Give a smaller file.", code="too-large", line=self.line)
        if not self.gzipped or self._read <= RATIO_FROM:
            return
        if self._read > self.limits.gzip_ratio * max(1, self._raw.tell()):
            message = f"{self.name} decompresses to more than {self.limits.gzip_ratio} times its size."
            advice = "Upload it without compression."
            raise FileFormatError(message, advice=advice, code="gzip-bomb", line=self.line)


def read_lines(path: Path, limits: ReadLimits) -> Iterator[tuple[int, bytes]]:
    """Yield numbered lines without their line ends, the byte order mark removed, blank ones left out.

    Raises:
        FileFormatError: As `GuardedStream`.
    """
    with GuardedStream(path, limits) as stream:
        while content := stream.readline():
            stripped = content.rstrip(b"\r\n")
            if stripped.strip():
                yield stream.line, stripped


def content_bytes(path: Path, limits: ReadLimits) -> int:
    """How many bytes a file holds, decompressed, as far as it can be read within the limits."""
    size = 0
    with suppress(FileFormatError), GuardedStream(path, limits) as stream:
        while block := stream.read(MEBIBYTE):
            size += len(block)
    return size


def read_text(path: Path, limits: ReadLimits) -> str:
    """Read a whole file as UTF-8 text, with or without a byte order mark.

    Raises:
        FileFormatError: As `GuardedStream`, or it is not UTF-8.
    """
    with GuardedStream(path, limits) as stream:
        content = stream.read(limits.file_bytes + 1)
    if not content.strip():
        raise FileFormatError(f"{path.name} is empty.", advice="Write it again.", code="empty-file")
    return decode(content, 0)


def _open(path: Path) -> tuple[io.BufferedReader, bool]:
    try:
        raw = path.open("rb")
    except FileNotFoundError as error:
        raise FileFormatError(
            f"There is no file {path}.", advice="Check the path.", code="missing-file"
        ) from error
    except IsADirectoryError as error:
        message = f"{path} is a folder."
        raise FileFormatError(message, advice="Name the file inside it.", code="missing-file") from error
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}."
        raise FileFormatError(message, advice="Check its permissions.", code="unreadable-file") from error
    head = raw.peek(2)[:2]
    if not head:
        raw.close()
        raise FileFormatError(f"{path.name} is empty.", advice="Write it again.", code="empty-file")
    return raw, head == GZIP_MAGIC


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


def parse_json(text: str, line: int, *, finite: bool = True) -> Any:  # noqa: ANN401 - untrusted JSON is of any shape
    """Parse JSON strictly: no NaN or infinity, no duplicate keys, no lone surrogates.

    With `finite` off, numbers that are not finite become null, as logs of other tools have them.

    Raises:
        FileFormatError: With code `not-json`, `not-finite`, `duplicate-key`, `too-deep` or `not-utf8`.
    """
    try:
        if text.startswith("\ufeff"):
            raise json.JSONDecodeError("Unexpected UTF-8 BOM (decode using utf-8-sig)", text, 0)
        value = (_STRICT if finite else _LENIENT).decode(text)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
            if "\\u0000" in text:
                raise FileFormatError("There is a NUL character.", advice="Remove it.", code="not-utf8")
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
        # Python's own words tell of its settings.
        message = "This is not JSON that can be read: a number has too many digits."
        raise FileFormatError(message, advice="Write plain numbers.", code="not-json", line=line) from error
    except FileFormatError as error:
        error.line = line
        raise
    return value


def _without_bom(name: str, content: bytes) -> bytes:
    if content.startswith(UTF16_BOMS):
        raise FileFormatError(f"{name} is UTF-16.", advice="Save it as UTF-8.", code="not-utf8", line=1)
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


def _finite_or_none(digits: str) -> float | None:
    value = float(digits)
    return value if math.isfinite(value) else None


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = sorted(name[:60] for name, count in counts.items() if count > 1)
        message = f"A field stands twice: {', '.join(twice[:5])}."
        raise FileFormatError(message, advice="Give every field once.", code="duplicate-key")
    return record


# `json.loads` makes a decoder for each text, which takes as long as a short text.
_STRICT = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_no_duplicates
)
_LENIENT = json.JSONDecoder(
    parse_constant=lambda _: None, parse_float=_finite_or_none, object_pairs_hook=_no_duplicates
)
