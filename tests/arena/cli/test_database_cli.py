"""`arena db`: upgrade, status, backup, restore."""

from __future__ import annotations

from pathlib import Path

from data.store.engine import newest_version
from tests.arena.conftest import Commands


def test_database_commands(run: Commands, tmp_path: Path) -> None:
    """A backup is restored over a database with `--replace` alone; errors are one line."""
    assert run.json("db", "upgrade", "--json")["after"] == newest_version()
    assert run.json("db", "status", "--check", "--json")["checked"] == "no damage"
    file = tmp_path / "arena.backup"
    assert run.json("db", "backup", file, "--json")["bytes"] == file.stat().st_size
    assert run("db", "restore", file, "--replace")[0] == 0
    for words in (
        ("backup", file),
        ("backup", file / "below"),
        ("restore", tmp_path / "nothing", "--replace"),
    ):
        code, _, err = run("db", *words)
        assert (code, len(err.splitlines())) == (1, 1)
