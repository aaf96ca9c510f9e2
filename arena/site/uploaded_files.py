"""Files that visitors choose on a page: how much is taken, and where it is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from arena.services.submissions.browser_files import IN_PLACE
from arena.site.browser_uploads import MOST_READ
from arena.site.services import arena
from data.errors import FileFormatError
from data.files.text_files import MEBIBYTE


def choose_file(
    label: str,
    *,
    key: str,
    types: Sequence[str] | None = None,
    most_mb: int | None = None,
    advice: str | None = None,
    on_change: Callable[[], None] | None = None,
) -> UploadedFile | None:
    """Let the visitor choose a file; the label says how large it may be, and `laid_down` where it is stored.

    Browsers refuse by a sign without words, so up to 1 GiB is sent, and the page says why it is not taken.
    `types` are endings of its name, any by default; `most_mb` is by default that of the settings.
    """
    return st.file_uploader(
        f"{label}, up to {most_mb or _most_mb():,} MiB",
        key=key,
        type=types,
        help=advice,
        on_change=on_change,
        max_upload_size=MOST_READ // MEBIBYTE,
    )


def choose_files(label: str, *, key: str, advice: str | None = None) -> list[UploadedFile]:
    """The same for any number of files."""
    return st.file_uploader(
        f"{label}, up to {_most_mb():,} MiB each",
        key=key,
        help=advice,
        accept_multiple_files=True,
        max_upload_size=MOST_READ // MEBIBYTE,
    )


@contextmanager
def laid_down(dropped: UploadedFile, *, most_mb: int | None = None) -> Iterator[Path]:
    """A chosen file on the disk, under the name that it has at its owner's, until the end of the block.

    Raises:
        FileFormatError: It is too large.
        NotFoundError: It was not used for so long that it is gone.
    """
    with _at_hand(dropped) as path:
        size, most = path.stat().st_size, most_mb or _most_mb()
        if size > most * MEBIBYTE:
            raise FileFormatError(
                f"{dropped.name} has {size / MEBIBYTE:,.1f} MiB; up to {most:,} MiB are taken.",
                advice="Bring a smaller file.",
                code="too-large",
            )
        yield path


def forget(dropped: UploadedFile) -> None:
    """Remove a chosen file that is used no more."""
    arena().browser_files.remove(dropped.file_id)


@contextmanager
def _at_hand(dropped: UploadedFile) -> Iterator[Path]:
    uploads, content = arena().uploads, dropped.getvalue()
    if content == IN_PLACE:
        with uploads.named(arena().browser_files.require(dropped.file_id), dropped.name) as path:
            yield path
    else:
        # Streamlit was started by hand, without our server: it holds the file itself.
        with uploads.scratch(dropped.name) as (path, writer):
            writer.write(content)
            writer.close()
            yield path


def _most_mb() -> int:
    return arena().browser_files.most_bytes // MEBIBYTE
