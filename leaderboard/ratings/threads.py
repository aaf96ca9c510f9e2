"""One BLAS thread, so that sums have one order and a seed one result."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[object]:
    """Limit BLAS to one thread: more would change the order of sums, and so last digits."""
    limit: AbstractContextManager[object] = _controller().limit(limits=1, user_api="blas")
    return limit


@cache
def _controller() -> ThreadpoolController:
    """Return the libraries of this process; finding them takes longer than many a fit."""
    return ThreadpoolController()
