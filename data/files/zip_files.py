"""Unpacking zip files that strangers made: no paths outwards, no links, no bombs, no surprises."""

from __future__ import annotations

import stat
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from data.errors import FileFormatError
from data.files.text_files import MEBIBYTE

CHUNK = MEBIBYTE
ENCRYPTED = 0x1
HIDDEN = ("__MACOSX", ".DS_Store")
DEEPEST = 2
"""Files lie at the top, or in one folder there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveLimits:
    """How much of a zip file is unpacked: files, and bytes of all of them once unpacked."""

    files: int = 200
    total_bytes: int = 200 * MEBIBYTE


def unpack(path: Path, folder: Path, limits: ArchiveLimits | None = None) -> Path:
    """Unpack a zip file into an empty folder.

    Returns:
        Where its files lie: the folder, or the one folder in the archive.

    Raises:
        FileFormatError: It is no zip file, is damaged or encrypted, is over a limit, or a name in it leads
            elsewhere.
    """
    limits = limits or ArchiveLimits()
    try:
        with zipfile.ZipFile(path) as archive:
            members = [
                member
                for member in archive.infolist()
                if not member.is_dir() and not _is_hidden(member.filename)
            ]
            if len(members) > limits.files:
                raise _bad(path, f"holds more than {limits.files} files", "archive-too-large")
            places = [_place(path, member) for member in members]
            remaining = limits.total_bytes
            for member, place in zip(members, places, strict=True):
                remaining -= _write(path, archive, member, folder / place, remaining)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
        raise _bad(path, "is no zip file, or a damaged one", "not-zip") from error
    tops = {place.parts[0] for place in places if len(place.parts) == DEEPEST}
    return folder / tops.pop() if len(tops) == 1 and all(len(p.parts) == DEEPEST for p in places) else folder


def _place(path: Path, member: zipfile.ZipInfo) -> PurePosixPath:
    name = member.filename
    place = PurePosixPath(name)
    odd = "\\" in name or ":" in name or not name.isprintable() or place.is_absolute() or ".." in place.parts
    if odd or len(place.parts) > DEEPEST or stat.S_ISLNK(member.external_attr >> 16):
        raise _bad(path, f"has a file that may not be unpacked: {name[:80]!r}", "archive-path")
    if member.flag_bits & ENCRYPTED:
        raise _bad(path, "is encrypted", "archive-encrypted")
    return place


def _write(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo, place: Path, limit: int) -> int:
    """Unpack one file and count its bytes, whatever the archive says of its size."""
    place.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with archive.open(member) as source, place.open("xb") as target:
        while part := source.read(CHUNK):
            written += len(part)
            if written > limit:
                raise _bad(path, "is too large once unpacked", "archive-too-large")
            target.write(part)
    return written


def _is_hidden(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return any(part in HIDDEN for part in parts)


def _bad(path: Path, problem: str, code: str) -> FileFormatError:
    return FileFormatError(
        f"{path.name} {problem}.",
        advice="Pack set.toml and questions.jsonl into a plain zip file.",
        code=code,
    )
