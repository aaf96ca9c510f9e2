"""Files written beside their place and moved into it, so that no half file is ever seen."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, TextIO, cast

from data.errors import FileFormatError

NO_TEXT = frozenset(
    {".arrow", ".bz2", ".feather", ".parquet", ".pdf", ".png", ".xls", ".xlsx", ".xz", ".zip", ".zst"}
)
"""Endings of names of files that hold no plain text."""


@contextmanager
def atomic_bytes(destination: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that appears under its name only once it is whole.

    Raises:
        FileFormatError: It cannot be written.
    """
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
    """The same for UTF-8 text, gzipped where the name ends in `.gz`; equal text gives equal bytes.

    Raises:
        FileFormatError: It cannot be written, or its name says that it holds something else than text.
    """
    if destination.suffix.lower() in NO_TEXT:
        message = f"What is written is text, and {destination.name} says that it holds something else."
        raise FileFormatError(
            message, advice="Choose a name that ends in .jsonl, .json or .csv, by what it holds."
        )
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
