from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from arena.services.submissions.uploads import FairQueue
from data.errors import UnavailableError


def test_queue_is_fair_between_parties() -> None:
    queue, release, done = FairQueue(at_once=2), threading.Event(), threading.Event()
    with ThreadPoolExecutor(4) as threads:
        slow = [threads.submit(queue.run, "beta", lambda: release.wait(10)) for _ in range(3)]
        time.sleep(0.05)
        threads.submit(queue.run, "alpha", done.set)
        assert done.wait(10)
        release.set()
        assert all(future.result() for future in slow)


def test_full_queue_refuses_files() -> None:
    queue = FairQueue(at_once=1, per_party=2, total=3)
    with ThreadPoolExecutor(2) as threads:
        with queue.slot("beta"):
            waiting = [threads.submit(queue.run, party, lambda: 1 / 0) for party in ("beta", "alpha")]
            time.sleep(0.05)
            for party in ("beta", "gamma"):
                with pytest.raises(UnavailableError, match="Too many files"):
                    queue.run(party, lambda: None)
        assert all(isinstance(future.exception(10), ZeroDivisionError) for future in waiting)
    assert queue.run("gamma", lambda: 3) == 3
