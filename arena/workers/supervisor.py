"""Supervisor of a worker process next to the site, which is restarted when it exits."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import structlog

import arena

FIRST_WAIT = 1.0
MAX_WAIT = 60.0
HEALTHY = 60.0
PATIENCE = 60.0
POLL_EVERY = 0.2


@contextmanager
def supervised_worker(*, environment: Mapping[str, str] | None = None) -> Iterator[None]:
    """Keep a worker running until the block ends, then let calls in flight finish."""
    command = [sys.executable, "-m", arena.__name__, "worker", "--parent", str(os.getpid())]
    stopping = threading.Event()
    thread = threading.Thread(
        target=_supervise, args=(command, environment, stopping), name="worker-supervisor", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join(PATIENCE + 2)


def _supervise(command: list[str], environment: Mapping[str, str] | None, stopping: threading.Event) -> None:
    wait = FIRST_WAIT
    while not stopping.is_set():
        started = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=environment)
        while process.poll() is None and not stopping.is_set():
            stopping.wait(POLL_EVERY)
        if stopping.is_set():
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
            return
        wait = FIRST_WAIT if time.monotonic() - started > HEALTHY else min(MAX_WAIT, 2 * wait)
        log = structlog.get_logger("arena.serve")
        log.warning("worker.died", code=process.returncode, again_in=wait)
        stopping.wait(wait)
