"""Rankings put into another order by a reranker: a server's, or the ratings of a judge's LLM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from data.records import Outcome, Passage
from judges.llm.requests import CallFailure
from judges.metrics.comprehensiveness.claims import Missing
from judges.metrics.context.raters import Rater
from judges.retrieval.http_service import HttpService, value_at
from judges.retrieval.ranking import Hit, Ranker


class Reranker(Protocol):
    """Scores passages for a query."""

    async def score(self, query: str, passages: Sequence[Passage]) -> Sequence[float] | CallFailure:
        """One score a passage, higher is better; or why there are none.

        Raises:
            JudgeError: Asking as a whole cannot go on.
        """
        ...


class HttpReranker:
    """Asks a server for the scores of passages."""

    def __init__(self, service: HttpService) -> None:
        self._service = service

    async def score(self, query: str, passages: Sequence[Passage]) -> Sequence[float] | CallFailure:
        """Score; a reply that leaves a passage out is a failure."""
        spec = self._service.spec
        texts = [f"{passage.title}\n{passage.text}".strip() for passage in passages]
        results = await self._service.ask(query, len(texts), texts)
        if isinstance(results, CallFailure):
            return results
        paths = (spec.score,) if isinstance(spec.score, str) else spec.score
        scores: dict[int, float] = {}
        for result in results:
            place = value_at(result, spec.index)
            score = next((found for path in paths if (found := value_at(result, path)) is not None), None)
            if isinstance(place, int) and isinstance(score, int | float):
                scores[place] = float(score)
        if set(scores) != set(range(len(texts))):
            why = f"it scored {len(scores)} of {len(texts)} passages"
            detail = f"The search service {spec.name} failed: {why}."
            return CallFailure(outcome=Outcome.FAILED, detail=detail)
        return [scores[place] for place in range(len(texts))]


class RatingReranker:
    """Takes the rating of 0–5 that a judge's LLM gives how well a passage answers the question.

    Args:
        rater: Rates; the sub-question is the question itself.

    Source: CRUX, section 3.1, for the rating.
    """

    def __init__(self, rater: Rater) -> None:
        self._rater = rater

    async def score(self, query: str, passages: Sequence[Passage]) -> Sequence[float] | CallFailure:
        """Score."""
        rows = await self._rater.passages(passages, [query])
        if isinstance(rows, Missing):
            return CallFailure(outcome=rows.outcome, detail=rows.reason)
        return [row[0] for row in rows]


@dataclass(frozen=True, slots=True)
class RerankedRanker:
    """Reorders the first passages of a ranking by a reranker's scores; equal ones keep their order.

    Attributes:
        ranker: Finds the passages.
        reranker: Scores them.
        depth: How many are scored, at least as many as are asked for.
    """

    ranker: Ranker
    reranker: Reranker
    depth: int = 50

    async def rank(self, query: str, k: int) -> Sequence[Hit] | CallFailure:
        """Rank."""
        hits = await self.ranker.rank(query, max(k, self.depth))
        if isinstance(hits, CallFailure) or not hits:
            return hits
        scores = await self.reranker.score(query, [hit.passage for hit in hits])
        if isinstance(scores, CallFailure):
            return scores
        reordered = [replace(hit, score=score) for hit, score in zip(hits, scores, strict=True)]
        return sorted(reordered, key=lambda hit: -hit.score)[:k]
