"""Python's collector of cycles while battles are judged."""

from __future__ import annotations

import gc

import pytest

from arena.services.system.gc_tuning import ALLOCATIONS, rare_collections


@pytest.mark.parametrize("frozen", [False, True])
def test_the_collector_is_as_before_afterwards(*, frozen: bool) -> None:
    """Judging changes how often cycles are looked for, and puts it back even when it fails.

    What somebody else has frozen stays frozen.
    """
    gc.unfreeze()
    if frozen:
        gc.freeze()

    def judge() -> None:
        with rare_collections():
            assert gc.get_threshold()[0] == ALLOCATIONS
            assert gc.get_freeze_count() > 0
            raise RuntimeError

    before = gc.get_threshold()
    with pytest.raises(RuntimeError):
        judge()
    assert (gc.get_threshold(), gc.get_freeze_count() > 0) == (before, frozen)
    assert gc.isenabled()
