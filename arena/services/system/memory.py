"""How much memory a process may take for work on what strangers send."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STATUS = Path("/proc/self/status")
KIBIBYTE = 1024


@contextmanager
def memory_capped(more: int) -> Iterator[None]:
    """Let this process take so many bytes more than it has; beyond them Python raises MemoryError.

    Only Linux tells what a process has, so that nothing is capped elsewhere. It is for a process of its own:
    threads share the cap.
    """
    if sys.platform != "linux":
        yield
        return
    import resource  # noqa: PLC0415 - only Unix has it

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    cap = _data_bytes() + more
    lowest = min((limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY), default=cap)
    resource.setrlimit(resource.RLIMIT_DATA, (min(cap, lowest), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _data_bytes() -> int:
    """What this process has of memory of its own, touched or not."""
    lines = STATUS.read_text(encoding="ascii", errors="replace").splitlines()
    return KIBIBYTE * int(next(line.split()[1] for line in lines if line.startswith("VmData:")))
