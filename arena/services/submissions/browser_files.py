"""Files that browsers send to the pages, on the disk from their first megabyte on.

A page knows a file by the id that Streamlit gave it, which nobody can guess; its hash names the file.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from arena.services.submissions.uploads import writing
from data.errors import FileFormatError, NotFoundError
from data.files.text_files import MEBIBYTE

MOST_WAITING = 40
LEFT_OUT = ".left-out"
IN_PLACE = b"answer-arena: the server has this file on its disk"
"""What Streamlit holds in memory instead of a file."""


class BrowserWriter:
    """Takes the bytes of one file; those beyond the limit are counted and not written."""

    def __init__(self, path: Path, most: int) -> None:
        self._file = path.open("wb")
        self._most = most
        self.received = 0

    @property
    def fits(self) -> bool:
        """Whether the file is within the limit so far."""
        return self.received <= self._most

    def write(self, content: bytes) -> None:
        """Append bytes.

        Raises:
            StoreError: The disk does not take them.
        """
        self.received += len(content)
        with writing():
            if self.fits:
                self._file.write(content)
            else:
                self._file.truncate(0)

    def close(self) -> None:
        """Let everything be on the disk."""
        self._file.close()


class BrowserFiles:
    """Stores what browsers send.

    A file longer than `most_bytes` is left out, which is reported when it is asked for.
    """

    def __init__(self, folder: Path, *, most_bytes: int) -> None:
        self._folder = folder
        self.most_bytes = most_bytes

    @contextmanager
    def receiving(self, file_id: str) -> Iterator[BrowserWriter]:
        """Take a file; it is there once the block ends without an error. The oldest make room for it."""
        path = self._path(file_id)
        part = path.with_suffix(".part")
        with writing():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._make_room()
            writer = BrowserWriter(part, self.most_bytes)
        try:
            with writing():
                yield writer
                writer.close()
                if writer.fits:
                    part.replace(path)
                else:
                    path.with_suffix(LEFT_OUT).write_text(json.dumps(writer.received), encoding="utf-8")
        finally:
            writer.close()
            part.unlink(missing_ok=True)

    def get(self, file_id: str) -> Path | None:
        """The path of a file; None where it was never sent.

        Raises:
            FileFormatError: It was too long, and is not there.
        """
        path = self._path(file_id)
        if path.exists():
            return path
        with contextlib.suppress(FileNotFoundError):
            sent = int(json.loads(path.with_suffix(LEFT_OUT).read_text(encoding="utf-8")))
            most = self.most_bytes // MEBIBYTE
            raise FileFormatError(
                f"The file has {sent / MEBIBYTE:,.1f} MiB; up to {most:,} MiB are taken.",
                advice="Bring a smaller file.",
                code="too-large",
            )
        return None

    def require(self, file_id: str) -> Path:
        """The path of a file.

        Raises:
            FileFormatError: It was too long.
            NotFoundError: It is not there any more.
        """
        path = self.get(file_id)
        if path is None:
            raise NotFoundError("The file is not here any more.", advice="Choose it again.")
        return path

    def remove(self, file_id: str) -> None:
        """Remove a file; nothing where it is not there."""
        path = self._path(file_id)
        path.unlink(missing_ok=True)
        path.with_suffix(LEFT_OUT).unlink(missing_ok=True)

    def _path(self, file_id: str) -> Path:
        return self._folder / hashlib.sha256(file_id.encode("utf-8", "replace")).hexdigest()

    def _make_room(self) -> None:
        waiting: list[tuple[float, Path]] = []
        for path in self._folder.iterdir():
            # Another request may remove it first.
            with contextlib.suppress(FileNotFoundError):
                waiting.append((path.stat().st_mtime, path))
        for _, path in sorted(waiting)[: max(0, len(waiting) - MOST_WAITING + 1)]:
            path.unlink(missing_ok=True)
