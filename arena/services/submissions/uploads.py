"""Files that were sent: on the disk only while they are read, under the name that their sender gave them.

Each is in a folder of one request, `ARENA_HOME/uploads/checks/RANDOM`, so that two of one name do not meet.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from data.errors import FileFormatError, StoreError
from data.files.text_files import file_name

LEFT_BEHIND = 24 * 3_600
"""Seconds after which a folder is nobody's: its process was ended."""


class UploadWriter:
    """Writes one file, in order."""

    def __init__(self, path: Path, most: int) -> None:
        self._file, self._left, self._most = path.open("xb"), most, most

    def write(self, content: bytes | memoryview) -> None:
        """Append bytes."""
        self._left -= len(content)
        if self._left < 0:
            message = f"The file is longer than {self._most:,} bytes."
            raise FileFormatError(message, advice="Bring a smaller file.", code="too-large")
        with _writing():
            self._file.write(content)

    def close(self) -> None:
        """Let everything be on the disk."""
        with _writing():
            self._file.close()


class UploadService:
    """Puts files of at most `most_bytes` into `folder` while they are read."""

    def __init__(self, folder: Path, *, most_bytes: int) -> None:
        self._folder = folder / "checks"
        self._most_bytes = most_bytes

    @contextmanager
    def scratch(self, name: str = "") -> Iterator[tuple[Path, UploadWriter]]:
        """A file that is removed at the end of the block, and its writer.

        Messages about it use the name that its sender calls it by.
        """
        with _writing():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._remove_left_behind()
            folder = tempfile.TemporaryDirectory(dir=self._folder, ignore_cleanup_errors=True)
        with folder:
            with _writing():
                path = Path(folder.name, file_name(name))
                writer = UploadWriter(path, self._most_bytes)
            try:
                yield path, writer
            finally:
                writer.close()

    def _remove_left_behind(self) -> None:
        for folder in self._folder.iterdir():
            # Another process may remove it first.
            with contextlib.suppress(OSError):
                if folder.stat().st_mtime < time.time() - LEFT_BEHIND:
                    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"Uploads cannot be written: {error.strerror}."
        raise StoreError(message, advice="Free some space.") from error
