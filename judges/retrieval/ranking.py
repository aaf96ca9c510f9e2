"""Rankings of passages: by words, by vectors, on the web, fused, made diverse, reordered by a reranker."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from data.corpora.chunking import document_of
from data.corpora.dense import VectorIndex
from data.corpora.index import Corpus
from data.errors import InputError
from data.records import Passage
from judges.embedding.base import Embedder
from judges.llm.requests import CallFailure
from judges.metrics.comprehensiveness.claims import Missing
from judges.metrics.context.raters import Rater
from judges.metrics.coverage.sources import Source
from judges.text.tokens import terms

FUSION = 60
"""The constant of reciprocal rank fusion."""
DEPTH = 100
"""How many of each ranking are fused or diversified, at least."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found, and its score: higher is better, comparable within one ranking alone.

    Attributes:
        remark: What is to be known of the passage, as that a page could not be read; empty where nothing is.
    """

    passage: Passage
    score: float
    remark: str = ""


class Ranker(Protocol):
    """Ranks passages for a query."""

    async def rank(self, query: str, k: int) -> Sequence[Hit] | CallFailure:
        """Return at most `k` passages, best first, or why there are none.

        Raises:
            JudgeError: Searching as a whole cannot go on.
        """
        ...


class WordRanker:
    """Ranks the chunks of a corpus by BM25."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    async def rank(self, query: str, k: int) -> Sequence[Hit] | CallFailure:
        """Rank."""
        return [Hit(self._corpus.chunk(place), score) for place, score in self._corpus.search(query, k)]


class VectorRanker:
    """Ranks the chunks of a corpus by cosine similarity.

    Args:
        index: The vectors.
        embedder: Embeds queries; the same as embedded the corpus.
    """

    def __init__(self, index: VectorIndex, embedder: Embedder) -> None:
        self._index = index
        self._embedder = embedder

    async def rank(self, query: str, k: int) -> Sequence[Hit] | CallFailure:
        """Rank, or say why the query could not be embedded."""
        vectors = await self._embedder.embed([query])
        if isinstance(vectors, CallFailure):
            return vectors
        scored = await asyncio.to_thread(self._index.search, vectors[0], k)
        return [Hit(passage, score) for passage, score in scored]


class RankedSource:
    """Finds what a ranker ranks first.

    Args:
        ranker: Ranks.
    """

    def __init__(self, ranker: Ranker) -> None:
        self._ranker = ranker

    async def find(self, query: str, k: int) -> Sequence[Passage] | CallFailure:
        """Return the first `k` chunks, or why the search found nothing."""
        hits = await self._ranker.rank(query, k)
        return hits if isinstance(hits, CallFailure) else [hit.passage for hit in hits]


class SourceRanker:
    """Ranks what a source finds by its order alone: score 1 / place."""

    def __init__(self, source: Source) -> None:
        self._source = source

    async def rank(self, query: str, k: int) -> Sequence[Hit] | CallFailure:
        """Rank."""
        passages = await self._source.find(query, k)
        if isinstance(passages, CallFailure):
            return passages
        return [Hit(passage, 1 / place) for place, passage in enumerate(passages, start=1)]


class HybridRanker:
    """Fuses rankings by the reciprocals of their places: Σ 1 / (60 + place).

    Source: Cormack, Clarke & Büttcher (2009), "Reciprocal rank fusion".
    """

    def __init__(self, rankers: Sequence[Ranker]) -> None:
        self._rankers = rankers

    async def rank(self, query: str, k: int) -> Sequence[Hit] | CallFailure:
        """Rank; where one ranking fails, there is no fused one."""
        depth = max(k, DEPTH)
        rankings = await asyncio.gather(*(ranker.rank(query, depth) for ranker in self._rankers))
        scores: dict[str, float] = {}
        passages: dict[str, Passage] = {}
        for ranking in rankings:
            if isinstance(ranking, CallFailure):
                return ranking
            for place, hit in enumerate(ranking, start=1):
                scores[hit.passage.id] = scores.get(hit.passage.id, 0.0) + 1 / (FUSION + place)
                passages.setdefault(hit.passage.id, hit.passage)
        best = sorted(scores, key=lambda name: -scores[name])[:k]
        return [Hit(passages[name], scores[name]) for name in best]


@dataclass(frozen=True, slots=True)
class DiverseRanker:
    """Chooses one passage after another, near the query and unlike those before (maximal marginal relevance).

    Relevance is the ranking's score brought to 0–1, similarity the cosine of tf-idf weights.

    Attributes:
        ranker: Finds what is chosen from.
        relevance: λ, the weight of relevance against novelty; 1 leaves the ranking as it is.

    Raises:
        InputError: λ is outside of 0–1.

    Source: Carbonell & Goldstein (1998).
    """

    ranker: Ranker
    relevance: float

    def __post_init__(self) -> None:
        if not 0 <= self.relevance <= 1:
            raise InputError(
                f"λ is {self.relevance:g}.", advice="Use 0 (novelty alone) to 1 (relevance alone)."
            )

    async def rank(self, query: str, k: int) -> Sequence[Hit] | CallFailure:
        """Rank; scores are those of the first choice downwards, so that the order is that of the scores."""
        hits = await self.ranker.rank(query, max(k, DEPTH))
        if isinstance(hits, CallFailure) or not hits:
            return hits
        scores = np.array([hit.score for hit in hits])
        spread = float(np.ptp(scores))
        relevance = (scores - scores.min()) / spread if spread else np.ones(len(hits))
        order = _marginal(relevance, _similarities([hit.passage for hit in hits]), self.relevance, k)
        return [replace(hits[at], score=1 / place) for place, at in enumerate(order, start=1)]


def _similarities(passages: Sequence[Passage]) -> NDArray[np.float64]:
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415 - takes seconds to load

    texts = [f"{passage.title} {passage.text}" for passage in passages]
    vectorizer = TfidfVectorizer(
        tokenizer=lambda text: list(terms(text)), token_pattern=None, lowercase=False
    )
    try:
        weights = vectorizer.fit_transform(texts)
    except ValueError:
        # No text has any term: nothing is like anything else.
        return np.eye(len(texts))
    return np.asarray((weights @ weights.T).todense())


def _marginal(
    relevance: NDArray[np.float64], similar: NDArray[np.float64], weight: float, k: int
) -> list[int]:
    chosen: list[int] = []
    nearest = np.zeros(len(relevance))
    left = np.ones(len(relevance), dtype=bool)
    while left.any() and len(chosen) < k:
        worth = np.where(left, weight * relevance - (1 - weight) * nearest, -np.inf)
        best = int(np.argmax(worth))
        chosen.append(best)
        left[best] = False
        nearest = np.maximum(nearest, similar[best])
    return chosen


def by_document(hits: Sequence[Hit], k: int) -> list[Hit]:
    """The best chunk of each document, under the document's id."""
    best: dict[str, Hit] = {}
    for hit in hits:
        name = document_of(hit.passage.id)
        best.setdefault(name, replace(hit, passage=replace(hit.passage, id=name)))
    return list(best.values())[:k]


class Reranker(Protocol):
    """Scores passages for a query."""

    async def score(self, query: str, passages: Sequence[Passage]) -> Sequence[float] | CallFailure:
        """One score a passage, higher is better; or why there are none.

        Raises:
            JudgeError: Asking as a whole cannot go on.
        """
        ...


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
