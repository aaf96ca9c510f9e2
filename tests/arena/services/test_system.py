"""The process and its files: rare collections, private files, a full disk, `/metrics`."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.testclient import TestClient

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from arena.services.system import ALLOCATIONS, made_private, metrics_of, rare_collections
from arena.settings import MetricsAccess, Settings
from arena.site.app import metrics_route
from data.errors import StoreError
from tests.arena.api.conftest import ROOT, without
from tests.arena.conftest import Fill, Serve, write_set


def test_the_collector_is_as_before_afterwards() -> None:
    """Judging changes how often cycles are looked for, and puts it back even when it fails."""

    def judge() -> None:
        with rare_collections():
            assert gc.get_threshold() == (ALLOCATIONS, *before[1:])
            raise RuntimeError

    before = gc.get_threshold()
    with pytest.raises(RuntimeError):
        judge()
    assert gc.get_threshold() == before
    assert gc.isenabled()


def test_what_was_there_before_is_neither_searched_nor_moved() -> None:
    """To compute a board costs no full collection, however much the process holds."""
    collected = [generation["collections"] for generation in gc.get_stats()]
    with rare_collections():
        pass
    assert [generation["collections"] for generation in gc.get_stats()][2] == collected[2]


def test_overlapping_calls_leave_what_was_there_before_all() -> None:
    """Whichever of two uploads at once ends first, the collector is afterwards as before both."""
    before = gc.get_threshold()
    first, second = rare_collections(), rare_collections()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    assert gc.get_threshold() == before


def _open_to_others(folder: Path) -> list[Path]:
    return [path for path in (folder, *folder.rglob("*")) if path.lstat().st_mode & 0o077]


@pytest.mark.slow
def test_whatever_commands_write_is_their_users_alone(tmp_path: Path) -> None:
    """Home, database, its log, backup and judges' files have no rights for others under any umask."""
    home = tmp_path / "home"
    environment = {**without("ARENA_"), "ARENA_HOME": str(home)}
    script = " && ".join(
        f"{sys.executable} -m arena {words}"
        for words in (
            f"sets import {write_set(tmp_path)}",
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


REQUEST = RoundRequest(set_name="tiny", judge="reference-free", name="r", pairs="all")


def test_full_disk_stops_a_round_and_keeps_what_is_committed(
    filled: Fill, scripted_llm: Serve, tmp_path: Path
) -> None:
    """SQLite without room: the command says so in a line; with room again, the round goes on."""
    server = scripted_llm()
    arena = filled(endpoint=server.url)
    arena.rounds.create(REQUEST)
    path = Path(arena.store.database.url.database or "")
    arena.close()
    small, room = tmp_path / "small", 0
    small.mkdir()
    if os.getuid() != 0 or shutil.which("mount") is None:
        pytest.skip("NOT ROOT: a full disk is not tested")
    room = path.stat().st_size * 2 + 160_000
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={room}", "tmpfs", str(small)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("NO tmpfs may be mounted: a full disk is not tested")
    try:
        shutil.copy(path, small / "arena.sqlite")
        full = Arena(replace(arena.settings, database_url=f"sqlite:///{small / 'arena.sqlite'}"))
        filler = (small / "filler").open("wb")
        with contextlib.suppress(OSError), filler:
            filler.write(b"x" * (room - path.stat().st_size - 90_000))
        with pytest.raises(StoreError, match="cannot be used"):
            full.rounds.run("r", concurrency=4, report=lambda _progress: None)
        (small / "filler").unlink(missing_ok=True)
        before = full.rounds.status("r")[1].judged
        subprocess.run(["mount", "-o", "remount,size=64m", str(small)], check=True)
        counts = full.rounds.run("r", concurrency=4, report=lambda _progress: None)
        assert (counts.judged, counts.pending) == (72, 0)
        assert before <= 72
        full.close()
    finally:
        subprocess.run(["umount", "-l", str(small)], check=False)


KEY = "sk-hush-1234567890"


def _values(text: str) -> dict[tuple[str, str], float]:
    return {
        (sample.name, "".join(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.mark.slow
def test_metrics_are_the_database_in_numbers(filled: Fill, database_url: str) -> None:
    """Rounds and jobs by state, battles, judgments and workers are what the store holds."""
    arena = filled(database_url=database_url)
    for name in ("one", "two"):
        arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", pairs="all", name=name))
    arena.rounds.run("one", concurrency=2, report=lambda _progress: None)
    arena.jobs.judge("two")
    found = _values(metrics_of(arena.store).decode())
    assert found["arena_rounds", "finished"] == found["arena_rounds", "planned"] == 1
    assert (found["arena_jobs", "done"], found["arena_jobs", "queued"]) == (1, 1)
    assert found["arena_battles", "pending"] == 72
    assert found["arena_workers", ""] == 0
    assert found["arena_queue_age_seconds", ""] > 0
    assert found["arena_boards", ""] == found["arena_spent_usd", ""] == 0
    assert ("process_resident_memory_bytes", "") in found


def test_metrics_ask_for_their_token(make_arena: Fill) -> None:
    """C5: Who bears the token reads the metrics; nobody where none is set; all where they are open."""
    for token, access, right in (
        (KEY, MetricsAccess.TOKEN, (401, 401, 200)),
        (None, MetricsAccess.TOKEN, (401, 401, 401)),
        (None, MetricsAccess.OPEN, (200, 200, 200)),
    ):
        arena = make_arena(metrics_token=token, metrics_access=access)
        sent: tuple[dict[str, str], ...] = (
            {},
            {"Authorization": "Bearer None"},
            {"Authorization": f"Bearer {KEY}"},
        )
        with TestClient(Starlette(routes=[metrics_route(arena)])) as client:
            found = [client.get("/metrics", headers=headers) for headers in sent]
        assert tuple(one.status_code for one in found) == right
        for one in found:
            advice = one.json()["advice"] if one.status_code == 401 else ""
            assert ("arena_rounds" in one.text) == (one.status_code == 200)
            assert ("ARENA_METRICS_TOKEN" in advice) == (one.status_code == 401 and token is None)


def test_metrics_say_when_the_database_is_away(tmp_path: Path) -> None:
    url = "postgresql+psycopg://arena:hush-hush@127.0.0.1:9/arena"
    arena = Arena(Settings(home=tmp_path, database_url=url, metrics_access=MetricsAccess.OPEN))
    with TestClient(Starlette(routes=[metrics_route(arena)])) as client:
        found = client.get("/metrics")
    assert (found.status_code, len(found.text.splitlines())) == (503, 1)
    assert "hush-hush" not in found.text
