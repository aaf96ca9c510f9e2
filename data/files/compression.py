"""Streams that are decompressed while they are read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import IO, Any, cast

GZIP_MAGIC = b"\x1f\x8b"
COMPRESSED: Mapping[bytes, str] = MappingProxyType(
    {GZIP_MAGIC: "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
)
"""The first bytes of what is decompressed while it is read."""
BUFFER = 1024 * 1024


def decompressed(raw: io.BufferedReader, kind: str) -> IO[bytes]:
    """The bytes behind a compression, of the kinds in `COMPRESSED`; none where it is empty."""
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


def damages() -> tuple[type[BaseException], ...]:
    """What the decompressors raise where their input is cut off or no such stream."""
    pyarrow = sys.modules.get("pyarrow")
    more = (pyarrow.ArrowException,) if pyarrow else ()
    return (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError, *more)


class LineFeeds(io.RawIOBase):
    """A stream whose carriage returns are line feeds."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - whatever holds bytes
        """Read into a buffer, and return how many bytes."""
        content = self._stream.read(len(buffer)).replace(b"\r", b"\n")
        buffer[: len(content)] = content
        return len(content)
