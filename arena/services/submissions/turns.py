"""Work on files: few at once, and of each team or visitor few that wait."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from arena.services.accounts.auth import Caller
from data.errors import UnavailableError

Result = TypeVar("Result")
AT_ONCE = 2
MAX_OF_ONE = 8
MAX_IN_ALL = 24


def party_of(caller: Caller, client: str = "") -> str:
    """The team that a file is counted for, else the account, else the address."""
    return ", ".join(sorted(caller.teams)) or caller.account or client or caller.name


class Turns:
    """Limits on work at once, and on work that waits, by party and in all."""

    def __init__(self, at_once: int = AT_ONCE, of_one: int = MAX_OF_ONE, in_all: int = MAX_IN_ALL) -> None:
        self._free, self._of_one, self._in_all = threading.Semaphore(at_once), of_one, in_all
        self._waiting: Counter[str] = Counter()
        self._own: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def run(self, party: str, work: Callable[[], Result]) -> Result:
        """Do work in this thread when there is a place; errors as `taken`."""
        with self.taken(party):
            return work()

    @contextmanager
    def taken(self, party: str) -> Iterator[None]:
        """Wait for a place in this thread, of a party for one, and hold it until the end of the block.

        Raises:
            UnavailableError: Too many wait, of this party or in all.
        """
        with self._lock:
            if self._waiting[party] >= self._of_one or self._waiting.total() >= self._in_all:
                raise UnavailableError("Too many files wait to be checked.", advice="Try again.")
            self._waiting[party] += 1
            own = self._own.setdefault(party, threading.Lock())
        try:
            with own, self._free:
                yield
        finally:
            with self._lock:
                self._waiting[party] -= 1
                if not self._waiting[party]:
                    del self._waiting[party], self._own[party]
