"""Python's collector of cycles while battles are judged."""

from __future__ import annotations

import gc

import pytest

from arena.services.system import ALLOCATIONS, rare_collections


def test_the_collector_is_as_before_afterwards() -> None:
    """Judging changes how often cycles are looked for, and puts it back even when it fails."""

    def judge() -> None:
        with rare_collections():
            assert gc.get_threshold() == (ALLOCATIONS, *before[1:])
            raise RuntimeError

    before = gc.get_threshold()
    with pytest.raises(RuntimeError):
        judge()
    assert gc.get_threshold() == before
    assert gc.isenabled()


def test_what_was_there_before_is_neither_searched_nor_moved() -> None:
    """To compute a board costs no full collection, however much the process holds."""
    collected = [generation["collections"] for generation in gc.get_stats()]
    with rare_collections():
        pass
    assert [generation["collections"] for generation in gc.get_stats()][2] == collected[2]


def test_overlapping_calls_leave_what_was_there_before_all() -> None:
    """Whichever of two uploads at once ends first, the collector is afterwards as before both."""
    before = gc.get_threshold()
    first, second = rare_collections(), rare_collections()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    assert gc.get_threshold() == before
