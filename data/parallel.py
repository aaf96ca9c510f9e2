"""Run independent tasks serially, in processes or on a cluster.

The pool is a context variable rather than an argument, since it does not change results: tasks do not depend
on the number of processes, so that results are identical everywhere.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain
from typing import Protocol, TypeVar

Value = TypeVar("Value")
Task = tuple[object, ...]
SERIAL_SECONDS = 1.0
"""Seconds of serial work after which starting other processes may pay off."""
MIN_REMAINING = 2.0
"""Minimum estimated seconds of remaining work for which other processes pay off."""


class Spread(Protocol):
    """Pool of processes, perhaps on other machines."""

    def map(
        self, function: Callable[..., Value], tasks: Iterable[Task], shared: tuple[object, ...] = ()
    ) -> Iterator[Value]:
        """Yield `function(*shared, *task)` for each task, in order, reading few tasks ahead.

        The function is defined in a module. Arguments are copied, `shared` once per process.
        """
        ...


_SPREAD: ContextVar[Spread | None] = ContextVar("spread", default=None)


@contextmanager
def in_parallel(spread: Spread) -> Iterator[None]:
    """Run the long tasks of the block on a pool."""
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
    """Yield `function(*shared, *task)` for each task, in order.

    The first second of work is done in this process, the rest on the pool, if any.

    Args:
        function: Pure function of a module.
        tasks: Arguments of each call.
        shared: First arguments of all calls.
        total: Number of tasks; None if unknown.
        before: Seconds spent on such work before the first task.
    """
    spread = _SPREAD.get()
    waiting, done, spent = iter(tasks), 0, before
    for task in waiting:
        if spread is not None and spent > SERIAL_SECONDS:
            if total is None or spent / max(done, 1) * (total - done) > MIN_REMAINING:
                yield from spread.map(function, chain([task], waiting), shared)
                return
            spread = None
        started = time.monotonic()
        value = function(*shared, *task)
        spent, done = spent + time.monotonic() - started, done + 1
        yield value
