"""Python's collector of cycles while battles are judged."""

from __future__ import annotations

import gc

import pytest

from arena.services.collector import ALLOCATIONS, rare_collections


def test_the_collector_is_as_before_afterwards() -> None:
    """Judging changes how often cycles are looked for, and puts it back even when it fails."""

    def judge() -> None:
        with rare_collections():
            assert gc.get_threshold()[0] == ALLOCATIONS
            assert gc.get_freeze_count() > 0
            raise RuntimeError

    before = gc.get_threshold()
    with pytest.raises(RuntimeError):
        judge()
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)
    assert gc.isenabled()
