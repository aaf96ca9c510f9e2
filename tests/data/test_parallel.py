"""Long work in parts: small work runs locally, large work is distributed, results keep their order."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import pytest

from data import parallel
from data.parallel import parallel_map
from tests.long_work import numbers, squared

Value = TypeVar("Value")


class Noted:
    """Engine that runs tasks locally and records them."""

    def __init__(self) -> None:
        self.tasks: list[tuple[object, ...]] = []

    def map(
        self,
        function: Callable[..., Value],
        tasks: Iterable[tuple[object, ...]],
        shared: tuple[object, ...] = (),
    ) -> Iterator[Value]:
        """Call a function."""
        for task in tasks:
            self.tasks.append(task)
            yield function(*shared, *task)


def _slow(number: int) -> int:
    time.sleep(0.02)
    return number


def test_parallel_map_runs_serially_without_pool() -> None:
    assert list(parallel_map(squared, numbers(5), (10,), total=5)) == [10, 11, 14, 19, 26]


def test_quick_work_stays_in_process() -> None:
    noted = Noted()
    with parallel.in_parallel(noted):
        assert list(parallel_map(squared, numbers(100), (0,), total=100)) == [n * n for n in range(100)]
    assert noted.tasks == []


def test_long_tasks_move_to_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "SERIAL_SECONDS", 0.05)
    monkeypatch.setattr(parallel, "MIN_REMAINING", 0.1)
    noted = Noted()
    with parallel.in_parallel(noted):
        assert list(parallel_map(_slow, numbers(40), total=40)) == list(range(40))
        assert 0 < len(noted.tasks) < 40
        noted.tasks.clear()
        assert list(parallel_map(_slow, numbers(10))) == list(range(10))
        assert noted.tasks


def test_previous_work_counts_towards_time() -> None:
    noted = Noted()
    with parallel.in_parallel(noted):
        assert list(parallel_map(squared, numbers(6), (0,), total=6, before=5.0)) == [n * n for n in range(6)]
    assert len(noted.tasks) == 6
