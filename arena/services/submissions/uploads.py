"""Files that were sent: on the disk only while they are read, under the name that their sender gave them.

Each is in a folder of one request, `ARENA_HOME/uploads/checks/RANDOM`, so that two of one name do not meet.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from data.errors import FileFormatError, StoreError
from data.files.text_files import file_name

SCRATCH = "checks"
LEFT_BEHIND = 24 * 3_600
"""Seconds after which a folder is nobody's: its process was ended."""


@contextmanager
def writing() -> Iterator[None]:
    """Say as an error of the store that the disk does not take something."""
    try:
        yield
    except OSError as error:
        raise _unwritable(error) from error


class UploadWriter:
    """Takes the bytes of one file, in order."""

    def __init__(self, path: Path, most: int) -> None:
        self._file = path.open("xb")
        self._most = most
        self._received = 0

    def write(self, content: bytes | memoryview) -> None:
        """Append bytes."""
        self._received += len(content)
        if self._received > self._most:
            message = f"The file is longer than {self._most:,} bytes."
            raise FileFormatError(message, advice="Bring a smaller file.", code="too-large")
        with writing():
            self._file.write(content)

    def close(self) -> None:
        """Let everything be on the disk."""
        with writing():
            self._file.close()


class UploadService:
    """Puts files of at most `most_bytes`, as they travel, into `folder` while they are read."""

    def __init__(self, folder: Path, *, most_bytes: int) -> None:
        self._folder = folder / SCRATCH
        self._most_bytes = most_bytes

    @contextmanager
    def scratch(self, name: str = "") -> Iterator[tuple[Path, UploadWriter]]:
        """A file that is removed at the end of the block, and its writer.

        Messages about it use the name that its sender calls it by.
        """
        with self._own_folder() as folder:
            path = folder / file_name(name)
            with writing():
                writer = UploadWriter(path, self._most_bytes)
            try:
                yield path, writer
            finally:
                writer.close()

    @contextmanager
    def _own_folder(self) -> Iterator[Path]:
        self._remove_left_behind()
        folder = self._folder / secrets.token_hex(16)
        with writing():
            folder.mkdir(mode=0o700, parents=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _remove_left_behind(self) -> None:
        oldest = time.time() - LEFT_BEHIND
        for folder in self._folder.glob("*"):
            # Another process may remove it first.
            with contextlib.suppress(OSError):
                if folder.stat().st_mtime < oldest:
                    shutil.rmtree(folder, ignore_errors=True)


def _unwritable(error: OSError) -> StoreError:
    return StoreError(f"Uploads cannot be written: {error.strerror}.", advice="Free some space.")
