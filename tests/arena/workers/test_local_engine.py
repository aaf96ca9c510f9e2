"""Long work in local processes: the same bytes as in one process, no lost results or errors."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from arena.workers.local import AHEAD, LocalSpread
from data import parallel
from data.errors import InputError, WorkError
from tests.arena.conftest import Commands, until
from tests.long_work import nested, numbers, raised, refused, results, squared, write_input


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Distribute even small work, and split documents into small parts."""
    monkeypatch.setattr(parallel, "SERIAL_SECONDS", -1)
    monkeypatch.setattr(parallel, "MIN_REMAINING", -1)


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
def test_results_do_not_depend_on_processes(tmp_path: Path) -> None:
    write_input(tmp_path)
    here = results(tmp_path)
    for processes in (1, 2):
        with parallel.in_parallel(LocalSpread(processes)):
            assert results(tmp_path) == here


@pytest.mark.slow
def test_shared_arrays_are_writable() -> None:
    shared = np.arange(5.0)
    assert list(LocalSpread(2).map(raised, numbers(6), (shared, "x"))) == [10.0 + 5 * n for n in range(6)]
    assert shared.sum() == 10.0


def test_results_come_in_order_and_few_tasks_are_read_ahead() -> None:
    read = 0

    def tasks() -> Iterator[tuple[int]]:
        nonlocal read
        for number in range(200):
            read += 1
            yield (number,)

    ahead = []
    for place, value in enumerate(LocalSpread(2).map(squared, tasks(), (100,))):
        assert value == 100 + place * place
        ahead.append(read - place)
    assert len(ahead) == 200
    assert max(ahead) <= 2 * AHEAD + 1


@pytest.mark.slow
def test_error_of_task_is_raised_unchanged() -> None:
    """Expected errors keep their message, others name the function; earlier results are still yielded."""
    results = LocalSpread(2).map(refused, numbers(20))
    assert [next(results) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(InputError, match="Five cannot be used"):
        next(results)
    with pytest.raises(WorkError, match=r"refused failed \(ZeroDivisionError: seven\)"):
        list(LocalSpread(2).map(refused, [(7,)]))


def _always_end_itself(number: int) -> int:
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.slow
def test_task_that_kills_processes_is_error() -> None:
    with pytest.raises(WorkError, match="process died") as error:
        list(LocalSpread(2).map(_always_end_itself, numbers(4)))
    assert "ARENA_PROCESSES" in error.value.advice


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
def test_nested_tasks_run_in_their_process() -> None:
    with parallel.in_parallel(LocalSpread(2)):
        results = list(parallel.parallel_map(nested, numbers(4)))
    assert results == [[], [1], [2, 3], [3, 4, 7]]


def test_leaving_context_ends_processes() -> None:
    results = LocalSpread(2).map(_wait_for_the_second, numbers(4))
    assert next(results) == 0
    children = _children(os.getpid())
    results.close()  # type: ignore[attr-defined]  # a generator
    until(lambda: not any(_waits(pid) for pid in children))


def _waits(pid: int) -> bool:
    try:
        return b"popen_loky" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _wait_for_the_second(number: int) -> int:
    if number:
        time.sleep(30)
    return number


def _children(pid: int) -> list[int]:
    return [int(text) for text in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_commands_use_engine_option(run: Commands, tmp_path: Path) -> None:
    write_input(tmp_path)
    battles = tmp_path / "battles.jsonl"
    for words in (("rate", battles, "--bootstrap", 300),):
        usual = run.json("battles", *words, "--json")
        assert run.json("battles", *words, "--engine", "local", "--json") == usual
    assert "local" in run.fails("battles", "rate", battles, "--engine", "cloud", code=2)
