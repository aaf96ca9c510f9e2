"""An arena that was made before layers were folded: its board, its export and its replies are the same."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx

from arena.settings import Settings
from tests.arena.api.conftest import running_server
from tests.arena.conftest import Commands

FORMER = Path(__file__).parents[2] / "golden" / "former_store"
GONE = frozenset(
    {
        "round.books.estimated",
        "round.judge.endpoint",
        "round.judge.source",
        "status.canaries",
        "status.controls",
        "status.digit_scan_differs",
        "status.estimated",
        "status.job.priority",
    }
)
"""Keys of removed features, and where a model is asked."""
GONE_FROM_API = frozenset(
    {
        "rounds.rounds.estimated",
        "rounds/r.estimated",
        "submissions/2.sight",
    }
)


def changed(before: Any, now: Any, place: str) -> Iterator[str]:  # noqa: ANN401 - any JSON
    """Yield the values of the former store that changed or are gone; new ones are not listed."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key, value in before.items():
            inside = f"{place}.{key}"
            yield from changed(value, now[key], inside) if key in now else [inside]
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for one, other in zip(before, now, strict=True):
            yield from changed(one, other, place)
    elif before != now:
        yield place


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
    del former_status["live"]
    found = {*changed(former_status, status, "status")}
    assert run("rounds", "export", "r", tmp_path / "export")[0] == 0
    for name in ("battles.jsonl", "outcomes.jsonl", "standings.json"):
        assert (tmp_path / "export" / name).read_bytes() == (FORMER / "export" / name).read_bytes()
    for name in ("judgments.jsonl", "round.json"):
        found |= {*changed(read(FORMER / "export" / name), read(tmp_path / "export" / name), name[:5])}
    assert found == GONE
    for folder in (FORMER / "export", tmp_path / "export"):
        assert run("rounds", "verify", folder)[0] == 0
    assert run.json("rounds", "publish", "r", "--json")["content_hash"].startswith("32315b32e790")


def test_replies_of_the_api_of_before_are_the_same(run: Commands, program: Path, tmp_path: Path) -> None:
    of_before(run)
    settings = Settings(home=run.home, database_url=f"sqlite:///{run.home / 'arena.sqlite'}")
    with (
        running_server(program, settings, tmp_path / "log") as address,
        httpx.Client(base_url=address) as api,
    ):
        found = [
            place
            for answer in read(FORMER / "api.jsonl")
            for place in changed(answer["reply"], api.get(f"/{answer['path']}").json(), answer["path"])
        ]
    assert set(found) == GONE_FROM_API
