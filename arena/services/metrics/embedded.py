"""Embedded metrics: each answer is scored in another process, within a limit of time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from functools import lru_cache

from arena.services.metrics.factory import OpenedMetric
from arena.services.metrics.scoring import scored
from data.errors import WorkError
from data.models import Json, MetricItem, Outcome, Passage, Score, unscored
from judges.base import TextWork, reason_of
from judges.metrics.registry import Metric, build_metric

IN_FLIGHT = 64
"""Answers a process has at hand: it never waits for the next, and has all answers to a question."""


def scored_elsewhere(opened: OpenedMetric, work: TextWork, processes: int) -> tuple[Metric, int]:
    """A metric and its answers in flight; in other processes where it needs nothing of this one."""
    if opened.options is None:
        return opened.metric, opened.concurrency
    return EmbeddedMetric(opened.metric.name, opened.options, work), IN_FLIGHT * processes


class EmbeddedMetric:
    """An embedded metric whose answers are scored in other processes."""

    def __init__(self, name: str, options: Mapping[str, Json], work: TextWork) -> None:
        self._score = AnswerScorer(name, json.dumps(dict(options), sort_keys=True))
        self._work = work

    @property
    def name(self) -> str:
        """The metric's name."""
        return self._score.name

    async def score(self, item: MetricItem) -> Score:
        """Score one answer; one that takes longer than it may is not scored, and no other is concerned (A4).

        Raises:
            StoppedError: Scoring was stopped before it was done.
            JudgeError: No process can be started.
        """
        try:
            return await self._work.do(self._score, item)
        except WorkError as error:
            return unscored(item, self.name, Outcome.FAILED, reason_of(error))


class AnswerScorer:
    """Scores one answer; in another process, the metric is built once."""

    def __init__(self, name: str, options: str) -> None:
        self.name = name
        self._options = options

    def __reduce__(self) -> tuple[Callable[..., AnswerScorer], tuple[object, ...]]:
        """Let another process build it before the first answer, which takes longer than to score one."""
        return _ready_scorer, (self.name, self._options)

    def __call__(self, item: MetricItem) -> Score:
        """Score one answer."""
        return asyncio.run(scored(self.metric, item))

    @property
    def metric(self) -> Metric:
        """The metric, of this process."""
        return _metric(self.name, self._options)


def _ready_scorer(name: str, options: str) -> AnswerScorer:
    scorer = AnswerScorer(name, options)
    # What a first text loads is no answer's own time.
    scorer(
        MetricItem(
            id="", question="Which is it?", answer="It is the first.", passages=(Passage("", "It is."),)
        )
    )
    return scorer


@lru_cache(maxsize=16)
def _metric(name: str, options: str) -> Metric:
    return build_metric(name, options=json.loads(options))
