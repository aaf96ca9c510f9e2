"""Embedded metrics over several processes: the same scores, one answer's trouble, ends in order."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.services.metric_pool import PooledMetric, ScoringPool, scored
from data.errors import JudgeError, SpecError
from data.records import MetricItem, Outcome, Passage, Score
from judges.metrics import build_metric

Commands = Any  # The class is in conftest.py, which cannot be imported.
NLI = "comprehensiveness-nli"
SYSTEMS = 42


def item(number: int) -> MetricItem:
    """An answer that covers one of two statements."""
    return MetricItem(
        id=f"i{number}",
        question=f"What is item {number}?",
        answer=f"Item {number} is blue.",
        passages=(Passage("p1", f"Item {number} is blue."), Passage("p2", f"Item {number} weighs 3 grams.")),
    )


@pytest.fixture
def pool() -> Iterator[ScoringPool]:
    """Two processes, whatever the machine has."""
    with ScoringPool(2, least=2) as made:
        yield made


def test_processes_give_the_scores_of_one(pool: ScoringPool) -> None:
    """Scores and what they rest on are equal, and come back to the answers they belong to."""
    alone = build_metric(NLI)
    spread = pool.spread(alone, 8)
    assert isinstance(spread, PooledMetric)

    async def every(metric: Any) -> list[Score]:  # noqa: ANN401 - any metric
        return list(await asyncio.gather(*(metric.score(item(number)) for number in range(8))))

    assert asyncio.run(every(spread)) == asyncio.run(every(alone))


def test_few_answers_and_one_process_stay_here() -> None:
    """Processes that take longer to start than the work are not started."""
    metric = build_metric(NLI)
    with ScoringPool(2) as two, ScoringPool(1, least=0) as one:
        assert two.spread(metric, 10) is one.spread(metric, 10_000) is metric
    with ScoringPool() as usual:
        assert usual.processes >= 1


def test_a_process_that_ends_is_an_error_with_a_way_out(pool: ScoringPool) -> None:
    """A killed process, as when memory runs out, ends the run in a line; what was scored is kept."""
    metric = pool.spread(build_metric(NLI), 8)

    async def killed() -> None:
        await metric.score(item(0))
        assert pool._executor is not None
        os.kill(next(iter(pool._executor._processes)), signal.SIGKILL)
        for number in range(50):
            await metric.score(item(number))

    with pytest.raises(JudgeError, match="ended before it was done"):
        asyncio.run(killed())


class Breaking:
    """A metric that breaks on what it is told to."""

    name = "breaking"

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def score(self, _item: MetricItem) -> Score:
        """Raise."""
        raise self._error


def test_an_answer_that_breaks_a_metric_has_failed() -> None:
    """A mistake that one text brings out is this answer's outcome with the reason, tried again next time."""
    found = asyncio.run(scored(Breaking(RecursionError("too deep")), item(1)))
    assert (found.outcome, found.score) == (Outcome.FAILED, None)
    assert "RecursionError: too deep" in found.reason


@pytest.mark.parametrize("error", [JudgeError("gone", advice="Wait."), SpecError("no prompt", advice="Add.")])
def test_what_concerns_every_answer_ends_the_run(error: Exception) -> None:
    """An endpoint that is gone or a broken prompt is no answer's fault."""
    with pytest.raises(type(error)):
        asyncio.run(scored(Breaking(error), item(1)))


@pytest.fixture
def crowd(arena_of: Commands, answers_file: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Commands:
    """The small set with so many systems that processes are worth their start."""
    monkeypatch.setenv("ARENA_PROCESSES", "2")
    for number in range(SYSTEMS):
        path = answers_file(f"s{number}", "Item {n} is {word}." + " It is here." * number)
        assert arena_of("submissions", "add", path, "--set", "tiny", "--system", f"s{number}")[0] == 0
    return arena_of


@pytest.mark.slow
def test_a_run_in_processes_is_kept_like_any(crowd: Commands) -> None:
    """The command scores in processes and keeps every score; run again, it has nothing to do."""
    words = ("metrics", "run", "--set", "tiny", "--metric", NLI, "--json")
    answers = 12 * (SYSTEMS + 2)
    done = crowd.json(*words)
    assert (done["judged"], done["pending"]) == (answers, 0)
    again = crowd.json(*words)
    assert (again["judged"], again["kept"]) == (0, answers)


@pytest.mark.slow
def test_an_interrupt_ends_all_processes_in_order(crowd: Commands) -> None:
    """Ctrl-C reaches the whole group: no traceback, what is scored is kept, nothing is left running."""
    words = ("metrics", "run", "--set", "tiny", "--metric", "factuality-fr3", "--json")
    crowd.prepare("http://127.0.0.1:9/v1")
    command = [sys.executable, "-m", "arena", *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and len(crowd.scores()) < 3:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "Traceback" not in err
    found = json.loads(out)
    assert found["judged"] == len(crowd.scores())
    assert found["pending"] == 12 * (SYSTEMS + 2) - found["judged"]
    deadline = time.monotonic() + 10
    while alive(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert alive(process.pid) == []


def alive(group: int) -> list[str]:
    """The processes of a group that run, without those that nobody has buried yet (Linux)."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _parent, of_group = stat.read_text().rpartition(")")[2].split()[:3]
            if int(of_group) == group and state != "Z":
                found.append(stat.parent.name)
    return found
