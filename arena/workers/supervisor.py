"""One worker alongside the site, as a process of its own that is restarted when it exits."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import structlog

import arena

FIRST_WAIT = 1.0
LONGEST_WAIT = 60.0
HEALTHY = 60.0
PATIENCE = 60.0
POLL_EVERY = 0.2


@contextmanager
def supervised_worker(
    arguments: Sequence[str] = (), *, environment: Mapping[str, str] | None = None
) -> Iterator[None]:
    """Keep a worker running until the block ends, then let it finish what is in flight."""
    supervisor = Supervisor(
        [sys.executable, "-m", arena.__name__, "worker", "--parent", str(os.getpid()), *arguments],
        environment,
    )
    supervisor.start()
    try:
        yield
    finally:
        supervisor.stop()


class Supervisor:
    """Restarts a command whenever it exits, with growing waits where it exits at once."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self._command = list(command)
        self._environment = environment
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="worker-supervisor", daemon=True)
        self._process: subprocess.Popen[bytes] | None = None
        self._log = structlog.get_logger("arena.serve")

    @property
    def pid(self) -> int | None:
        """The number of the process that runs, None between two."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the command."""
        self._thread.start()

    def stop(self) -> None:
        """Tell the command to stop, and wait for it; kill it where it does not."""
        self._stopping.set()
        self._thread.join(PATIENCE + 2)

    def _run(self) -> None:
        wait = FIRST_WAIT
        while not self._stopping.is_set():
            started = time.monotonic()
            command = self._command
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=self._environment)  # noqa: S603 - one of our own
            code = self._wait(self._process)
            self._process = None
            if self._stopping.is_set():
                return
            wait = FIRST_WAIT if time.monotonic() - started > HEALTHY else min(LONGEST_WAIT, 2 * wait)
            self._log.warning("worker.died", code=code, again_in=wait)
            self._stopping.wait(wait)

    def _wait(self, process: subprocess.Popen[bytes]) -> int:
        while process.poll() is None and not self._stopping.is_set():
            self._stopping.wait(POLL_EVERY)
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
        return process.wait()
