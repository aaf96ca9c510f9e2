"""Corpora, and the retrievers that metrics and `arena retrieve` open."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from arena.settings import Settings
from data.corpora.documents import Chunking
from data.corpora.index import CorpusLibrary, Imported, Manifest
from data.errors import InputError
from data.models import Passage
from judges.retrieval import BM25, WEB, Opened, retriever_info

HASH_SHOWN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """Where a metric retrieves evidence: in a corpus, where the retriever looks, or in an item's passages."""

    corpus: str = ""
    retriever: str = BM25

    def __post_init__(self) -> None:
        info = retriever_info(self.retriever, evidence=True)
        if not self.in_passages:
            info.require(corpus=self.corpus)

    @property
    def in_passages(self) -> bool:
        """Whether items bring their own passages."""
        return self.retriever == BM25 and not self.corpus


class CorpusService:
    """Use cases around corpora."""

    def __init__(self, library: CorpusLibrary, settings: Settings) -> None:
        self._library = library
        self._settings = settings

    def add(self, name: str, path: Path) -> Imported:
        """Import documents under a name; the same import twice builds nothing."""
        return self._library.add(name, path)

    def list(self) -> tuple[Manifest, ...]:
        """The corpora, by name."""
        return self._library.list()

    @asynccontextmanager
    async def source(self, request: SearchRequest) -> AsyncIterator[Opened | None]:
        """Open what is to be searched; None where items bring their own passages."""
        if request.in_passages:
            yield None
            return
        async with retriever_info(request.retriever).opened(self, request.corpus) as opened:
            yield opened

    def passages(self, name: str, ids: Collection[str]) -> Mapping[str, Passage]:
        """The chunks of a corpus with these ids, and its documents, put together from their chunks."""
        return self._library.open(name).named(ids)

    @asynccontextmanager
    async def words(self, corpus: str) -> AsyncIterator[Opened]:
        """Open a corpus."""
        from judges.retrieval import WordRanker  # noqa: PLC0415 - loads arrays, which lists do without

        opened = self._library.open(corpus)
        manifest = opened.manifest
        yield Opened(
            ranker=WordRanker(opened),
            about={
                "corpus": manifest.name,
                "content_hash": manifest.content_hash,
                "analyser": manifest.analyser,
                "retriever": BM25,
            },
            key=f"corpus={manifest.name}@{manifest.content_hash[:HASH_SHOWN]}",
        )

    @asynccontextmanager
    async def web(self, _corpus: str) -> AsyncIterator[Opened]:
        """Open the web.

        Raises:
            InputError: No search is set.
        """
        import httpx  # noqa: PLC0415 - slow to load, and only this retriever asks it

        from judges.metrics.coverage.sources import WebSource  # noqa: PLC0415 - as in `words`
        from judges.retrieval import SourceRanker  # noqa: PLC0415 - as in `words`

        if not self._settings.search_url:
            message = "No web search is set, so the web cannot be searched."
            raise InputError(message, advice="Set ARENA_SEARCH_URL to a URL with {query} in it.")
        async with httpx.AsyncClient(follow_redirects=True) as client:
            found = WebSource(self._settings.search_url, client, Chunking())
            yield Opened(
                ranker=SourceRanker(found),
                about={"retriever": WEB, "search": found.host},
                key=f"web={found.host}",
            )
