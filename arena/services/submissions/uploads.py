"""Uploads: files of answers, resumable by the hash of their content.

A file is stored under the home folder as `uploads/OWNER/SHA256`, or `SHA256.part` until it is complete. Only
while it is read it also has the name that its sender gave it, in a folder of that one request. What is stored
under a hash has that hash, however often its sending was interrupted. Owners do not see each other's files,
so that nobody learns what another has.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import secrets
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from data.errors import ConflictError, FileFormatError, NotFoundError, RecordError, StoreError
from data.files.text_files import file_name

SHA256 = re.compile(r"[0-9a-f]{64}")
OWNER = re.compile(r"[a-z0-9-]{1,40}")
PARTIAL = ".part"
SCRATCH, BROWSER = "checks", "browser"
HOUR = 3_600


@dataclass(frozen=True, slots=True)
class UploadState:
    """How much of an upload is there, in bytes; `complete` once its hash was found right."""

    received: int
    complete: bool


@contextmanager
def writing() -> Iterator[None]:
    """Say as an error of the store that the disk does not take something.

    Raises:
        StoreError: It does not.
    """
    try:
        yield
    except OSError as error:
        raise _unwritable(error) from error


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
        with writing():
            self._file.write(content)
        self.received += len(content)

    def close(self) -> None:
        """Let everything be on the disk."""
        with writing():
            self._file.close()


class UploadService:
    """Use cases around uploads.

    A file has at most `most_bytes` as it travels; an owner may have `per_owner` waiting, which are removed
    after `hours`.
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
                # A client that starts again from byte 0, as `curl -T` does, means to.
                _partial(whole).unlink(missing_ok=True)
            state = self.state(owner, sha256)
            if state.complete or start != state.received:
                raise ConflictError(
                    f"{state.received:,} bytes are there, so the next one is not byte {start:,}.",
                    advice=f"Go on from byte {state.received}, as `Upload-Offset` says.",
                )
            if not state.received:
                self._refuse_more(whole.parent)
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
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
                if digest == sha256:
                    part.replace(whole)
                    return UploadState(whole.stat().st_size, complete=True)
                part.unlink()
            except FileNotFoundError:
                return self.state(owner, sha256)
            except OSError as error:
                raise _unwritable(error) from error
        raise FileFormatError(
            f"The file that came has the sha256 {digest}, not {sha256}; it was removed.",
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
    def scratch(self, name: str = "") -> Iterator[tuple[Path, UploadWriter]]:
        """A file that is removed at the end of the block, and its writer.

        Messages about it use the name that its sender calls it by.
        """
        with self._own_folder() as folder:
            path = folder / file_name(name)
            writer = _opened(path, 0, self._most_bytes)
            try:
                yield path, writer
            finally:
                writer.close()

    @contextmanager
    def named(self, file: Path, name: str) -> Iterator[Path]:
        """A stored file under the name that its sender gave it; it can be read until the end of the block.

        Raises:
            NotFoundError: It was removed.
        """
        with self._own_folder() as folder:
            path = folder / file_name(name)
            try:
                path.hardlink_to(file)
            except FileNotFoundError as error:
                raise NotFoundError("The file is not here any more.", advice="Send it again.") from error
            except OSError as error:
                raise _unwritable(error) from error
            yield path

    @contextmanager
    def _own_folder(self) -> Iterator[Path]:
        """A folder of one request, in which a name that somebody sent meets no other."""
        folder = self._folder / SCRATCH / secrets.token_hex(16)
        with writing():
            folder.mkdir(mode=0o700, parents=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def remove_old(self) -> int:
        """Remove what waited too long.

        Returns:
            How many files were removed.
        """
        oldest = time.time() - self._hours * HOUR
        removed = 0
        for path in self._folder.glob("**/*"):
            # Another process may remove it first; a folder goes once it is empty.
            with contextlib.suppress(OSError):
                if path.stat().st_mtime >= oldest:
                    continue
                if path.is_file():
                    path.unlink()
                    removed += 1
                elif path.parent.name == SCRATCH:
                    path.rmdir()
        return removed

    def _path(self, owner: str, sha256: str) -> Path:
        if not SHA256.fullmatch(sha256):
            raise RecordError("An upload is named by its sha256.", advice="Use 64 lower-case hex digits.")
        if not OWNER.fullmatch(owner) or owner in {SCRATCH, BROWSER}:
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


def _opened(path: Path, start: int, most: int) -> UploadWriter:
    with writing():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return UploadWriter(path, start, most)


def _too_long(most: int) -> FileFormatError:
    return FileFormatError(
        f"The file is longer than {most:,} bytes.", advice="Bring a smaller file.", code="too-large"
    )


def _unwritable(error: OSError) -> StoreError:
    return StoreError(f"Uploads cannot be written: {error.strerror}.", advice="Free some space.")
