from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena
from arena.services.metrics.scoring import scored
from arena.services.metrics.service import AnswerScorer, EmbeddedMetric
from arena.services.text_process import IDLE, TextWork
from data.errors import JudgeError, SpecError
from data.models import Json, MetricItem, Outcome, Passage, Score
from judges.metrics.registry import Metric, build_metric
from tests.arena.conftest import Commands, Fill, answers_file, settings_of, until

NLI = "comprehensiveness-nli"
SYSTEMS = 42
LIMIT = 1.5


def item(number: int) -> MetricItem:
    return MetricItem(
        id=f"i{number}",
        question=f"What is item {number}?",
        answer=f"Item {number} is blue.",
        passages=(Passage("p1", f"Item {number} is blue."), Passage("p2", f"Item {number} weighs 3 grams.")),
    )


@pytest.mark.slow
def test_processes_give_the_scores_of_one() -> None:
    options = {"relevance": 1.0}

    async def every(metric: Metric) -> list[Score]:
        return list(await asyncio.gather(*(metric.score(item(number)) for number in range(8))))

    with TextWork(LIMIT, 2) as work:
        spread = asyncio.run(every(EmbeddedMetric(NLI, options, work)))
    assert spread == asyncio.run(every(build_metric(NLI, options=options)))


@pytest.mark.slow
def test_a_process_that_is_killed_costs_no_score() -> None:

    async def killed(metric: Metric) -> list[Score]:
        first = await metric.score(item(0))
        os.kill(IDLE[-1]._process.pid, signal.SIGKILL)
        return [first, *[await metric.score(item(number)) for number in range(1, 6)]]

    with TextWork(LIMIT) as work:
        found = asyncio.run(killed(EmbeddedMetric(NLI, {}, work)))
    assert [one.outcome for one in found] == [Outcome.JUDGED] * 6


@pytest.mark.slow
def test_an_answer_over_the_limit_is_not_scored_and_the_others_are() -> None:
    """A4: the answer has failed with the reason `time_limit`, and scoring goes on."""

    async def every(metric: Metric, slow: Metric) -> list[Score]:
        return list(await asyncio.gather(metric.score(item(0)), slow.score(item(1)), metric.score(item(2))))

    with TextWork(LIMIT) as work:
        slow = EmbeddedMetric(NLI, {}, work)
        slow._score = Hanging(NLI, "{}")
        found = asyncio.run(every(EmbeddedMetric(NLI, {}, work), slow))
    assert [one.outcome for one in found] == [Outcome.JUDGED, Outcome.FAILED, Outcome.JUDGED]
    assert (found[1].score, found[1].reason) == (None, "time_limit")


class Hanging(AnswerScorer):
    """A scorer that never comes to an end and takes no notice of anything."""

    def __reduce__(self) -> tuple[Any, tuple[object, ...]]:
        return Hanging, (NLI, "{}")

    def __call__(self, item: MetricItem) -> Score:
        re.search(r"(a+)+$", "a" * 60 + "b")
        raise AssertionError(item.id)


class Breaking:
    name = "breaking"

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def score(self, _item: MetricItem) -> Score:
        raise self._error


def test_an_answer_that_breaks_a_metric_has_failed() -> None:
    """A mistake that one text brings out is this answer's outcome with the reason, tried again next time."""
    found = asyncio.run(scored(Breaking(RecursionError("too deep")), item(1)))
    assert (found.outcome, found.score) == (Outcome.FAILED, None)
    assert "RecursionError: too deep" in found.reason


@pytest.mark.parametrize("error", [JudgeError("gone", advice="Wait."), SpecError("no prompt", advice="Add.")])
def test_what_concerns_every_answer_ends_the_run(error: Exception) -> None:
    with pytest.raises(type(error)):
        asyncio.run(scored(Breaking(error), item(1)))


@pytest.fixture
def crowd(arena_of: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    """The small set with so many systems that processes are worth their start."""
    monkeypatch.setenv("ARENA_PROCESSES", "2")
    with contextlib.closing(Arena(settings_of(arena_of.home))) as arena:
        for number in range(SYSTEMS):
            text = "Item {n} is {word}." + " It is here." * number
            path = answers_file(tmp_path, f"s{number}", text)
            arena.submissions.add(path, "tiny", system=f"s{number}")
    return arena_of


@pytest.mark.slow
def test_an_interrupt_ends_all_processes_in_order(crowd: Commands) -> None:
    words = ("metrics", "run", "--set", "tiny", "--metric", "factuality-fr3", "--json")
    crowd.prepare("http://127.0.0.1:9/v1")
    command = [sys.executable, "-m", "arena", *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        until(lambda: len(crowd.scores()) >= 3, 60)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "Traceback" not in err
    found = json.loads(out)
    assert found["judged"] == len(crowd.scores())
    assert found["pending"] == 12 * (SYSTEMS + 2) - found["judged"]
    until(lambda: not alive(process.pid), 10)


def alive(group: int) -> list[str]:
    """The processes of a group that run, without those that nobody has buried yet (Linux)."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _parent, of_group = stat.read_text().rpartition(")")[2].split()[:3]
            if int(of_group) == group and state != "Z":
                found.append(stat.parent.name)
    return found


def test_names_fit_the_database_and_tell_options_apart(make_arena: Fill) -> None:
    access = make_arena().metric_access
    assert access.kept_as("", {}) == ""
    assert access.kept_as("", {"beta": 2}) == "beta=2"
    names = set()
    for count in (1, 2):
        judgments: dict[str, Json] = {f"q{number}": {"p": [count]} for number in range(500)}
        options: dict[str, Json] = {f"option_{letter}": 1_000_000 for letter in "abcdefgh"}
        options["judgments"] = judgments
        names.add(access.kept_as("reference-free", options))
    assert len(names) == 2
    assert max(map(len, names)) == 100
