"""Runs of pages take turns, and none waits for ever."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from arena.site.services import Turns

LONG = 60.0
RUNS = 8


@pytest.fixture
def others() -> Iterator[ThreadPoolExecutor]:
    """Threads of other runs."""
    with ThreadPoolExecutor(RUNS) as pool:
        yield pool


def test_runs_do_not_overlap(others: ThreadPoolExecutor) -> None:
    """Of many runs at once each ends before the next begins."""
    turns, told = Turns(patience=LONG), []
    together = threading.Barrier(RUNS)

    def run(number: int) -> bool:
        together.wait()
        with turns.taken() as mine:
            told.append(("begins", number))
            told.append(("ends", number))
        return mine

    assert all(others.map(run, range(RUNS)))
    assert [number for _, number in told[::2]] == [number for _, number in told[1::2]]
    assert {word for word, _ in told[::2]} == {"begins"}
    assert all(first[0] != second[0] for first, second in pairwise(told))


def test_a_run_goes_on_when_its_patience_ends(others: ThreadPoolExecutor) -> None:
    """A run that lasts delays others by their patience alone, and they end no turn that is not theirs."""
    turns = Turns(patience=0.001)

    def run() -> bool:
        with turns.taken() as mine:
            return mine

    with turns.taken() as mine:
        assert mine
        assert [others.submit(run).result(LONG) for _ in range(3)] == [False] * 3
    assert others.submit(run).result(LONG)


def test_a_run_that_lasts_is_not_waited_for(others: ThreadPoolExecutor) -> None:
    """Who comes after the patience of all is over does not wait at all, however long it would be."""
    now = [0.0]
    turns = Turns(patience=1_000.0, clock=lambda: now[0])

    def run() -> bool:
        with turns.taken() as mine:
            return mine

    with turns.taken():
        now[0] += 1_000.0
        assert not others.submit(run).result(LONG)


def test_a_turn_ends_with_an_error(others: ThreadPoolExecutor) -> None:
    """A run that fails, or is stopped by Streamlit, gives its turn on."""
    turns = Turns(patience=LONG)

    def run() -> None:
        with turns.taken():
            raise SystemExit

    with pytest.raises(SystemExit):
        run()
    with turns.taken() as mine:
        assert mine
