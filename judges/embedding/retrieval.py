"""Dense retrieval: embed a corpus once, then each query."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from data.corpora.dense import VectorIndex, VectorsAbout, VectorWriter, read_about
from data.corpora.index import Corpus
from data.errors import BudgetError, EndpointError
from data.records import Outcome, Passage
from judges.embedding.base import Embedder
from judges.llm.requests import Unanswered

AT_ONCE = 512
Report = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """What embedding a corpus did; `built` is False where its vectors were there already."""

    about: VectorsAbout
    built: bool


async def embed_corpus(corpus: Corpus, folder: Path, embedder: Embedder, report: Report) -> Embedded:
    """Embed the chunks of a corpus, unless its vectors are of the same content and model.

    Cut off, the same call goes on: texts that were embedded by an endpoint are in the cache.

    Args:
        corpus: Gives the chunks.
        folder: The corpus's own.
        embedder: Embeds.
        report: Called with the chunks embedded and those that there are.

    Raises:
        EndpointError: A text could not be embedded.
        BudgetError: The budget's cap is reached.
        StoreError: The vectors cannot be written.
    """
    wanted = VectorsAbout.of(
        corpus, model=embedder.model, endpoint=embedder.endpoint, fingerprint=embedder.fingerprint
    )
    old = read_about(folder)
    if old is not None and old.same_making(wanted):
        return Embedded(about=old, built=False)
    with VectorWriter(folder, wanted) as writer:
        for first in range(0, len(corpus), AT_ONCE):
            places = range(first, min(first + AT_ONCE, len(corpus)))
            vectors = await embedder.embed([_text(corpus.chunk(place)) for place in places])
            if isinstance(vectors, Unanswered):
                message = f"Embedding stopped after {first:,} of {len(corpus):,} chunks: {vectors.detail}"
                kind = BudgetError if vectors.outcome is Outcome.SKIPPED else EndpointError
                raise kind(message, advice="Run it again to go on: what was embedded is kept.")
            writer.add(vectors)
            report(places.stop, len(corpus))
        return Embedded(about=writer.finish(), built=True)


class DenseSource:
    """Searches a corpus by the similarity of vectors.

    Args:
        index: The vectors.
        embedder: Embeds queries; the same as embedded the corpus.
    """

    def __init__(self, index: VectorIndex, embedder: Embedder) -> None:
        self._index = index
        self._embedder = embedder

    async def find(self, query: str, k: int) -> Sequence[Passage] | Unanswered:
        """Return the `k` most similar chunks, or why the query could not be embedded."""
        vectors = await self._embedder.embed([query])
        if isinstance(vectors, Unanswered):
            return vectors
        return await asyncio.to_thread(self._index.find, vectors[0], k)


def _text(chunk: Passage) -> str:
    return f"{chunk.title}\n{chunk.text}".strip()
