"""`arena serve`: the site and one worker as processes of their own, the worker started again when it dies."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from data.models import RoundState

ROOT = Path(__file__).parents[3]


def _children(pid: int) -> list[int]:
    """The worker processes below a process."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
                if int(parent) == pid and b"worker" in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
    return found


def _wait(what: Callable[[], object], seconds: float = 120.0) -> None:
    ends = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < ends, "it did not happen"
        time.sleep(0.1)


@pytest.fixture
def served(filled: Callable[..., Arena], tmp_path: Path) -> Iterator[tuple[Arena, subprocess.Popen[bytes]]]:
    """An arena, and `arena serve` over it."""
    arena = filled()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        **os.environ,  # noqa: TID251 - what a process of the machine needs
        "ARENA_HOME": str(arena.settings.home),
        "ARENA_DATABASE_URL": arena.settings.database_url,
        "OPENAI_BASE_URL": arena.settings.endpoint,
    }
    with (tmp_path / "serve.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "arena", "serve", "--port", str(port)],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=log,
        )
    yield arena, process
    process.kill()
    process.wait()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="NO /proc: processes below the site are not seen")
def test_worker_beside_the_site_is_started_again(served: tuple[Arena, subprocess.Popen[bytes]]) -> None:
    """The site's worker does jobs; killed, another one comes; and none outlives the site."""
    arena, site = served
    _wait(lambda: _children(site.pid))
    (first,) = _children(site.pid)
    os.kill(first, signal.SIGKILL)
    _wait(lambda: [pid for pid in _children(site.pid) if pid != first])
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", pairs="all", name="r"))
    arena.jobs.judge("r")
    _wait(lambda: arena.rounds.status("r")[0].state is RoundState.FINISHED)
    assert arena.rounds.status("r")[1].judged == 72
    (second,) = _children(site.pid)
    site.kill()
    site.wait()
    _wait(lambda: not Path(f"/proc/{second}").exists(), 30)
