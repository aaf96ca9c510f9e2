from __future__ import annotations

import contextlib
import os
import pwd
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from data.errors import StoreError
from data.models import RoundState
from data.store.engine import Database
from tests.arena.conftest import Fill, Serve, start, until

ROOT = Path(__file__).parents[4]
BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


class PrivateServer:
    """A PostgreSQL server of one's own that can be stopped and started."""

    def __init__(self, folder: Path) -> None:
        self._bin = BINARIES[-1]
        self._data = folder / "cluster"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self._data.mkdir()
        self._as: dict[str, Any] = {}
        if os.getuid() == 0:
            # PostgreSQL does not run as root.
            user = pwd.getpwnam("postgres")
            folder.chmod(0o755)
            os.chown(self._data, user.pw_uid, user.pw_gid)
            self._as = {"user": user.pw_uid, "group": user.pw_gid, "cwd": "/"}
        self._call("initdb", "-D", str(self._data), "-A", "trust", "-U", "postgres", "--no-sync")

    @property
    def url(self) -> str:
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-p {self.port} -k {self._data} -c listen_addresses=127.0.0.1 -c fsync=off"
        log = str(self._data / "log")
        self._call("pg_ctl", "-D", str(self._data), "-o", options, "-l", log, "-w", "start")

    def stop(self) -> None:
        self._call("pg_ctl", "-D", str(self._data), "-m", "immediate", "-w", "stop")

    def _call(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [str(self._bin / program), *arguments], check=True, stdout=subprocess.DEVNULL, **self._as
        )


@pytest.fixture
def private_postgres() -> Iterator[PrivateServer]:
    """A running server that the test may stop; gone at the end.

    Its folder is its own: any other test run closes the folder of `tmp_path` to the server's user.
    """
    if not BINARIES or not (BINARIES[-1] / "initdb").exists():
        pytest.skip("NO initdb: a database that stops mid-round is not tested on PostgreSQL")
    with tempfile.TemporaryDirectory(prefix="arena-postgres-", ignore_cleanup_errors=True) as folder:
        server = PrivateServer(Path(folder))
        server.start()
        yield server
        with contextlib.suppress(subprocess.CalledProcessError):
            server.stop()


def finished(arena: Arena) -> bool:
    """Return whether the round has ended; False while the database is away."""
    with contextlib.suppress(StoreError):
        return arena.rounds.status("r")[0].state is RoundState.FINISHED
    return False


@pytest.mark.slow
@pytest.mark.postgres
def test_worker_waits_for_its_database_and_outlives_it(
    private_postgres: PrivateServer, filled: Fill, scripted_llm: Serve, tmp_path: Path
) -> None:
    server = scripted_llm(latency=0.2)
    arena = filled(database_url=private_postgres.url, endpoint=server.url)
    arena.rounds.create(RoundRequest(set_name="tiny", judge="reference-free", name="r", pairs="all"))
    arena.jobs.judge("r", options={"concurrency": 4})
    private_postgres.stop()
    assert start(arena, "rounds", "status", "r").wait(60) == 1
    assert len((tmp_path / "log-0").read_text().splitlines()) == 1
    worker, log = start(arena, "worker"), tmp_path / "log-1"
    until(lambda: "worker.database_away" in log.read_text())
    private_postgres.start()
    until(lambda: server.log.replied.total() > 8)
    private_postgres.stop()
    with pytest.raises(StoreError, match="cannot be used"):
        arena.rounds.status("r")
    time.sleep(1)
    assert worker.poll() is None
    private_postgres.start()
    until(lambda: finished(arena))
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(30) == 0
    counts = arena.rounds.status("r")[1]
    assert (counts.judged, counts.pending) == (72, 0)
    # What was in flight when the server died may have been asked again.
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
        assert database.is_current()
