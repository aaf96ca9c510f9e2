"""Helpers for scripts that serve a site: a free port, and waiting until the site answers."""

from __future__ import annotations

import socket
import time
import urllib.request

PATIENCE = 120.0


def free_port() -> int:
    """Return a port that nothing listens on now."""
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
