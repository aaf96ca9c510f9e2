"""Files that are the arena's alone: its database and home hold answers, references and secrets."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

OTHERS = 0o077
BESIDE = ("", "-wal", "-shm", "-journal")
"""How the files of SQLite's database end."""


def made_private(home: Path, database_url: str) -> str:
    """Take everybody else's rights from a home that was made before, and from its database.

    A home that is closed already is not walked through: nobody else gets at what is in it.

    Returns:
        What was done in a sentence, empty where there was nothing to do.
    """
    exposed = [path for path in _looked_at(home, database_url) if _rights(path) & OTHERS]
    refused = [path for path in exposed if not _close(path)]
    if refused:
        return f"{refused[0]} can be read by others, and is not this user's to close: use `chmod go=`."
    if not exposed:
        return ""
    return f"{home} could be read by others: {len(exposed):,} files and folders are closed to them now."


def _looked_at(home: Path, database_url: str) -> Iterator[Path]:
    if home.is_dir() and _rights(home) & OTHERS:
        yield home
        for folder, folders, files in os.walk(home):
            yield from (Path(folder, name) for name in (*folders, *files))
    if database_url.startswith("sqlite:///"):
        database = Path(database_url.removeprefix("sqlite:///"))
        if not database.is_relative_to(home):
            yield from (path for end in BESIDE if (path := Path(f"{database}{end}")).is_file())


def _rights(path: Path) -> int:
    """The rights to a file or folder; none where it is a link or gone."""
    try:
        found = path.lstat().st_mode
    except OSError:
        return 0
    return 0 if stat.S_ISLNK(found) else stat.S_IMODE(found)


def _close(path: Path) -> bool:
    try:
        path.chmod(_rights(path) & ~OTHERS)
    except OSError:
        return False
    return True
