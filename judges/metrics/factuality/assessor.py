"""What every assessor of factuality has in common: a name, and a score of an answer or of given claims."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace

from data.models import Json, MetricItem, Outcome, Score, unscored
from judges.metrics.factuality.evidence import UnscoredError
from judges.metrics.guard import named, surface_of


class Assessor(ABC):
    """Scores an answer by the share of its claims that hold.

    Args:
        kind: How it assesses; the metric is named after it.
        engine: The embedded version, which looks at an answer's form too; empty where an LLM is asked.
    """

    def __init__(self, kind: str, *, engine: str = "") -> None:
        self._kind = kind
        self._engine = engine

    @property
    def name(self) -> str:
        """The metric's name."""
        return f"factuality-{self._kind}"

    async def score(self, item: MetricItem) -> Score:
        """Score one answer; `details` say what the score depends on.

        Raises:
            JudgeError: Asking as a whole cannot go on.
        """
        if not self._engine:
            return await self.score_claims(item, None)
        surface = surface_of(item)
        return surface.weigh(await self.score_claims(replace(item, answer=surface.answer), None))

    async def score_claims(self, item: MetricItem, claims: Sequence[str] | None) -> Score:
        """Score given claims in place of those of the answer; None for those of the answer, as it stands.

        Raises:
            JudgeError: Asking as a whole cannot go on.
        """
        try:
            details, score = await self._judged(item, claims)
        except UnscoredError as stop:
            found = unscored(item, self.name, stop.outcome, stop.reason)
        else:
            found = Score(id=item.id, metric=self.name, outcome=Outcome.JUDGED, score=score, details=details)
        return named(found, self._engine) if self._engine else found

    @abstractmethod
    async def _judged(self, item: MetricItem, claims: Sequence[str] | None) -> tuple[dict[str, Json], float]:
        """Details and score of the answer, or of the given claims.

        Raises:
            UnscoredError: There is nothing to score.
            JudgeError: Asking as a whole cannot go on.
        """
