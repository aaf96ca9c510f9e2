from __future__ import annotations

import gc
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import Connection, event
from starlette.applications import Starlette
from starlette.testclient import TestClient

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from arena.services.system import ALLOCATIONS, make_private, metrics_of, rare_collections
from arena.settings import MetricsAccess, Settings
from arena.site.app import metrics_route
from data.errors import StoreError
from tests.arena.conftest import Fill, Serve, play, quiet, settings_of, until, write_answers, write_set
from tests.served import ROOT, environment_of


def test_overlapping_calls_restore_collector() -> None:
    before = gc.get_threshold()
    collected = [generation["collections"] for generation in gc.get_stats()]
    first, second = rare_collections(), rare_collections()
    first.__enter__()
    second.__enter__()
    assert gc.get_threshold() == (ALLOCATIONS, *before[1:])
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    assert gc.get_threshold() == before
    assert [generation["collections"] for generation in gc.get_stats()][2] == collected[2]


def _open_to_others(folder: Path) -> list[Path]:
    return [path for path in (folder, *folder.rglob("*")) if path.lstat().st_mode & 0o077]


@pytest.mark.slow
def test_files_of_commands_are_private(tmp_path: Path) -> None:
    home = tmp_path / "home"
    commands = (
        f"sets import {write_set(tmp_path)}",
        "judges price some-model 1 2",
        f"db backup {tmp_path / 'backup'}",
    )
    script = (
        "import os, sys; from contextlib import suppress; from arena.cli import main; os.umask(0)\n"
        "for words in sys.argv[1:]:\n"
        "    sys.argv = ['arena', *words.split()]\n"
        "    with suppress(SystemExit): main()\n"
    )
    command = [sys.executable, "-c", script, *commands]
    subprocess.run(command, cwd=ROOT, env=environment_of(settings_of(home)), check=True)
    assert (home / "arena.sqlite").is_file()
    assert len([*home.iterdir()]) > 1
    for made in (home, tmp_path / "backup"):
        assert _open_to_others(made) == []


