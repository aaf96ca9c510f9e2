"""Which process this is, and whether another one has ended, as far as this machine knows."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from data.records import WorkerId

BOOT = Path("/proc/sys/kernel/random/boot_id")
PROCESSES = Path("/proc/self/ns/pid")
START_FIELD = 19  # Of /proc/PID/stat, counted after the name, which may hold anything: proc(5), starttime.


def this_worker(name: str | None = None) -> WorkerId:
    """This process; by default named after its machine and number."""
    pid = os.getpid()
    return WorkerId(
        name=name or f"{socket.gethostname()}-{pid}", place=_place(), pid=pid, started=_started(pid)
    )


def has_ended(worker: WorkerId) -> bool:
    """Whether a worker's process is known to have ended; False where this machine cannot know."""
    if not worker.place or worker.place != _place():
        return False
    try:
        os.kill(worker.pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return _started(worker.pid) != worker.started


def _place() -> str:
    """This machine since its start, and the namespace of its process numbers; empty where not known."""
    try:
        return f"{socket.gethostname()}/{BOOT.read_text().strip()}/{PROCESSES.readlink()}"
    except OSError:
        return ""


def _started(pid: int) -> str:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    state, start = fields[0], fields[START_FIELD]
    # A child that ended and that nobody has waited for still has its number.
    return "" if state == "Z" else start
