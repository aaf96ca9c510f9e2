"""Python's collector of reference cycles while many battles or answers are read and written."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

ALLOCATIONS = 20_000


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect cycles less often, as a context or a decorator.

    Judging, export and intake make many small values and hardly any cycles; looking through all of them again
    and again took a seventh of the time of a round from the cache. What was there before is left alone: to
    collect or to count it takes a large process half a second, and boards are computed in far less.
    """
    before = gc.get_threshold()
    gc.set_threshold(ALLOCATIONS, *before[1:])
    try:
        yield
    finally:
        # Where calls of several threads overlap, what was there before all of them is the lower one.
        gc.set_threshold(min(before[0], gc.get_threshold()[0]), *before[1:])
