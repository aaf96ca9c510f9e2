"""A site over the bundled boards for as long as a script needs it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 120.0


@contextmanager
def served() -> Iterator[str]:
    """Prepare the demo in a temporary home, serve it, and stop it afterwards."""
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "ARENA_HOME": home}  # noqa: TID251 - of a process to start
        arena = [sys.executable, "-m", "arena"]
        subprocess.run([*arena, "demo", "--no-serve"], env=environment, check=True)
        port = free_port()
        process = subprocess.Popen([*arena, "serve", "--port", str(port)], env=environment)
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for(f"{url}/healthz")
            yield url
        finally:
            process.terminate()
            process.wait(timeout=20)


def free_port() -> int:
    """A port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(url: str) -> None:
    """Return as soon as an address answers."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(url, timeout=2):  # noqa: S310 - our own address
                return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(url)
