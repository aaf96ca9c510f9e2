"""A metric that searched elsewhere than in its items' passages, with what it searched kept in its scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from data.records import Json, MetricItem, Score
from judges.metrics import Metric

SEARCHED = "searched"


class SourcedMetric:
    """Adds to every score, those without a value too, what was searched: `details["searched"]`.

    Args:
        metric: Scores.
        about: What it searches: a corpus with its content hash, the retriever, the model of embeddings.
    """

    def __init__(self, metric: Metric, about: Mapping[str, Json]) -> None:
        self._metric = metric
        self._about = dict(about)

    @property
    def name(self) -> str:
        """The metric's name."""
        return self._metric.name

    async def score(self, item: MetricItem) -> Score:
        """Score one answer.

        Raises:
            JudgeError: Scoring as a whole cannot go on.
        """
        score = await self._metric.score(item)
        return replace(score, details={**score.details, SEARCHED: self._about})
