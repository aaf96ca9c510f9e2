"""Runs of a metric over stored answers, in this process and its children."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from arena.services.jobs.cancellation import (
    StopEvent,
    stopping_on_halt,
    stopping_on_interrupt,
    telling,
)
from arena.services.metrics.embedded import IN_FLIGHT, EmbeddedMetric
from arena.services.metrics.factory import MetricAccess, MetricRequest, OpenedMetric
from arena.services.metrics.scoring import RETRIED, MetricRun, Scored, score_pending
from arena.services.system.text_process import TextWork
from arena.settings import Settings
from data.models import Submission
from data.store import Store
from judges.llm.costs import Usage
from judges.metrics.registry import Metric

MOST_REASONS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """What is to be scored."""

    submissions: tuple[int, ...]
    request: MetricRequest
    stop_event: StopEvent | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Done:
    """What came of it; `left` answers have no score since it was stopped."""

    judge: str
    model: str
    scored: Scored
    usage: Usage
    left: int


class ScoringRuns:
    """Scores answers that have no score yet; for the arguments see `MetricService`."""

    def __init__(self, store: Store, access: MetricAccess, settings: Settings) -> None:
        self._store = store
        self._access = access
        self._settings = settings

    def run(
        self,
        entrants: Sequence[Submission],
        request: MetricRequest,
        stop_event: StopEvent | None = None,
    ) -> MetricRun:
        """Score the answers of some submissions.

        Raises:
            JudgeError: Scoring cannot go on; what was scored is stored.
        """
        answers = sum(entrant.answers for entrant in entrants)
        work = _Work(
            submissions=tuple(entrant.id for entrant in entrants),
            request=request,
            stop_event=stop_event,
        )
        done = asyncio.run(self._score(work, self._settings.processes_for(answers)))
        scored = done.scored
        return MetricRun(
            metric=request.metric,
            judge=done.judge,
            model=done.model,
            answers=answers,
            kept=answers - done.left - scored.outcomes.total(),
            pending=done.left,
            usage=done.usage,
            outcomes=scored.outcomes,
            reasons=tuple(scored.reasons.most_common(MOST_REASONS)),
            notes=tuple(scored.notes.most_common(MOST_REASONS)),
            mean=scored.mean,
        )

    async def _score(self, work: _Work, processes: int) -> _Done:
        """Score in this process and so many others."""
        numbers, stop = work.submissions, asyncio.Event()
        with stopping_on_interrupt(stop), TextWork(self._settings.work_seconds, processes) as texts:
            async with (
                stopping_on_halt(work.stop_event, stop),
                telling(stop, texts.stop),
                self._access.open(work.request, stop) as opened,
            ):
                pending = self._pending(numbers, opened.metric, opened.judge)
                metric = scored_elsewhere(opened, texts)
                scored = await score_pending(
                    self._store,
                    metric,
                    judge=opened.judge,
                    submissions=numbers,
                    concurrency=opened.concurrency if metric is opened.metric else IN_FLIGHT * processes,
                    stop=stop,
                )
        return _Done(
            judge=opened.judge,
            model=opened.model,
            scored=scored,
            usage=opened.usage,
            left=pending - scored.outcomes.total(),
        )

    def _pending(self, numbers: Sequence[int], metric: Metric, judge: str) -> int:
        return self._store.scores.pending(numbers, metric=metric.name, judge=judge, again=RETRIED)


def scored_elsewhere(opened: OpenedMetric, work: TextWork) -> Metric:
    """A metric that needs nothing of this process, scoring in others; another one as it is."""
    if opened.options is None:
        return opened.metric
    return EmbeddedMetric(opened.metric.name, opened.options, work)
