"""Long work in parts: who does it names the parts, who calls says where they are done.

As with progress, where that is is a context variable rather than an argument: it changes no result, so it is
no concern of those between. What a part is follows from the work alone, never from how many do it, so that
the results are the same bytes wherever parts are done.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain
from typing import Protocol, TypeVar

Value = TypeVar("Value")
Task = tuple[object, ...]
AT_HAND = 1.0
"""Seconds of work that are done here first: what takes no longer does not pay for other processes."""
LEAST_LEFT = 2.0
"""Seconds of work that must be left to be worth handing over, where how much is left is known."""


class Spread(Protocol):
    """Calls functions in other processes, perhaps on other machines."""

    def map(
        self, function: Callable[..., Value], tasks: Iterable[Task], shared: tuple[object, ...] = ()
    ) -> Iterator[Value]:
        """Yield `function(*shared, *task)` for each task, in their order; few tasks are read ahead.

        The function is one of a module, all arguments are copied, and `shared` is copied once a process.
        """
        ...


_SPREAD: ContextVar[Spread | None] = ContextVar("spread", default=None)


@contextmanager
def in_parallel(spread: Spread) -> Iterator[None]:
    """Hand long work to others during the block."""
    token = _SPREAD.set(spread)
    try:
        yield
    finally:
        _SPREAD.reset(token)


def parallel_map(
    function: Callable[..., Value],
    tasks: Iterable[Task],
    shared: tuple[object, ...] = (),
    *,
    total: int | None = None,
    before: float = 0.0,
) -> Iterator[Value]:
    """Yield `function(*shared, *task)` for each task, in their order.

    The first tasks are done here. Where they are not done after a second, and somebody takes work, the rest
    is handed over.

    Args:
        function: One of a module, whose result follows from its arguments alone.
        tasks: What differs between the calls.
        shared: What all calls have in common.
        total: Number of tasks; None where unknown, and then there may be many.
        before: Seconds that were spent on such work before the first task.
    """
    spread = _SPREAD.get()
    waiting, done, spent = iter(tasks), 0, before
    for task in waiting:
        if spread is not None and spent > AT_HAND:
            if total is None or spent / max(done, 1) * (total - done) > LEAST_LEFT:
                yield from spread.map(function, chain([task], waiting), shared)
                return
            spread = None
        started = time.monotonic()
        value = function(*shared, *task)
        spent, done = spent + time.monotonic() - started, done + 1
        yield value
