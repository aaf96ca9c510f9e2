"""Where evidence is looked for: passages, a corpus on disk, or the web."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np

from data.corpora.chunking import Chunking, chunk_id
from data.corpora.terms import Analyser
from data.records import Passage
from judges.llm.requests import CallFailure
from judges.metrics.factuality.evidence.contexts import Ranking, Retriever
from judges.metrics.relations.model import QUESTIONS_KEPT
from judges.text.tokens import term, words

TERMS = Analyser("terms-1", words, term)
"""How corpora are indexed: by the terms that texts are compared by; another name for every change of them."""


class Source(Protocol):
    """Finds texts that bear on a claim."""

    async def find(self, query: str, k: int) -> Sequence[Passage] | CallFailure:
        """Return at most `k` chunks, best first, or why the search found nothing.

        Raises:
            JudgeError: Searching as a whole cannot go on.
        """
        ...


@dataclass(frozen=True, slots=True)
class Snippet:
    """What a web search found."""

    url: str
    text: str
    title: str = ""


class WebSearch(Protocol):
    """A web search service; a failure is returned, not taken for an empty result."""

    async def search(self, query: str, count: int) -> Sequence[Snippet] | CallFailure:
        """Search the web."""
        ...


class WebSource:
    """Takes the snippets of a web search as chunks, cut where they are longer.

    Source: ICAT, section 4.3 (snippets of a search API in place of the corpus).
    """

    def __init__(self, search: WebSearch, chunking: Chunking) -> None:
        self._search = search
        self._chunking = chunking

    async def find(self, query: str, k: int) -> Sequence[Passage] | CallFailure:
        """Search the web; the address is the id."""
        results = await self._search.search(query, k)
        if isinstance(results, CallFailure):
            return results
        return chunks_of(
            [Passage(result.url, result.text, result.title) for result in results], self._chunking
        )[:k]


class LocalSource:
    """Searches whatever is on this machine: a corpus, or anything else that finds passages."""

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever

    async def find(self, query: str, k: int) -> Sequence[Passage] | CallFailure:
        """Search."""
        return self._retriever.find(query, k)


class ChunkIndex:
    """BM25 over the chunks of a few passages; all chunks can be found, the nearest first."""

    def __init__(self, passages: Sequence[Passage], chunking: Chunking) -> None:
        self.chunks = chunks_of(passages, chunking)
        self._ranking = Ranking(self.chunks)

    def find(self, query: str, k: int) -> tuple[Passage, ...]:
        """Return at most `k` chunks, best first, equally good ones in their own order."""
        scores = self._ranking.scores(query)
        if scores is None:
            return self.chunks[:k]
        return tuple(self.chunks[place] for place in np.argsort(-scores, kind="stable")[:k])


@lru_cache(maxsize=QUESTIONS_KEPT)
def chunk_index(passages: tuple[Passage, ...], chunking: Chunking) -> ChunkIndex:
    """The index of a question's passages, the same for every answer to it."""
    return ChunkIndex(passages, chunking)


def chunks_of(passages: Sequence[Passage], chunking: Chunking) -> tuple[Passage, ...]:
    """Cut passages into chunks; one that is short enough keeps its id, others get numbers."""
    chunks: list[Passage] = []
    for passage in passages:
        pieces = list(chunking.cut(passage.text))
        for number, piece in enumerate(pieces, start=1):
            name = passage.id if len(pieces) == 1 else chunk_id(passage.id, number)
            chunks.append(Passage(name, piece, passage.title))
    return tuple(chunks)
