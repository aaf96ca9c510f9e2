"""Readers of untrusted text files, plain or compressed, with limits.

Compression bombs stop at the limit on *decompressed* bytes, or earlier at a ratio that no text reaches. Lines
are streamed, so memory is bounded by the maximum length of a line.
"""

import bz2
import gzip
import io
import lzma
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, Self, cast

from data import progress
from data.errors import FileFormatError

GZIP_MAGIC = b"\x1f\x8b"
COMPRESSED: Mapping[bytes, str] = MappingProxyType(
    {GZIP_MAGIC: "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
)
"""First bytes of compressed files."""
BUFFER = 1024 * 1024


def decompressed(raw: io.BufferedReader, kind: str) -> IO[bytes]:
    """Open a stream of decompressed bytes, of a kind in `COMPRESSED` or empty for none."""
    match kind:
        case "gzip":
            return cast("IO[bytes]", gzip.GzipFile(fileobj=raw, mode="rb"))
        case "bzip2":
            return cast("IO[bytes]", bz2.BZ2File(raw))
        case "xz":
            return cast("IO[bytes]", lzma.LZMAFile(raw))
        case "zstd":
            import pyarrow as pa  # noqa: PLC0415 - loads when such a file comes

            stream = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")
            return io.BufferedReader(cast("io.RawIOBase", stream), BUFFER)
        case _:
            return raw


UTF8_BOM = b"\xef\xbb\xbf"
ENCODINGS: Mapping[str, tuple[bytes, ...]] = MappingProxyType(
    {"UTF-32": (b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff"), "UTF-16": (b"\xff\xfe", b"\xfe\xff")}
)
"""Byte order marks of unsupported encodings, longer ones first."""
MEBIBYTE = 1024 * 1024
MAX_NAME_LENGTH = 60
"""Maximum characters of a file name: at most four bytes each, within all file systems' 255 bytes."""
RATIO_FROM = 16 * MEBIBYTE


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLimits:
    """Limits on reading a file.

    Attributes:
        file_bytes: Bytes after decompression.
        gzip_ratio: Decompressed bytes per compressed byte, checked after the first 16 MiB.
        items: Mean number of items of lists in a row.
    """

    file_bytes: int = 200 * MEBIBYTE
    line_bytes: int = 16 * MEBIBYTE
    lines: int = 10_000_000
    gzip_ratio: int = 300
    rows: int = 10_000_000
    items: int = 100_000


def too_many_bytes(name: str, limits: ReadLimits, line: int = 0) -> FileFormatError:
    """Return the error for a too large file."""
    message = f"{name} contains more than {limits.file_bytes:,} bytes once decompressed."
    return FileFormatError(message, advice="Use a smaller file.", code="too-large", line=line)


PARQUET_MAGIC = b"PAR1"
ARROW_MAGICS = (b"\xff\xff\xff\xff", b"ARROW1")


def magic_of(path: Path) -> bytes:
    """Read the first bytes of a file; empty if it is unreadable, which is reported later."""
    with suppress(OSError), path.open("rb") as file:
        return file.read(8)
    return b""


def file_name(path_text: str) -> str:
    """Return a safe file name: without folders, printable, not too long."""
    last = re.split(r"[/\\]", path_text)[-1][-MAX_NAME_LENGTH:]
    return "".join(sign for sign in last if sign.isprintable()).strip(" .") or "file"


class GuardedStream:
    """Stream of the decompressed bytes of a file within limits, as a context manager.

    `line` counts the lines read by `readline`, which end with carriage returns if `carriage_returns` is true.
    """

    def __init__(self, path: Path, limits: ReadLimits, *, carriage_returns: bool = False) -> None:
        self.name = path.name
        self.limits = limits
        self.line = 0
        self._read = 0
        self._raw, self.compression = _open(path)
        self._work = progress.begin(
            f"reading {self.name}", os.fstat(self._raw.fileno()).st_size, in_bytes=True
        )
        article = "an" if self.compression == "xz" else "a"
        self._kind = f"{article} {self.compression} file"
        self._carriage_returns = carriage_returns
        self._stream: Any = decompressed(self._raw, self.compression)
        self._block, self._rest = io.BytesIO(), b""

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
        """Read the next line with its line end; empty at the end. The byte order mark is removed."""
        content = self._block.readline()
        if not content:
            self._block = io.BytesIO(self._whole_lines())
            content = self._block.readline()
        self.line += bool(content)
        long = len(content) > self.limits.line_bytes
        if long or self.line > self.limits.lines:
            message = f"{self.name} has more than {self.limits.lines:,} lines."
            if long:
                message = f"Line {self.line} of {self.name} is longer than {self.limits.line_bytes:,} bytes."
            advice = "Put each record on its own line." if long else "Use a smaller file."
            raise FileFormatError(message, advice=advice, code="too-large", line=self.line)
        return content

    def read_block(self) -> bytes:
        """Read about a mebibyte of whole lines, which the caller adds to `line`; empty at the end."""
        content = b""
        while len(content) < BUFFER // 2 and (lines := self._block.read() or self._whole_lines()):
            content += lines
        return content

    def unread(self, content: bytes) -> None:
        """Put back what `read_block` has read."""
        self._block = io.BytesIO(content + self._block.read())

    def _whole_lines(self) -> bytes:
        while block := self._guarded(lambda: self._stream.read1(BUFFER)):
            end = block.rfind(b"\n") + 1
            if end or len(self._rest) + len(block) > self.limits.line_bytes:
                content, self._rest = self._rest + block[: end or None], block[end:] if end else b""
                return content
            self._rest += block
        content, self._rest = self._rest, b""
        return content

    def read(self, size: int) -> bytes:
        """Read up to `size` bytes; empty at the end. The byte order mark is removed."""
        return self._guarded(lambda: self._stream.read(size))

    def _guarded(self, read_bytes: Callable[[], bytes]) -> bytes:
        try:
            content = read_bytes()
        except _damages() as error:
            message, advice = f"{self.name} cannot be read.", "Check the disk and the permissions."
            code = "unreadable-file"
            if self.compression:
                after = f" after line {self.line}" if self.line else ""
                message = f"{self.name} is {self._kind} that is cut off or damaged{after}."
                advice, code = "Compress and upload it again.", "truncated-gzip"
            raise FileFormatError(message, advice=advice, code=code, line=self.line) from error
        if self._carriage_returns:
            content = content.replace(b"\r", b"\n")
        first = self._read == 0
        self._read += len(content)
        self._work.done = self._raw.tell() if self._raw.seekable() else self._read
        self._check_size()
        return _without_bom(self.name, content) if first else content

    def _check_size(self) -> None:
        if self._read > self.limits.file_bytes:
            raise too_many_bytes(self.name, self.limits, self.line)
        if not self.compression or self._read <= RATIO_FROM:
            return
        # The compressed bytes of a pipe are not known; only the limit on its bytes applies.
        if self._raw.seekable() and self._read > self.limits.gzip_ratio * max(1, self._raw.tell()):
            message = f"{self.name} decompresses to more than {self.limits.gzip_ratio} times its size."
            advice = "Upload it without compression."
            raise FileFormatError(message, advice=advice, code="gzip-bomb", line=self.line)


def read_lines(path: Path, limits: ReadLimits) -> Iterator[tuple[int, bytes]]:
    """Yield numbered lines without line ends and byte order mark; blank lines are skipped."""
    with GuardedStream(path, limits) as stream:
        while content := stream.readline():
            stripped = content.rstrip(b"\r\n")
            if stripped.strip():
                yield stream.line, stripped


def content_bytes(path: Path, limits: ReadLimits) -> int:
    """Count the decompressed bytes of a file, as far as it is readable within the limits."""
    size = 0
    with suppress(FileFormatError), GuardedStream(path, limits) as stream:
        while block := stream.read(MEBIBYTE):
            size += len(block)
    return size


def read_text(path: Path, limits: ReadLimits) -> str:
    """Read a whole file as UTF-8 text, with or without a byte order mark."""
    with GuardedStream(path, limits) as stream:
        content = b"".join(iter(lambda: stream.read(MEBIBYTE), b""))
    if not content.strip():
        raise FileFormatError(f"{path.name} is empty.", advice="Save it again.", code="empty-file")
    return decode(content, 0)


def _open(path: Path) -> tuple[io.BufferedReader, str]:
    try:
        raw = path.open("rb")
    except OSError as error:
        message, advice, code = f"{path} cannot be read.", "Check its permissions.", "unreadable-file"
        if isinstance(error, FileNotFoundError):
            message, advice, code = f"There is no file {path}.", "Check the path.", "missing-file"
        elif isinstance(error, IsADirectoryError):
            message, advice, code = f"{path} is a folder.", "Choose a file inside it.", "missing-file"
        raise FileFormatError(message, advice=advice, code=code) from error
    head = raw.peek(8)
    if not head:
        raw.close()
        raise FileFormatError(f"{path.name} is empty.", advice="Save it again.", code="empty-file")
    return raw, next((kind for magic, kind in COMPRESSED.items() if head.startswith(magic)), "")


def decode(content: bytes, line: int) -> str:
    """Decode UTF-8."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"Byte {error.start + 1} is not UTF-8."
        advice = "Save the file as UTF-8."
        raise FileFormatError(message, advice=advice, code="not-utf8", line=line) from error
    if "\x00" in text:
        message = "The file contains a NUL character."
        raise FileFormatError(message, advice="Save the file as UTF-8 text.", code="not-utf8", line=line)
    return text


def _damages() -> tuple[type[BaseException], ...]:
    pyarrow = sys.modules.get("pyarrow")
    more = (pyarrow.ArrowException,) if pyarrow else ()
    return (OSError, EOFError, zlib.error, lzma.LZMAError, *more)


def _without_bom(name: str, content: bytes) -> bytes:
    encoding = next((kind for kind, marks in ENCODINGS.items() if content.startswith(marks)), "")
    if encoding or (encoding := _wide_encoding(content)):
        raise FileFormatError(
            f"{name} is encoded as {encoding}.", advice="Save it as UTF-8.", code="not-utf8", line=1
        )
    return content.removeprefix(UTF8_BOM)


def _wide_encoding(content: bytes) -> str:
    """Detect UTF-16 and UTF-32 without a byte order mark by their zeros; else empty."""
    signs = [bool(byte) for byte in content[:8]]
    if signs in ([True, False, False, False] * 2, [False, False, False, True] * 2):
        return "UTF-32"
    return "UTF-16" if signs in ([True, False] * 4, [False, True] * 4) else ""
