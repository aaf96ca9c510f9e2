"""Sending a file of answers, going on where a line broke off."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from arena.client.http import ApiClient, raise_for
from data.errors import ConflictError, FileFormatError, ServerError

BLOCK = 256 * 1024
TRIES = 6
FIRST_WAIT = 0.5
GONE = 404
Sent = Callable[[int, int], None]


def upload(client: ApiClient, path: Path, *, sent: Sent) -> str:
    """Send a file, or what the arena lacks of it.

    The file is streamed; `sent` is called after each block with how many bytes of how many are there.

    Returns:
        The file's sha256, by which it is submitted.

    Raises:
        FileFormatError: The file cannot be read.
        ServerError: The line broke off too often.
        ArenaError: The arena refuses it.
    """
    try:
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            size = file.tell()
            if size == 0:
                raise FileFormatError(f"{path.name} is empty.", advice="Write it again.", code="empty-file")
            _send_all(client, file, sha256, size, sent)
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}."
        raise FileFormatError(message, advice="Check its name.", code="unreadable-file") from error
    return sha256


def _send_all(client: ApiClient, file: IO[bytes], sha256: str, size: int, sent: Sent) -> None:
    """Send until all is there; what breaks off costs a try, and what moved on gives the tries back."""
    tries, reached = 0, 0
    while True:
        try:
            offset = _offset(client, sha256, size)
            sent(offset, size)
            if offset == size:
                return
            if offset > reached:
                tries, reached = 0, offset
            _send_rest(client, file, sha256, offset, size, sent)
        except (ServerError, ConflictError):
            # A conflict: the arena has not noticed yet that the line before is broken.
            tries += 1
            if tries == TRIES:
                raise
            time.sleep(FIRST_WAIT * 2**tries)


def _offset(client: ApiClient, sha256: str, size: int) -> int:
    """How much is there and need not be sent: all of it only where its hash was found right."""
    response = client.send("HEAD", f"/uploads/{sha256}")
    if response.status_code == GONE:
        return 0
    if not response.is_success:
        # The answer to HEAD has no body that would say why.
        client.ask("GET", "/me")
        raise_for(response)
    if response.headers.get("upload-complete") == "?1":
        return size
    offset = int(response.headers.get("upload-offset", "0"))
    return offset if offset < size else 0


def _send_rest(client: ApiClient, file: IO[bytes], sha256: str, offset: int, size: int, sent: Sent) -> None:
    def blocks() -> Iterator[bytes]:
        at = offset
        while block := file.read(BLOCK):
            yield block
            at += len(block)
            sent(at, size)

    headers = {"Content-Length": str(size - offset), "Content-Type": "application/octet-stream"}
    if offset:
        headers["Content-Range"] = f"bytes {offset}-{size - 1}/{size}"
    file.seek(offset)
    raise_for(client.send("PUT", f"/uploads/{sha256}", content=blocks(), headers=headers))
