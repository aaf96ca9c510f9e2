from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from data.errors import StoreError
from data.models import RoundState
from data.store.engine import Database, newest_version
from tests.arena.conftest import Fill, Serve, start, until

ROOT = Path(__file__).parents[4]


@contextlib.contextmanager
def away(url: str) -> Iterator[None]:
    """Block all connections to a database, open ones too, until the end of the block."""
    name = make_url(url).database
    server = create_engine(make_url(url).set(database="postgres"), isolation_level="AUTOCOMMIT")
    ends = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"  # noqa: S608 - ours
    with server.connect() as connection:
        connection.execute(text(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false"))
        try:
            connection.execute(text(ends))
            yield
        finally:
            connection.execute(text(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true"))
    server.dispose()


def finished(arena: Arena) -> bool:
    """Return whether the round has ended; False while the database is away."""
    with contextlib.suppress(StoreError):
        return arena.rounds.status("r")[0].state is RoundState.FINISHED
    return False


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_worker_survives_database_outage(
    database_url: str, filled: Fill, scripted_llm: Serve, tmp_path: Path
) -> None:
    server = scripted_llm(latency=0.2)
    arena = filled(database_url=database_url, endpoint=server.url)
    arena.rounds.create(RoundRequest(set_name="tiny", judge="reference-free", name="r", pairs="all"))
    arena.jobs.judge("r", options={"concurrency": 4})
    with away(database_url):
        assert start(arena, "rounds", "status", "r").wait(60) == 1
        assert len((tmp_path / "log-0").read_text().splitlines()) == 1
        worker, log = start(arena, "worker"), tmp_path / "log-1"
        until(lambda: "worker.database_away" in log.read_text())
    until(lambda: server.log.replied.total() > 8)
    with away(database_url):
        with pytest.raises(StoreError, match="cannot be used"):
            arena.rounds.status("r")
        time.sleep(1)
        assert worker.poll() is None
    until(lambda: finished(arena))
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(30) == 0
    counts = arena.rounds.status("r")[1]
    assert (counts.judged, counts.pending) == (72, 0)
    # Calls in flight at the outage may be repeated.
    assert server.log.calls <= 72 + 2 * 4
    assert "Traceback" not in log.read_text()


@pytest.mark.slow
@pytest.mark.blank
def test_upgrades_wait_for_each_other(database_url: str) -> None:
    command = "import sys; from data.store.engine import Database; Database(sys.argv[1]).upgrade()"
    begun = [
        subprocess.Popen([sys.executable, "-c", command, database_url], cwd=ROOT, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    assert [(process.communicate()[1][-300:], process.returncode) for process in begun] == [(b"", 0)] * 2
    with contextlib.closing(Database(database_url)) as database:
        assert database.version() == newest_version()
