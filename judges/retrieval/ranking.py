"""Rankings of passages: by the words of a corpus, or by a search on the web."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from data.corpora.documents import document_of
from data.corpora.index import Corpus
from data.models import Passage
from judges.llm.requests import CallFailure
from judges.metrics.coverage.sources import Source


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage and its score: higher is better, comparable within one ranking."""

    passage: Passage
    score: float


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
        return [Hit(passage, score) for passage, score in self._corpus.search(query, k)]


class SourceRanker:
    """Ranks the passages of a source by their order: score 1 / place."""

    def __init__(self, source: Source) -> None:
        self._source = source

    async def rank(self, query: str, k: int) -> Sequence[Hit] | CallFailure:
        """Rank."""
        passages = await self._source.find(query, k)
        if isinstance(passages, CallFailure):
            return passages
        return [Hit(passage, 1 / place) for place, passage in enumerate(passages, start=1)]


class RankedSource:
    """Finds the first passages of a ranking."""

    def __init__(self, ranker: Ranker) -> None:
        self._ranker = ranker

    async def find(self, query: str, k: int) -> Sequence[Passage] | CallFailure:
        """Return the first `k` passages, or why the search failed."""
        hits = await self._ranker.rank(query, k)
        return hits if isinstance(hits, CallFailure) else [hit.passage for hit in hits]


def by_document(hits: Sequence[Hit], k: int) -> list[Hit]:
    """Keep the best chunk of each document, under the document's id."""
    best: dict[str, Hit] = {}
    for hit in hits:
        name = document_of(hit.passage.id)
        best.setdefault(name, replace(hit, passage=replace(hit.passage, id=name)))
    return list(best.values())[:k]
