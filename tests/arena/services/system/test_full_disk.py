"""A disk that is full: what command, worker and site say, what stays, and that all go on with room again."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, NullPool, create_engine, inspect, text

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.rounds.models import RoundRequest
from data.errors import StoreError
from data.models import RoundState, TokenScope

ROOT = Path(__file__).parents[4]
REQUEST = RoundRequest(set_name="tiny", judge="reference-free", name="r", pairs="all")
# What the server says of itself where a file cannot grow: SQLSTATE 53100, at the first write of a statement.
FULL = """
CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$
"""


def test_full_disk_stops_a_round_and_keeps_what_is_committed(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any], tmp_path: Path
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


def _fill(engine: Engine) -> None:
    """Let every write fail as on a full disk."""
    with engine.begin() as connection:
        connection.execute(text(FULL))
        for table in inspect(connection).get_table_names():
            event = f'BEFORE INSERT OR UPDATE OR DELETE ON "{table}"'
            connection.execute(
                text(f"CREATE TRIGGER full_disk {event} FOR EACH STATEMENT EXECUTE FUNCTION full_disk()")
            )


def _make_room(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("DROP FUNCTION full_disk CASCADE"))


def _get(address: str, body: bytes | None = None, **headers: str) -> tuple[int, str]:
    request = urllib.request.Request(address, data=body, headers=headers)  # noqa: S310 - our own address
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - as above
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except urllib.error.URLError:
        return 0, "nobody listens yet"


@pytest.mark.slow
@pytest.mark.postgres
def test_full_disk_of_a_server_is_told_and_waited_for(
    filled: Callable[..., Arena],
    scripted_llm: Callable[..., Any],
    postgres_url: Callable[[], str],
    tmp_path: Path,
    start: Callable[..., subprocess.Popen[str]],
    until: Callable[..., None],
) -> None:
    """PostgreSQL without room: commands end with a line, the site says 503, reads go on, the worker waits."""
    server = scripted_llm(latency=0.4)
    arena = filled(database_url=postgres_url(), endpoint=server.url)
    arena.teams.add_account("ada", is_organiser=True, caller=OPERATOR)
    token = arena.tokens.create(name="t", scopes=[TokenScope.ORGANISE], account="ada", caller=OPERATOR).secret
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    start(arena, "serve", "--port", str(port))
    log, site = tmp_path / "log-0", f"http://127.0.0.1:{port}"
    until(lambda: "worker.started" in log.read_text() and _get(f"{site}/healthz")[0] == 200)
    arena.rounds.create(REQUEST)
    arena.jobs.judge("r", options={"concurrency": 4})
    until(lambda: arena.rounds.status("r")[1].judged > 8)
    engine = create_engine(arena.settings.database_url, poolclass=NullPool)
    _fill(engine)
    until(lambda: "job.broken_off" in log.read_text())
    judged = arena.rounds.status("r")[1].judged
    with pytest.raises(StoreError, match="No space left on device"):
        arena.rounds.pause("r")
    done = subprocess.run(
        [sys.executable, "-m", "arena", "rounds", "pause", "r"],
        cwd=ROOT,
        env={**os.environ, "ARENA_DATABASE_URL": arena.settings.database_url},  # noqa: TID251 - as any process
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "No space left on device" in done.stderr
    assert _get(f"{site}/healthz")[0] == 200
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    status, said = _get(f"{site}/api/v1/submissions/2/withdraw", b"{}", **headers)
    assert status == 503, said
    _make_room(engine)
    until(lambda: arena.rounds.status("r")[0].state is RoundState.FINISHED)
    counts = arena.rounds.status("r")[1]
    assert (counts.judged, counts.pending) == (72, 0)
    assert judged <= server.log.calls <= 72 + 2 * 4
    assert "Traceback" not in log.read_text()
