"""Uploads: files of answers on their way in, resumable by the hash of their content.

A file lies under the home folder as `uploads/OWNER/SHA256`, or `SHA256.part` until it is whole: no name
that somebody sent is ever part of a path. What is stored under a hash has that hash, however often its
sending was interrupted. Owners do not see each other's files, so that nobody learns what another has.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from data.errors import ConflictError, FileFormatError, NotFoundError, RecordError, StoreError

SHA256 = re.compile(r"[0-9a-f]{64}")
OWNER = re.compile(r"[a-z0-9-]{1,40}")
PARTIAL = ".part"
SCRATCH = "checks"
HOUR = 3_600


@dataclass(frozen=True, slots=True)
class UploadState:
    """How much of an upload is there, in bytes; `complete` once its hash was found right."""

    received: int
    complete: bool


class UploadWriter:
    """Takes the bytes of one upload, in order."""

    def __init__(self, path: Path, start: int, most: int) -> None:
        self._file = path.open("ab")
        self._most = most
        self.received = start

    def write(self, content: bytes) -> None:
        """Append bytes.

        Raises:
            FileFormatError: The file becomes longer than it may be.
            StoreError: The disk does not take it.
        """
        if self.received + len(content) > self._most:
            raise _too_long(self._most)
        try:
            self._file.write(content)
        except OSError as error:
            raise _unwritable(error) from error
        self.received += len(content)

    def close(self) -> None:
        """Let everything be on the disk."""
        try:
            self._file.close()
        except OSError as error:
            raise _unwritable(error) from error


class UploadService:
    """Use cases around uploads.

    Args:
        folder: Where they lie.
        most_bytes: Of one file, as it travels.
        per_owner: Files that an owner may have waiting.
        hours: After so many a waiting file is removed.
    """

    def __init__(self, folder: Path, *, most_bytes: int, per_owner: int, hours: float) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._per_owner = per_owner
        self._hours = hours
        self._busy: set[Path] = set()
        self._lock = threading.Lock()

    def state(self, owner: str, sha256: str) -> UploadState:
        """How much of an upload is there; nothing is an upload of 0 bytes."""
        whole = self._path(owner, sha256)
        if whole.exists():
            return UploadState(whole.stat().st_size, complete=True)
        part = _partial(whole)
        return UploadState(part.stat().st_size if part.exists() else 0, complete=False)

    @contextmanager
    def receiving(self, owner: str, sha256: str, *, start: int) -> Iterator[UploadWriter]:
        """Take bytes of an upload from byte `start` on; what was written stays when the sender breaks off.

        From byte 0 on, what was there of it before is dropped.

        Raises:
            ConflictError: It is somewhere else than at `start`, is being sent by another request, is there
                already, or the owner has too many.
        """
        whole = self._path(owner, sha256)
        with self._alone(whole):
            self.remove_old()
            if start == 0:
                # Who begins anew, as `curl -T` does, means to.
                _partial(whole).unlink(missing_ok=True)
            found = self.state(owner, sha256)
            if found.complete or start != found.received:
                raise ConflictError(
                    f"{found.received:,} bytes are there, so the next one is not byte {start:,}.",
                    advice=f"Go on from byte {found.received}, as `Upload-Offset` says.",
                )
            if not found.received:
                self._refuse_more(whole.parent)
            _make_folder(whole.parent)
            writer = _opened(_partial(whole), start, self._most_bytes)
            try:
                yield writer
            finally:
                writer.close()

    def finish(self, owner: str, sha256: str) -> UploadState:
        """Hold a file that came in whole against its hash.

        Raises:
            FileFormatError: It has another hash; it is removed.
        """
        whole = self._path(owner, sha256)
        part = _partial(whole)
        with self._alone(whole):
            try:
                with part.open("rb") as file:
                    found = hashlib.file_digest(file, "sha256").hexdigest()
                if found == sha256:
                    part.replace(whole)
                    return UploadState(whole.stat().st_size, complete=True)
                part.unlink()
            except FileNotFoundError:
                return self.state(owner, sha256)
            except OSError as error:
                raise _unwritable(error) from error
        raise FileFormatError(
            f"The file that came has the sha256 {found}, not {sha256}; it was removed.",
            advice="Send it again from its beginning.",
            code="wrong-hash",
        )

    def get(self, owner: str, sha256: str) -> Path:
        """The file of a complete upload.

        Raises:
            NotFoundError: There is none.
        """
        path = self._path(owner, sha256)
        if not path.exists():
            part = self.state(owner, sha256)
            state = f"Only {part.received:,} bytes of it are there." if part.received else "It is not there."
            raise NotFoundError(
                f"There is no upload {sha256[:12]}…. {state}",
                advice="Send it by PUT /uploads/{sha256} first.",
            )
        return path

    def remove(self, owner: str, sha256: str) -> None:
        """Remove an upload, whole or not; nothing where there is none."""
        whole = self._path(owner, sha256)
        for path in (whole, _partial(whole)):
            path.unlink(missing_ok=True)

    @contextmanager
    def scratch(self) -> Iterator[tuple[Path, UploadWriter]]:
        """A file that is removed at the end of the block, and its writer."""
        path = self._folder / SCRATCH / secrets.token_hex(16)
        _make_folder(path.parent)
        writer = _opened(path, 0, self._most_bytes)
        try:
            yield path, writer
        finally:
            writer.close()
            path.unlink(missing_ok=True)

    def remove_old(self) -> int:
        """Remove what waited too long.

        Returns:
            How many files were removed.
        """
        oldest = time.time() - self._hours * HOUR
        removed = 0
        for path in self._folder.glob("*/*"):
            # Another process may remove it first.
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_mtime < oldest:
                    path.unlink()
                    removed += 1
        return removed

    def _path(self, owner: str, sha256: str) -> Path:
        if not SHA256.fullmatch(sha256):
            raise RecordError("An upload is named by its sha256.", advice="Use 64 lower-case hex digits.")
        if not OWNER.fullmatch(owner) or owner == SCRATCH:
            raise RecordError(f"{owner!r} owns no uploads.")
        return self._folder / owner / sha256

    @contextmanager
    def _alone(self, path: Path) -> Iterator[None]:
        with self._lock:
            if path in self._busy:
                raise ConflictError("This upload is being sent by another request.", advice="Wait for it.")
            self._busy.add(path)
        try:
            yield
        finally:
            with self._lock:
                self._busy.discard(path)

    def _refuse_more(self, folder: Path) -> None:
        waiting = sum(1 for _ in folder.glob("*")) if folder.exists() else 0
        if waiting >= self._per_owner:
            raise ConflictError(
                f"{waiting} uploads wait to be submitted, which is as many as a team may have.",
                advice=f"Submit or delete one, or wait: they go after {self._hours:g} hours.",
            )


def _partial(whole: Path) -> Path:
    return whole.with_name(whole.name + PARTIAL)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(error) from error


def _opened(path: Path, start: int, most: int) -> UploadWriter:
    try:
        return UploadWriter(path, start, most)
    except OSError as error:
        raise _unwritable(error) from error


def _too_long(most: int) -> FileFormatError:
    return FileFormatError(
        f"The file is longer than {most:,} bytes.", advice="Bring a smaller file.", code="too-large"
    )


def _unwritable(error: OSError) -> StoreError:
    return StoreError(f"Uploads cannot be written: {error.strerror}.", advice="Free some space.")
