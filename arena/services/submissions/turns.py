"""Turns at work that takes a while: few at once, and nobody waits for all that another has brought."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

from arena.services.accounts.auth import Caller
from data.errors import UnavailableError

AT_ONCE = 2
MOST_WAITING = 64
MOST_OF_ONE = 16
FULL = "Too many files wait to be checked."
"""What is said where no more may wait; a program tries again."""


def party_of(caller: Caller, client: str = "") -> str:
    """Whose turn it is: a team's, whoever of it asks; an account's; a visitor's by their address."""
    return ", ".join(sorted(caller.teams)) or caller.account or client or caller.name


class FairTurns:
    """Gives turns to parties one after another, however much each of them waits for; from any thread.

    Args:
        at_once: How many work at once, of one party one.
        most_waiting: How many may wait in all.
        most_of_one: How many of one party may.
    """

    def __init__(
        self, at_once: int = AT_ONCE, most_waiting: int = MOST_WAITING, most_of_one: int = MOST_OF_ONE
    ) -> None:
        self._free, self._most, self._most_of_one = at_once, most_waiting, most_of_one
        self._waiting: OrderedDict[str, deque[Future[None]]] = OrderedDict()
        self._working: set[str] = set()
        self._lock = threading.Lock()

    def ask(self, party: str) -> Future[None]:
        """Wait for a turn, which has come when the result is there; whoever had it must `leave`."""
        turn: Future[None] = Future()
        with self._lock:
            for other in tuple(self._waiting):
                self._drop_cancelled(other)
            own = len(self._waiting.get(party, ()))
            if own >= self._most_of_one or sum(map(len, self._waiting.values())) >= self._most:
                raise UnavailableError(FULL, advice="Try again.")
            self._waiting.setdefault(party, deque()).append(turn)
        self._begin()
        return turn

    def leave(self, party: str) -> None:
        """Give a turn back."""
        with self._lock:
            self._working.discard(party)
            self._free += 1
        self._begin()

    @contextmanager
    def taken(self, party: str) -> Iterator[None]:
        """Wait in this thread, and have the turn meanwhile; errors are those of `ask`."""
        self.ask(party).result()
        try:
            yield
        finally:
            self.leave(party)

    def _begin(self) -> None:
        """Give free places to those that waited longest since their last turn."""
        while (turn := self._next()) is not None:
            turn.set_result(None)

    def _next(self) -> Future[None] | None:
        with self._lock:
            for party in tuple(self._waiting):
                self._drop_cancelled(party)
                if self._free and party not in self._working and party in self._waiting:
                    turn = self._waiting[party].popleft()
                    if not turn.set_running_or_notify_cancel():
                        continue
                    # Its next turn comes after those of all others that wait.
                    self._waiting.move_to_end(party)
                    self._drop_cancelled(party)
                    self._free -= 1
                    self._working.add(party)
                    return turn
        return None

    def _drop_cancelled(self, party: str) -> None:
        left = deque(turn for turn in self._waiting[party] if not turn.cancelled())
        if left:
            self._waiting[party] = left
        else:
            del self._waiting[party]
