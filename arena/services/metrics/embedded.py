"""Embedded metrics in other processes, which import only this module and the metrics."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import lru_cache

from arena.services.text_process import TextWork
from data.errors import JudgeError, SpecError, WorkError
from data.models import Json, MetricItem, Outcome, Passage, Score, unscored
from judges.base import reason_of
from judges.metrics.registry import Metric, build_metric

Rows = Sequence[tuple[MetricItem, tuple[str, ...]]]
"""Answers to one question, each with the metrics that score it."""
ScoreRows = Callable[[Rows], Awaitable[list[list[Score]]]]


async def scored(metric: Metric, item: MetricItem) -> Score:
    """Score one answer; an exception of the metric fails only this answer."""
    try:
        return await metric.score(item)
    except (JudgeError, SpecError):
        raise
    except Exception as error:  # noqa: BLE001 - counted as failed, with its reason
        reason = f"The metric raised an error ({type(error).__name__}: {error})."
        return unscored(item, metric.name, Outcome.FAILED, reason)


class EmbeddedMetrics:
    """Embedded metrics that score in other processes, answers to a question together."""

    def __init__(self, scorers: "Sequence[AnswerScorer]", work: TextWork) -> None:
        self._scorers = {scorer.name: scorer for scorer in scorers}
        self._work = work

    async def score(self, rows: Rows) -> list[list[Score]]:
        """Score answers; a timeout fails only its own answer."""
        if self._work.here(rows):
            return await _scores(self._scorers, rows)
        try:
            return await self._work.do(_scores_of, self._scorers, rows)
        except WorkError as error:
            (item, names), *rest = rows
            if not rest and len(names) == 1:
                return [[unscored(item, names[0], Outcome.FAILED, reason_of(error))]]
        apart = [[await self.score([(item, (name,))]) for name in names] for item, names in rows]
        return [[score for ((score,),) in own] for own in apart]


def _scores_of(scorers: "Mapping[str, AnswerScorer]", rows: Rows) -> list[list[Score]]:
    return _loop().run_until_complete(_scores(scorers, rows))


@lru_cache(maxsize=1)
def _loop() -> asyncio.AbstractEventLoop:
    """Return the loop of this process; `asyncio.run` for each question took 5 % of the time."""
    return asyncio.new_event_loop()


async def _scores(scorers: "Mapping[str, AnswerScorer]", rows: Rows) -> list[list[Score]]:
    return [[await scorers[name].score(item) for name in names] for item, names in rows]


class AnswerScorer:
    """Scorer of answers by one metric, which a process builds once."""

    def __init__(self, name: str, options: Mapping[str, Json]) -> None:
        self.name = name
        self._options = json.dumps(dict(options), sort_keys=True)

    def __reduce__(self) -> "tuple[Callable[..., AnswerScorer], tuple[object, ...]]":
        """Build the metric when unpickled, so that its start does not count against the first answer."""
        return _ready_scorer, (self.name, self._options)

    async def score(self, item: MetricItem) -> Score:
        """Score one answer."""
        return await scored(_metric(self.name, self._options), item)


@lru_cache(maxsize=16)
def _ready_scorer(name: str, options: str) -> AnswerScorer:
    scorer = AnswerScorer(name, json.loads(options))
    # The first text loads models, which must not count as an answer's time.
    first = MetricItem(
        id="", question="Which is it?", answer="It is the first.", passages=(Passage("", "It is."),)
    )
    _loop().run_until_complete(scorer.score(first))
    return scorer


@lru_cache(maxsize=16)
def _metric(name: str, options: str) -> Metric:
    return build_metric(name, options=json.loads(options))
