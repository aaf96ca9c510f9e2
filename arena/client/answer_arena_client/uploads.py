"""Files as they are sent: read as a stream, folders as zip files."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import UsageError

BLOCK = 256 * 1024
Sent = Callable[[int, int], None]
"""Called with how many bytes of how many are sent."""
Blocks = Callable[[], Iterator[bytes]]


@contextmanager
def opened(path: Path, sent: Sent | None = None) -> Iterator[tuple[Blocks, int]]:
    """The blocks of a file, from its beginning each time they are asked for, and its size.

    A folder is packed into a zip file, which is removed at the end of the block.

    Raises:
        UsageError: It cannot be read, or is empty.
    """
    try:
        with packed(path) as file, file.open("rb") as stream:
            size = file.stat().st_size
            if size == 0:
                raise UsageError(f"{path.name} is empty.", advice="Write it again.")

            def blocks() -> Iterator[bytes]:
                stream.seek(0)
                while block := stream.read(BLOCK):
                    yield block
                    if sent is not None:
                        sent(stream.tell(), size)

            yield blocks, size
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", advice="Check its name.") from error


@contextmanager
def packed(path: Path) -> Iterator[Path]:
    """A file as it is, and a folder as a zip file that is removed at the end of the block."""
    if not path.is_dir():
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / f"{name_of(path)}"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
            for file in sorted(path.rglob("*")):
                if file.is_file():
                    target.write(file, file.relative_to(path))
        yield archive


def name_of(path: Path) -> str:
    """What a file, or the zip file of a folder, is called."""
    return f"{path.resolve().name or 'folder'}.zip" if path.is_dir() else path.name
