"""An arena that was made before layers were folded: its board, its export and its replies are the same."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from arena.settings import Settings
from tests.arena.api.conftest import running_server
from tests.arena.api.test_former_arena import changes
from tests.arena.conftest import Commands
from tests.served import program

FORMER = Path(__file__).parents[2] / "golden" / "former_store"
GONE = (
    *(".books.estimated", ".judge.endpoint", ".judge.source", "status.canaries", "status.controls"),
    *("status.digit_scan_differs", "status.estimated", "status.job.priority", "status.live"),
    *("rounds.rounds[0].estimated", "rounds/r.estimated", "submissions/2.sight"),
)
"""Ends of the places of removed features, and where a model is asked."""


def of_before(run: Commands) -> None:
    """Put the arena of before into the home of the commands."""
    database = run.home / "arena.sqlite"
    database.unlink()
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript((FORMER / "store.sql").read_text(encoding="utf-8"))


def read(path: Path) -> list[Any]:
    """The values of a file of JSON, or of its lines."""
    text = path.read_text(encoding="utf-8")
    return [json.loads(text)] if path.suffix == ".json" else list(map(json.loads, text.splitlines()))


def test_boards_and_exports_of_before_are_the_same(run: Commands, tmp_path: Path) -> None:
    of_before(run)
    assert run.json("leaderboard", "show", "r", "--json") == json.loads((FORMER / "board.json").read_text())
    status = run.json("rounds", "status", "r", "--json")
    former_status = json.loads((FORMER / "status.json").read_text())
    assert list(changes(former_status, status, "status", GONE)) == []
    assert run("rounds", "export", "r", tmp_path / "export")[0] == 0
    for name in ("battles.jsonl", "outcomes.jsonl", "standings.json"):
        assert (tmp_path / "export" / name).read_bytes() == (FORMER / "export" / name).read_bytes()
    for name in ("judgments.jsonl", "round.json"):
        before, now = (read(folder / name) for folder in (FORMER / "export", tmp_path / "export"))
        assert list(changes(before, now, name, GONE)) == []
    for folder in (FORMER / "export", tmp_path / "export"):
        assert run("rounds", "verify", folder)[0] == 0
    assert run.json("rounds", "publish", "r", "--json")["content_hash"].startswith("32315b32e790")


@pytest.mark.slow
def test_replies_of_the_api_of_before_are_the_same(run: Commands, tmp_path: Path) -> None:
    of_before(run)
    settings = Settings(home=run.home, database_url=f"sqlite:///{run.home / 'arena.sqlite'}")
    with (
        running_server(program(), settings, tmp_path / "log") as address,
        httpx.Client(base_url=address) as api,
    ):
        for answer in read(FORMER / "api.jsonl"):
            path = answer["path"]
            assert list(changes(answer["reply"], api.get(f"/{path}").json(), path, GONE)) == []