def test_old_home_is_made_private(tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    (home / "judges").mkdir(parents=True)
    for path in (home / "arena.sqlite", home / "judges" / "a.toml", elsewhere):
        path.write_text("x")
    (home / "link").symlink_to(elsewhere)
    for path in (home, *home.rglob("*"), elsewhere):
        path.chmod(0o755 if path.is_dir() else 0o644)
    url = f"sqlite:///{home / 'arena.sqlite'}"
    assert "4 files and folders are now private" in make_private(home, url)
    assert _open_to_others(home / "judges") == []
    assert home.stat().st_mode & 0o777 == 0o700
    assert elsewhere.stat().st_mode & 0o777 == 0o644
    assert make_private(home, url) == ""
    assert make_private(tmp_path / "none", "postgresql://x/y") == ""
    other = tmp_path / "other.sqlite-wal"
    for path in (tmp_path / "other.sqlite", other):
        path.write_text("x")
        path.chmod(0o644)
    assert make_private(home, f"sqlite:///{tmp_path / 'other.sqlite'}")
    assert other.stat().st_mode & 0o777 == 0o600


REQUEST = RoundRequest(set_name="tiny", judge="reference-free", name="r", pairs="all")


def test_full_disk_stops_round_and_keeps_committed_verdicts(filled: Fill, scripted_llm: Serve) -> None:
    """On a full disk, the command prints an error; with space again, the round continues."""
    arena, most = filled(endpoint=scripted_llm().url), [1]
    arena.rounds.create(REQUEST)

    @event.listens_for(arena.store.database.engine, "begin")
    def limit(connection: Connection) -> None:
        connection.exec_driver_sql(f"PRAGMA max_page_count = {most[0]}")

    with pytest.raises(StoreError, match="cannot be used"):
        arena.rounds.run("r", concurrency=4, report=quiet)
    assert arena.rounds.status("r")[1].judged < 72
    most[0] = 1_000_000
    counts = arena.rounds.run("r", concurrency=4, report=quiet)
    assert (counts.judged, counts.pending) == (72, 0)


KEY = "sk-hush-1234567890"


def test_metrics_count_database_rows(filled: Fill) -> None:
    arena = filled()
    play(arena, "one")
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", pairs="all", name="two"))
    arena.jobs.judge("two")
    values = {
        (sample.name, "".join(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(metrics_of(arena.store).decode())
        for sample in family.samples
    }
    assert values["arena_rounds", "finished"] == values["arena_rounds", "planned"] == 1
    assert (values["arena_jobs", "done"], values["arena_jobs", "queued"]) == (1, 1)
    assert values["arena_battles", "pending"] == 72
    assert values["arena_workers", ""] == 0
    assert values["arena_queue_age_seconds", ""] > 0
    assert values["arena_boards", ""] == values["arena_spent_usd", ""] == 0
    assert ("process_resident_memory_bytes", "") in values


def test_metrics_require_token(make_arena: Fill) -> None:
    """Metrics need the token; without one they are closed unless declared open."""
    for token, access, right in (
        (KEY, MetricsAccess.TOKEN, (401, 401, 200)),
        (None, MetricsAccess.TOKEN, (401, 401, 401)),
        (None, MetricsAccess.OPEN, (200, 200, 200)),
    ):
        arena = make_arena(metrics_token=token, metrics_access=access)
        sent = ({}, *({"Authorization": f"Bearer {key}"} for key in (None, KEY)))
        with TestClient(Starlette(routes=[metrics_route(arena)])) as client:
            response = [client.get("/metrics", headers=headers) for headers in sent]
        assert tuple(item.status_code for item in response) == right
        for item in response:
            advice = item.json()["advice"] if item.status_code == 401 else ""
            assert ("arena_rounds" in item.text) == (item.status_code == 200)
            assert ("ARENA_METRICS_TOKEN" in advice) == (item.status_code == 401 and token is None)


def test_metrics_report_unavailable_database(tmp_path: Path) -> None:
    url = "postgresql+psycopg://arena:hush-hush@127.0.0.1:9/arena"
    arena = Arena(Settings(home=tmp_path, database_url=url, metrics_access=MetricsAccess.OPEN))
    with TestClient(Starlette(routes=[metrics_route(arena)])) as client:
        response = client.get("/metrics")
    assert (response.status_code, len(response.text.splitlines())) == (503, 1)
    assert "hush-hush" not in response.text


ANSWER = "Item {n} is {word}, as far as I know."
Received = tuple[str, list[dict[str, str]]]


@pytest.fixture
def receiver() -> Iterator[Received]:
    """Web server that records messages, and its apprise address."""
    messages: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            messages.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"json://127.0.0.1:{server.server_address[1]}/secret", messages
    server.shutdown()
    thread.join()
    server.server_close()


def test_events_are_posted_to_address(
    filled: Fill, scripted_llm: Serve, receiver: Received, tmp_path: Path
) -> None:
    address, messages = receiver
    arena = filled(notify=address, public_url="https://arena.example", endpoint=scripted_llm(rule="hash").url)
    path = write_answers(tmp_path / "new.jsonl", (ANSWER,), 12)
    arena.submissions.add(path, "tiny", system="new", team="ours")
    play(arena, judge="reference-free", budget_usd=0.002)
    until(lambda: len(messages) == 3)
    texts = {message["title"]: message["message"] for message in messages}
    assert set(texts) == {
        f"Answer Arena: {event}" for event in ("submission accepted", "cap reached", "round finished")
    }
    accepted = texts["Answer Arena: submission accepted"]
    assert accepted == "new, version 1 of ours was accepted on tiny.\nhttps://arena.example/team"
    assert "its cap of 0.002 USD" in texts["Answer Arena: cap reached"]


@pytest.mark.parametrize(
    ("address", "fails"), [("json://127.0.0.1:9/secret", True), ("no-address", True), ("", False)]
)
def test_failed_notification_is_only_logged(
    filled: Fill, tmp_path: Path, capfd: pytest.CaptureFixture[str], address: str, *, fails: bool
) -> None:
    """Unreachable servers and invalid addresses are logged; without an address nothing is sent."""
    arena = Arena(replace(filled().settings, notify=address))
    path = write_answers(tmp_path / "new.jsonl", (ANSWER,), 12)
    submission = arena.submissions.add(path, "tiny", system="new", team="ours").submission
    sent = [thread for thread in threading.enumerate() if thread.name == "notification"]
    for thread in sent:
        thread.join()
    logged = "".join(capfd.readouterr())
    arena.close()
    assert submission.state.value == "accepted"
    assert ("notification.failed" in logged) is fails
    assert fails or not sent
    assert "secret" not in logged
