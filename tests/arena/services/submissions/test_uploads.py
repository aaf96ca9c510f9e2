from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from arena.services.submissions.uploads import Turns
from data.errors import UnavailableError


def test_party_with_many_files_holds_up_no_other() -> None:
    turns, hold, done = Turns(at_once=2), threading.Event(), threading.Event()
    with ThreadPoolExecutor(4) as threads:
        held = [threads.submit(turns.run, "beta", lambda: hold.wait(10)) for _ in range(3)]
        time.sleep(0.05)
        threads.submit(turns.run, "alpha", done.set)
        assert done.wait(10)
        hold.set()
        assert all(future.result() for future in held)


def test_more_files_than_may_wait_are_refused() -> None:
    turns = Turns(at_once=1, of_one=2, in_all=3)
    with ThreadPoolExecutor(2) as threads:
        with turns.taken("beta"):
            waiting = [threads.submit(turns.run, party, lambda: 1 / 0) for party in ("beta", "alpha")]
            time.sleep(0.05)
            for party in ("beta", "gamma"):
                with pytest.raises(UnavailableError, match="Too many files"):
                    turns.run(party, lambda: None)
        assert all(isinstance(future.exception(10), ZeroDivisionError) for future in waiting)
    assert turns.run("gamma", lambda: 3) == 3
