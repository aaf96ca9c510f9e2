"""Python's collector of reference cycles while many battles are judged."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

ALLOCATIONS = 20_000


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect cycles less often, and only among objects created from now on.

    Judging makes many small values and hardly any cycles; scanning all of them again and again took a
    seventh of the time of a round from the cache. What was frozen before stays so.
    """
    before = gc.get_threshold()
    frozen_before = gc.get_freeze_count()
    gc.collect()
    gc.freeze()
    gc.set_threshold(ALLOCATIONS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if not frozen_before:
            gc.unfreeze()
