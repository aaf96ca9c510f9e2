from __future__ import annotations

import gzip
import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from arena.api.app import make_api
from arena.container import Arena
from tests.arena.conftest import Commands, settings_of

FORMER = Path(__file__).parents[2] / "golden" / "former_arena"
ROUNDS = ("waves", "people", "asked")
GONE = (".digit_scan_differs", ".canaries", ".estimated", ".live", ".priority", ".waves")
"""Last parts of the paths of removed features."""


def restored(run: Commands, sql: str) -> None:
    """Restore a dump as the database of the commands."""
    database = run.home / "arena.sqlite"
    database.unlink()
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript(sql)


@pytest.fixture
def former(run: Commands) -> Commands:
    """Commands whose home is the former arena."""
    restored(run, gzip.decompress((FORMER / "store.sql.gz").read_bytes()).decode())
    return run


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(gzip.decompress((FORMER / "expected.json.gz").read_bytes()))
    return data


def changes(before: Any, now: Any, place: str = "", gone: tuple[str, ...] = GONE) -> Iterator[str]:  # noqa: ANN401 - any JSON
    """Return the paths where a former value is missing or differs; new keys are allowed."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key, value in before.items():
            inside = f"{place}.{key}"
            if not inside.endswith(gone):
                yield from changes(value, now[key], inside, gone) if key in now else [f"{inside} is missing"]
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for index, (former_item, item) in enumerate(zip(before, now, strict=True)):
            yield from changes(former_item, item, f"{place}[{index}]", gone)
    elif before != now:
        yield f"{place}: {before!r} is now {now!r}"


def as_skipped(record: dict[str, Any]) -> dict[str, Any]:
    """Count the estimated battles of a battle or round status as skipped."""
    detail = "The judge was not asked."
    if record.get("outcome") == "estimated":
        return {**record, "outcome": "skipped", "detail": detail}
    if count := record.get("estimated"):
        reason = {"outcome": "skipped", "reason": detail, "battles": count}
        return {**record, "skipped": record["skipped"] + count, "reasons": [reason, *record["reasons"]]}
    return record


@pytest.mark.parametrize("name", ROUNDS)
def test_former_board_keeps_its_values(former: Commands, expected: dict[str, Any], name: str) -> None:
    board = former.json("leaderboard", "show", name, "--json")
    assert list(changes(expected["boards"][name], board)) == []


@pytest.mark.parametrize("name", ROUNDS)
def test_former_round_exports_equal_battles(
    former: Commands, expected: dict[str, Any], name: str, tmp_path: Path
) -> None:
    status = former.json("rounds", "status", name, "--json")
    assert list(changes(as_skipped(expected["statuses"][name]), status)) == []
    former.done("rounds", "export", name, tmp_path / "export")
    files = expected["exports"][name]
    battles = (tmp_path / "export" / "battles.jsonl").read_text(encoding="utf-8").splitlines()
    assert battles == files["battles.jsonl"]
    outcomes = (tmp_path / "export" / "outcomes.jsonl").read_text(encoding="utf-8").splitlines()
    assert list(map(json.loads, outcomes)) == [
        as_skipped(json.loads(line)) for line in files["outcomes.jsonl"]
    ]
    judgments = [
        json.loads(line)
        for line in (tmp_path / "export" / "judgments.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    for judgment in judgments:
        judgment["rationale"] = hashlib.sha256(judgment["rationale"].encode()).hexdigest()
    assert list(changes(files["judgments.jsonl"], judgments)) == []


def test_old_database_keeps_submissions_and_scores(former: Commands, expected: dict[str, Any]) -> None:
    submissions = former.json("submissions", "list", "--json")
    assert list(changes(expected["submissions"], submissions)) == []
    for metric, table in expected["scores"].items():
        scores = former.json(
            "metrics", "show", "--set", "mini", "--metric", metric, "--by", "question", "--json"
        )
        # Covered facts are counted differently now, so the former mean share has changed.
        gone = (*GONE, ".notes", *((".measures.share", "].share") if metric == "reference-coverage" else ()))
        assert list(changes(table, scores, metric, gone)) == []


STORE = Path(__file__).parents[2] / "golden" / "former_store"
GONE_OF_STORE = (
    *(".books.estimated", ".judge.endpoint", ".judge.source", "status.canaries", "status.controls"),
    *("status.digit_scan_differs", "status.estimated", "status.job.priority", "status.live"),
    *("rounds.rounds[0].estimated", "rounds/r.estimated", "submissions/2.sight"),
)
"""Last parts of the paths of removed features and of calls to a model."""


def read(path: Path) -> list[Any]:
    text = path.read_text(encoding="utf-8")
    return [json.loads(text)] if path.suffix == ".json" else list(map(json.loads, text.splitlines()))


def test_older_boards_and_exports_are_unchanged(run: Commands, tmp_path: Path) -> None:
    restored(run, (STORE / "store.sql").read_text(encoding="utf-8"))
    board = run.json("leaderboard", "show", "r", "--json")
    assert len(board.pop("grid")["systems"]) > 1
    assert board == json.loads((STORE / "board.json").read_text())
    status = run.json("rounds", "status", "r", "--json")
    former_status = json.loads((STORE / "status.json").read_text())
    assert list(changes(former_status, status, "status", GONE_OF_STORE)) == []
    run.done("rounds", "export", "r", tmp_path / "export")
    for name in ("battles.jsonl", "outcomes.jsonl", "standings.json"):
        assert (tmp_path / "export" / name).read_bytes() == (STORE / "export" / name).read_bytes()
    for name in ("judgments.jsonl", "round.json"):
        before, now = (read(folder / name) for folder in (STORE / "export", tmp_path / "export"))
        assert list(changes(before, now, name, GONE_OF_STORE)) == []
    for folder in (STORE / "export", tmp_path / "export"):
        run.done("rounds", "verify", folder)
    assert run.json("rounds", "publish", "r", "--json")["content_hash"].startswith("32315b32e790")


@pytest.mark.slow
def test_older_api_replies_are_unchanged(run: Commands) -> None:
    restored(run, (STORE / "store.sql").read_text(encoding="utf-8"))
    settings = settings_of(run.home)
    with closing(Arena(settings)) as arena, TestClient(make_api(arena)) as api:
        for answer in read(STORE / "api.jsonl"):
            path = answer["path"]
            assert list(changes(answer["reply"], api.get(f"/{path}").json(), path, GONE_OF_STORE)) == []
