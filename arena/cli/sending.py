"""How far a file is sent, on stderr."""

from __future__ import annotations

from arena.cli.output import note
from data.files import MEBIBYTE

TENTHS = 10


class BytesSent:
    """Tells the tenths of a file as they are sent; nothing of files under a megabyte."""

    def __init__(self) -> None:
        self._told = 0

    def __call__(self, done: int, total: int) -> None:
        """Take how many bytes of how many are sent."""
        tenth = TENTHS * done // max(total, 1)
        if total < MEBIBYTE or tenth == self._told:
            return
        self._told = tenth
        note(f"sent {done / MEBIBYTE:,.1f} of {total / MEBIBYTE:,.1f} MiB")
