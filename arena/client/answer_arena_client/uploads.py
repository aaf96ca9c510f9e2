"""Sending a file, going on where a line broke off."""

from __future__ import annotations

import hashlib
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from .errors import (
    ConflictError,
    RateLimitError,
    RequestError,
    ServerError,
    StatusError,
    UsageError,
    error_of,
)
from .transport import Transport, path_of

BLOCK = 256 * 1024
TRIES = 6
GONE = 404
Sent = Callable[[int, int], None]
"""Called with how many bytes of how many are there."""


def upload(transport: Transport, path: Path, *, sent: Sent | None = None) -> str:
    """Send a file, or what the arena lacks of it.

    The file is streamed; `sent` is called after each block.

    Returns:
        The file's sha256, by which it is submitted.

    Raises:
        UsageError: The file cannot be read.
        RequestError: The line broke off too often.
        StatusError: The arena refuses it.
    """
    try:
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            size = file.tell()
            if size == 0:
                raise UsageError(f"{path.name} is empty.", advice="Write it again.")
            _send_all(transport, file, sha256, size, sent or _quiet)
    except OSError as error:
        raise unreadable(path, error) from error
    return sha256


@contextmanager
def packed(path: Path) -> Iterator[Path]:
    """A file as it is, and a folder as a zip file that is removed at the end of the block.

    Raises:
        UsageError: The folder cannot be read.
    """
    if not path.is_dir():
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / f"{path.resolve().name or 'folder'}.zip"
        try:
            with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
                for file in sorted(path.rglob("*")):
                    if file.is_file():
                        target.write(file, file.relative_to(path))
        except OSError as error:
            raise UsageError(
                f"{path} cannot be packed: {error.strerror}.", advice="Check its files."
            ) from error
        yield archive


def unreadable(path: Path, error: OSError) -> UsageError:
    """The error of a file that cannot be read."""
    return UsageError(f"{path} cannot be read: {error.strerror}.", advice="Check its name.")


def blocks(file: IO[bytes], *, start: int = 0) -> Iterator[bytes]:
    """A file from a byte on, a block at a time."""
    file.seek(start)
    while block := file.read(BLOCK):
        yield block


def _quiet(_done: int, _total: int) -> None:
    """Tell nobody."""


def _send_all(transport: Transport, file: IO[bytes], sha256: str, size: int, sent: Sent) -> None:
    """Send until all is there; what breaks off costs a try, and what moved on gives the tries back."""
    tries, reached = 0, 0
    while True:
        try:
            offset = _offset(transport, sha256, size)
            sent(offset, size)
            if offset == size:
                return
            if offset > reached:
                tries, reached = 0, offset
            _send_rest(transport, file, sha256, offset, size, sent)
        except (RequestError, ServerError, ConflictError, RateLimitError) as error:
            # A conflict: the arena has not noticed yet that the line before is broken.
            tries += 1
            asked = error.retry_after if isinstance(error, StatusError) else None
            if tries == TRIES or (asked or 0) > transport.retries.longest_wait:
                raise
            transport.sleep(transport.retries.first_wait * 2**tries if asked is None else asked)


def _offset(transport: Transport, sha256: str, size: int) -> int:
    """How much is there and need not be sent: all of it only where its hash was found right."""
    response = transport.send("HEAD", path_of("uploads", sha256))
    if response.status_code == GONE:
        return 0
    if not response.is_success:
        # The answer to HEAD has no body that would say why.
        transport.request("GET", "/me")
        raise error_of(response)
    if response.headers.get("upload-complete") == "?1":
        return size
    offset = int(response.headers.get("upload-offset", "0"))
    return offset if offset < size else 0


def _send_rest(
    transport: Transport, file: IO[bytes], sha256: str, offset: int, size: int, sent: Sent
) -> None:
    def body() -> Iterator[bytes]:
        at = offset
        for block in blocks(file, start=offset):
            yield block
            at += len(block)
            sent(at, size)

    headers = {"Content-Length": str(size - offset), "Content-Type": "application/octet-stream"}
    if offset:
        headers["Content-Range"] = f"bytes {offset}-{size - 1}/{size}"
    response = transport.send("PUT", path_of("uploads", sha256), headers=headers, body=body)
    if not response.is_success:
        raise error_of(response)
