"""`arena serve DIR`: the folder of a ranking as a site, whose user owns it where nobody else can reach it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from arena.container import open_arena
from arena.services.accounts.auth import OWNER, PUBLIC
from arena.settings import Settings
from tests.arena.conftest import Commands


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Settings, dict[str, str]]]:
    """Record each call that serves the site: place, settings, and the environment of its worker."""
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
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row) + "\n")
    out = tmp_path / "board"
    code, _, err = run("rank", tmp_path / "good.jsonl", tmp_path / "bad.jsonl", "--out", out)
    assert code == 0, err
    return out


def test_owner_needs_no_sign_in_on_this_machine_alone(
    run: Commands, ranking: Path, served: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On 127.0.0.1 whoever opens the site is its owner; anywhere else they are nobody until they sign in."""
    assert run("serve", ranking)[0] == 0
    assert run("serve", ranking, "--host", "0.0.0.0")[0] == 0  # noqa: S104 - nothing is bound
    monkeypatch.setenv("ARENA_PUBLIC_URL", "https://arena.example.org")
    assert run("serve", ranking)[0] == 0
    callers = []
    for _, settings, environment in served:
        assert settings.home == ranking
        assert environment["ARENA_HOME"] == str(ranking)
        arena = open_arena(settings)
        callers.append(arena.sessions.who(None))
        assert [board.name for board in arena.boards.heads()] == ["rank-1"]
        arena.close()
    assert callers == [OWNER, PUBLIC, PUBLIC]


def test_a_folder_of_other_things_is_refused_and_a_new_one_opened(
    run: Commands, tmp_path: Path, served: list[Any]
) -> None:
    """In a new folder its owner makes boards by the page; what somebody else's folder holds stays alone."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").write_text("")
    code, _, err = run("serve", other)
    assert code == 1
    assert "holds no ranking" in err
    assert not served
    assert [path.name for path in other.iterdir()] == ["thesis.tex"]
    assert run("serve", tmp_path / "new")[0] == 0
    (_, settings, _), *_ = served
    assert settings.sole_owner
    assert settings.home == tmp_path / "new"
