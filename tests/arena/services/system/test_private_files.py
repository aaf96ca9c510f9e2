"""A home is its user's alone, whatever the umask."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from arena.services.system import made_private
from tests.arena.api.conftest import ROOT, without


def _open_to_others(folder: Path) -> list[Path]:
    return [path for path in (folder, *folder.rglob("*")) if path.lstat().st_mode & 0o077]


@pytest.mark.long
def test_whatever_commands_write_is_their_users_alone(tmp_path: Path, set_folder: Path) -> None:
    """Home, database, its log, backup and judges' files have no rights for others under any umask."""
    home = tmp_path / "home"
    environment = {**without("ARENA_"), "ARENA_HOME": str(home)}
    script = " && ".join(
        f"{sys.executable} -m arena {words}"
        for words in (
            f"sets import {set_folder}",
            "judges price some-model 1 2",
            f"db backup {tmp_path / 'backup'}",
        )
    )
    subprocess.run(["sh", "-c", f"umask 000 && {script}"], cwd=ROOT, env=environment, check=True)
    assert (home / "arena.sqlite").is_file()
    assert len([*home.iterdir()]) > 1
    for made in (home, tmp_path / "backup"):
        assert _open_to_others(made) == []


def test_a_home_of_before_is_closed_with_a_line(tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    (home / "judges").mkdir(parents=True)
    for path in (home / "arena.sqlite", home / "judges" / "a.toml", elsewhere):
        path.write_text("x")
    (home / "link").symlink_to(elsewhere)
    for path in (home, *home.rglob("*"), elsewhere):
        path.chmod(0o755 if path.is_dir() else 0o644)
    url = f"sqlite:///{home / 'arena.sqlite'}"
    assert "4 files and folders are closed" in made_private(home, url)
    assert _open_to_others(home / "judges") == []
    assert home.stat().st_mode & 0o777 == 0o700
    assert elsewhere.stat().st_mode & 0o777 == 0o644
    assert made_private(home, url) == ""
    assert made_private(tmp_path / "none", "postgresql://x/y") == ""
    other = tmp_path / "other.sqlite-wal"
    for path in (tmp_path / "other.sqlite", other):
        path.write_text("x")
        path.chmod(0o644)
    assert made_private(home, f"sqlite:///{tmp_path / 'other.sqlite'}")
    assert other.stat().st_mode & 0o777 == 0o600
