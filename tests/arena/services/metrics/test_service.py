from __future__ import annotations

import asyncio
import os
import re
import signal
from typing import Any

import pytest

from arena.services.metrics.embedded import AnswerScorer, EmbeddedMetrics, scored
from arena.services.text_process import IDLE, TextWork
from data.errors import JudgeError, SpecError
from data.models import Json, MetricItem, Outcome, Passage, Score
from judges.metrics.registry import Metric, build_metric
from tests.arena.conftest import Fill

NLI = "comprehensiveness-nli"
SLOW = "slow"
LIMIT = 1.5


def item(number: int) -> MetricItem:
    return MetricItem(
        id=f"i{number}",
        question=f"What is item {number}?",
        answer=f"Item {number} is blue.",
        passages=(Passage("p1", f"Item {number} is blue."), Passage("p2", f"Item {number} weighs 3 grams.")),
    )


@pytest.mark.slow
def test_scores_do_not_depend_on_processes() -> None:
    options = {"relevance": 1.0}

    async def every(metric: Metric) -> list[list[Score]]:
        return [[await metric.score(item(number))] for number in range(8)]

    with TextWork(LIMIT, 2) as work:
        embedded = EmbeddedMetrics([AnswerScorer(NLI, options)], work)
        spread = asyncio.run(embedded.score([(item(number), (NLI,)) for number in range(8)]))
    assert spread == asyncio.run(every(build_metric(NLI, options=options)))


@pytest.mark.slow
def test_killed_process_loses_no_score() -> None:

    async def killed(metric: EmbeddedMetrics) -> list[list[Score]]:
        first = await metric.score([(item(0), (NLI,))])
        os.kill(IDLE[-1]._process.pid, signal.SIGKILL)
        return [*first, *await metric.score([(item(number), (NLI,)) for number in range(1, 6)])]

    with TextWork(LIMIT) as work:
        scores = asyncio.run(killed(EmbeddedMetrics([AnswerScorer(NLI, {})], work)))
    assert [score.outcome for (score,) in scores] == [Outcome.JUDGED] * 6


@pytest.mark.slow
def test_slow_answer_fails_alone() -> None:
    rows = [(item(0), (NLI,)), (item(1), (NLI, SLOW)), (item(2), (NLI,))]
    with TextWork(LIMIT) as work:
        metrics = EmbeddedMetrics([AnswerScorer(NLI, {}), Hanging(SLOW, {})], work)
        scores = [score for own in asyncio.run(metrics.score(rows)) for score in own]
    expected = [Outcome.JUDGED, Outcome.JUDGED, Outcome.FAILED, Outcome.JUDGED]
    assert [score.outcome for score in scores] == expected
    assert (scores[2].score, scores[2].reason, scores[2].metric) == (None, "time_limit", SLOW)


class Hanging(AnswerScorer):
    """Scorer that never ends and cannot be interrupted."""

    def __reduce__(self) -> tuple[Any, tuple[object, ...]]:
        return Hanging, (SLOW, {})

    async def score(self, item: MetricItem) -> Score:
        re.search(r"(a+)+$", "a" * 60 + "b")
        raise AssertionError(item.id)


class Breaking:
    name = "breaking"

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def score(self, _item: MetricItem) -> Score:
        raise self._error


def test_metric_error_fails_only_its_answer() -> None:
    """An error on one text is the outcome of its answer, with the reason, and is retried."""
    score = asyncio.run(scored(Breaking(RecursionError("too deep")), item(1)))
    assert (score.outcome, score.score) == (Outcome.FAILED, None)
    assert "RecursionError: too deep" in score.reason


@pytest.mark.parametrize("error", [JudgeError("gone", advice="Wait."), SpecError("no prompt", advice="Add.")])
def test_judge_error_ends_run(error: Exception) -> None:
    with pytest.raises(type(error)):
        asyncio.run(scored(Breaking(error), item(1)))


def test_score_names_are_short_and_distinct(make_arena: Fill) -> None:
    access = make_arena().metric_access
    assert access.score_name("", {}) == ""
    assert access.score_name("", {"beta": 2}) == "beta=2"
    names = set()
    for count in (1, 2):
        judgments: dict[str, Json] = {f"q{number}": {"p": [count]} for number in range(500)}
        options: dict[str, Json] = {f"option_{letter}": 1_000_000 for letter in "abcdefgh"}
        options["judgments"] = judgments
        names.add(access.score_name("reference-free", options))
    assert len(names) == 2
    assert max(map(len, names)) == 100
