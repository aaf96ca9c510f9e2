"""Python's collector of reference cycles while many battles are judged."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

ALLOCATIONS = 20_000


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect cycles less often.

    Judging makes many small values and hardly any cycles; looking through all of them again and again took a
    seventh of the time of a round from the cache. What was there before is left alone: to collect or to count
    it takes a large process half a second, and boards are computed in far less.
    """
    before = gc.get_threshold()
    gc.set_threshold(ALLOCATIONS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
