"""`arena serve`: the site and a worker as processes; a dead worker is restarted."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from pathlib import Path

import pytest

from arena.services.rounds.models import RoundRequest
from data.models import RoundState
from tests.arena.conftest import Fill, start, until


def _children(pid: int) -> list[int]:
    """Return the worker processes below a process."""
    processes = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
                if int(parent) == pid and b"worker" in (entry / "cmdline").read_bytes():
                    processes.append(int(entry.name))
    return processes


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="NO /proc: processes below the site are not seen")
def test_embedded_worker_is_restarted(filled: Fill) -> None:
    arena = filled()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    site = start(arena, "serve", "--port", str(port), fresh=True)
    until(lambda: bool(_children(site.pid)))
    (first,) = _children(site.pid)
    os.kill(first, signal.SIGKILL)
    until(lambda: any(pid != first for pid in _children(site.pid)))
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", pairs="all", name="r"))
    arena.jobs.judge("r")
    until(lambda: arena.rounds.status("r")[0].state is RoundState.FINISHED)
    assert arena.rounds.status("r")[1].judged == 72
    (second,) = _children(site.pid)
    site.kill()
    site.wait()
    until(lambda: not Path(f"/proc/{second}").exists(), 30)
