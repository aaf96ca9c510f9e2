"""`arena db` and `arena serve`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from arena.container import open_arena
from arena.services.accounts.auth import OWNER, PUBLIC
from arena.settings import Settings
from data.store.engine import newest_version
from tests.arena.conftest import Commands, Fill, write_lines


def test_database_commands_run(run: Commands, tmp_path: Path) -> None:
    assert run.json("db", "upgrade", "--json")["after"] == newest_version()
    assert run.json("db", "status", "--check", "--json")["checked"] == "no damage"
    file = tmp_path / "arena.backup"
    assert run.json("db", "backup", file, "--json")["bytes"] == file.stat().st_size
    run.done("db", "restore", file, "--replace")
    nothing = ("restore", tmp_path / "nothing", "--replace")
    for words in (("backup", file), ("backup", file / "below"), nothing):
        assert len(run.fails("db", *words).splitlines()) == 1


def test_backup_of_damaged_database_is_refused_in_one_line(
    run: Commands, filled: Fill, tmp_path: Path
) -> None:
    filled().close()
    file = run.home / "arena.sqlite"
    with file.open("r+b") as raw:
        raw.seek(file.stat().st_size // 2 // 4096 * 4096)
        raw.write(b"\xff" * 8192)
    message = run.fails("db", "backup", tmp_path / "arena.backup")
    assert "is damaged" in message
    assert len(message.splitlines()) == 1
    assert not list(tmp_path.glob("*arena.backup*"))


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Settings, dict[str, str]]]:
    """Record calls that serve the site: folder, settings, and the worker's environment."""
    calls: list[Any] = []
    environments: list[dict[str, str]] = []

    @contextmanager
    def worker(*_: object, environment: dict[str, str]) -> Iterator[None]:
        environments.append(environment)
        yield

    monkeypatch.setattr("arena.workers.supervisor.supervised_worker", worker)
    monkeypatch.setattr("arena.site.server.check_port", lambda *_: None)
    monkeypatch.setattr(
        "arena.site.server.serve_site",
        lambda host, _, settings: calls.append((host, settings, environments[-1])),
    )
    return calls


@pytest.fixture
def ranking(run: Commands, tmp_path: Path) -> Path:
    """A small ranking."""
    for name, text in (("good", "Rain is water that falls."), ("bad", "No idea at all.")):
        row = {"question": "What is rain?", "answer": text, "reference": "Rain is water that falls."}
        write_lines(tmp_path / f"{name}.jsonl", [row])
    out = tmp_path / "board"
    run.done("rank", tmp_path / "good.jsonl", tmp_path / "bad.jsonl", "--out", out)
    return out


def test_owner_needs_no_sign_in_on_localhost(
    run: Commands, ranking: Path, served: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    run.done("serve", ranking)
    run.done("serve", ranking, "--host", "0.0.0.0")  # noqa: S104 - nothing is bound
    monkeypatch.setenv("ARENA_PUBLIC_URL", "https://arena.example.org")
    run.done("serve", ranking)
    callers = []
    for _, settings, environment in served:
        assert settings.home == ranking
        assert environment["ARENA_HOME"] == str(ranking)
        arena = open_arena(settings)
        callers.append(arena.sessions.who(None))
        assert [board.name for board in arena.boards.heads()] == ["rank-1"]
        arena.close()
    assert callers == [OWNER, PUBLIC, PUBLIC]


def test_unrelated_folder_is_refused(run: Commands, tmp_path: Path, served: list[Any]) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").write_text("")
    assert "contains no ranking" in run.fails("serve", other)
    assert not served
    assert [path.name for path in other.iterdir()] == ["thesis.tex"]
    run.done("serve", tmp_path / "new")
    (_, settings, _), *_ = served
    assert settings.sole_owner
    assert settings.home == tmp_path / "new"
