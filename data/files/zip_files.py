"""Unpack untrusted zip files safely, and write files atomically."""

import gzip
import io
import lzma
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, TextIO, cast

from data.errors import FileFormatError
from data.files.text_files import ARROW_MAGICS, MEBIBYTE, PARQUET_MAGIC

CHUNK = MEBIBYTE
LOCAL_HEADER, LOCAL_MAGIC = 30, b"PK\x03\x04"
ZIP_MAGICS = (LOCAL_MAGIC, b"PK\x05\x06")
BINARY_MAGICS = (*ZIP_MAGICS, PARQUET_MAGIC, *ARROW_MAGICS)
ENCRYPTED = 0x1
HIDDEN = ("__MACOSX", ".DS_Store")
ZSTANDARD = 93
"""Compression method of inspect's logs, which zipfile supports from Python 3.14."""
DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, NotImplementedError, RuntimeError, OSError),
)
ADVICE = "Pack set.toml and questions.jsonl into a plain zip file."


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveLimits:
    """Limits on unpacking a zip file.

    Attributes:
        deepest: Maximum depth of a path; 2 for files at the top or in top folders.
    """

    files: int = 200
    total_bytes: int = 200 * MEBIBYTE
    deepest: int = 2
    advice: str = ADVICE


def members_of(path: Path) -> dict[str, int]:
    """Return the files of a zip file with their declared sizes; empty if it cannot be opened."""
    with suppress(*DAMAGE, ValueError), zipfile.ZipFile(path) as archive:
        return {member.filename: member.file_size for member in archive.infolist()}
    return {}


def unpack(path: Path, folder: Path, limits: ArchiveLimits | None = None) -> Path:
    """Unpack a zip file into an empty folder; return it, or the only top folder of the archive."""
    limits = limits or ArchiveLimits()
    with opened(path, limits) as (archive, members):
        remaining = limits.total_bytes
        for member in members:
            place = folder / member.filename
            place.parent.mkdir(parents=True, exist_ok=True)
            with _open_member(archive, member) as source, place.open("xb") as target:
                while part := source.read(CHUNK):
                    remaining -= len(part)
                    if remaining < 0:
                        raise _bad(path, "is too large once unpacked", "archive-too-large", limits)
                    target.write(part)
    tops = {PurePosixPath(member.filename).parts[0] for member in members}
    deeper = all(len(PurePosixPath(member.filename).parts) > 1 for member in members)
    return folder / tops.pop() if len(tops) == 1 and deeper else folder


@contextmanager
def opened(path: Path, limits: ArchiveLimits) -> Iterator[tuple[zipfile.ZipFile, Sequence[zipfile.ZipInfo]]]:
    """Open an archive; folders and files of file managers are skipped."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [
                member
                for member in archive.infolist()
                if not member.is_dir() and not {*HIDDEN} & {*PurePosixPath(member.filename).parts}
            ]
            if len(members) > limits.files:
                raise _bad(path, f"contains more than {limits.files:,} files", "archive-too-large", limits)
            for member in members:
                _require_place(path, member, limits)
            yield archive, members
    except DAMAGE as error:
        raise _bad(path, "is not a zip file, or is damaged", "not-zip", limits) from error


def read_member(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo, limit: int) -> bytes:
    """Read a file of an archive of at most `limit` bytes, regardless of its declared size."""
    with _open_member(archive, member) as source:
        content = source.read(limit + 1)
    if len(content) > limit:
        message = f"{member.filename} in {path.name} is larger than {limit:,} bytes."
        raise FileFormatError(message, advice="Make the file smaller or split it.", code="archive-too-large")
    return content


def _open_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> IO[bytes]:
    if member.compress_type != ZSTANDARD:
        return archive.open(member)
    import pyarrow as pa  # noqa: PLC0415 - loads when such a file comes

    file = archive.fp
    if file is None:
        raise zipfile.BadZipFile
    file.seek(member.header_offset)
    header = file.read(LOCAL_HEADER)
    if len(header) < LOCAL_HEADER or not header.startswith(LOCAL_MAGIC):
        raise zipfile.BadZipFile
    names = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
    file.seek(names, 1)
    packed = pa.BufferReader(file.read(member.compress_size))
    return cast("IO[bytes]", pa.CompressedInputStream(packed, "zstd"))


def _require_place(path: Path, member: zipfile.ZipInfo, limits: ArchiveLimits) -> None:
    name = member.filename
    place = PurePosixPath(name)
    odd = "\\" in name or ":" in name or not name.isprintable() or place.is_absolute() or ".." in place.parts
    if odd or len(place.parts) > limits.deepest or stat.S_ISLNK(member.external_attr >> 16):
        message = f"has a file that may not be unpacked: {name[:80]!r}"
        raise _bad(path, message, "archive-path", limits)
    if member.flag_bits & ENCRYPTED:
        raise _bad(path, "is encrypted", "archive-encrypted", limits)


def _bad(path: Path, problem: str, code: str, limits: ArchiveLimits) -> FileFormatError:
    return FileFormatError(f"{path.name} {problem}.", advice=limits.advice, code=code)


NO_TEXT = frozenset(
    {".arrow", ".bz2", ".feather", ".parquet", ".pdf", ".png", ".xls", ".xlsx", ".xz", ".zip", ".zst"}
)
"""Suffixes of binary files."""


@contextmanager
def atomic_bytes(destination: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that appears under its name only when complete."""
    partial = destination.with_name(f".{destination.name}.part")
    try:
        with partial.open("wb") as raw:
            yield raw
        partial.replace(destination)
    except OSError as error:
        message = f"{destination} cannot be written: {error.strerror or error}."
        raise FileFormatError(message, advice="Check the folder, its permissions and free space.") from error
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def atomic_text(destination: Path) -> Iterator[TextIO]:
    """Open a UTF-8 text for atomic writing, reproducibly gzipped if the name ends in `.gz`."""
    if destination.suffix.lower() in NO_TEXT:
        message = f"The output is text, but {destination.name} has the suffix of a binary format."
        raise FileFormatError(message, advice="Choose a name that ends in .jsonl, .json or .csv.")
    with atomic_bytes(destination) as raw:
        if not destination.name.lower().endswith(".gz"):
            with io.TextIOWrapper(raw, encoding="utf-8", newline="") as text:
                yield text
            return
        with (
            gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0, compresslevel=6) as zipped,
            io.TextIOWrapper(cast("IO[bytes]", zipped), encoding="utf-8", newline="") as text,
        ):
            yield text
