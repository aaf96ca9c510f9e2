"""Corpora, and what metrics search: a corpus by words or vectors, or the web."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from arena.services.judging.llm_access import StoredReplies, access_settings
from arena.settings import Settings
from data.corpora.chunking import Chunking
from data.corpora.dense import VectorIndex
from data.corpora.library import CorpusLibrary, Imported
from data.corpora.manifests import GraphAbout, Manifest
from data.errors import InputError, StoreError
from data.records import Json, Passage
from data.store import Store
from judges.embedding.base import Embedded, Embedder, LocalEmbedder, embed_corpus
from judges.embedding.endpoint import EmbeddingTransport, EndpointEmbedder, embedding_access
from judges.llm.costs import Ledger, MemoryLedger, Usage
from judges.llm.factory import open_client
from judges.metrics.coverage.sources import HttpSearch, LocalSource, Source, WebSource
from judges.metrics.registry import RetrieverKind
from judges.retrieval.ranking import RankedSource, Ranker, SourceRanker, VectorRanker, WordRanker

HASH_SHOWN = 12
EMBEDDING_CALLS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """Where a metric retrieves evidence.

    Attributes:
        corpus: Name of a corpus; empty: in the passages of each item, or on the web.
        retriever: How; in the passages of an item always `bm25`.
    """

    corpus: str = ""
    retriever: RetrieverKind = RetrieverKind.BM25

    def __post_init__(self) -> None:
        if self.retriever is RetrieverKind.DENSE and not self.corpus:
            raise InputError("There is no corpus to search by vectors.", advice="Name one with --corpus.")
        if self.retriever is RetrieverKind.WEB and self.corpus:
            message = f"The corpus {self.corpus} and the web cannot both be searched."
            raise InputError(message, advice="Leave out --corpus, or choose another retriever.")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedSource:
    """A source that is ready to be searched.

    Attributes:
        about: What it is, as it is stored with scores.
        key: The same in a few words, which distinguish scores of different sources.
        usage: What embedding queries took so far.
    """

    source: Source
    about: Mapping[str, Json]
    key: str
    usage: Usage


class CorpusService:
    """Use cases around corpora."""

    def __init__(self, library: CorpusLibrary, store: Store, settings: Settings) -> None:
        self._library = library
        self._store = store
        self._settings = settings

    def add(self, name: str, path: Path) -> Imported:
        """Import documents under a name; the same import twice builds nothing.

        Raises:
            InvalidFileError: Documents have problems; all of them are listed, and nothing is changed.
            FileFormatError: There are no documents, or none with words.
            StoreError: The files cannot be written.
        """
        return self._library.add(name, path)

    def list(self) -> tuple[Manifest, ...]:
        """The corpora, by name."""
        return self._library.list()

    def approximate(self, name: str) -> GraphAbout:
        """Build the approximate index of a corpus's vectors, unless there is one, and say what it finds.

        Raises:
            NotFoundError: There is no such corpus.
            SpecError: The extra for it is not installed.
            StoreError: The corpus has no vectors, or the index cannot be written.
        """
        folder = self._library.folder_of(name)
        return self._library.graph(name) or VectorIndex(self._library.open(name), folder).build_graph(folder)

    def embed(
        self, name: str, model: str, *, endpoint: str = "", budget_usd: float | None = None
    ) -> tuple[Embedded, Usage]:
        """Embed the chunks of a corpus, in place of vectors of another model.

        The model is an endpoint's, or the path of a folder with a local one.

        Returns:
            What was done, and what it took.

        Raises:
            NotFoundError: There is no such corpus.
            SpecError: There is no such local model, or the extra for it is not installed.
            JudgeError: A text could not be embedded; what was embedded is stored.
        """
        corpus = self._library.open(name)
        url = self.endpoint_of(model, endpoint)
        ledger = None if budget_usd is None else MemoryLedger(budget_usd)

        async def run() -> tuple[Embedded, Usage]:
            async with self.embedder(model, url, ledger) as (embedder, usage):
                embedded = await embed_corpus(corpus, self._library.folder_of(name), embedder)
                return embedded, usage

        return asyncio.run(run())

    def endpoint_of(self, model: str, endpoint: str = "") -> str:
        """Where a model is asked: the endpoint given, else that of the settings; empty for a local folder."""
        return "" if Path(model).is_dir() else (endpoint or self._settings.endpoint).rstrip("/")

    @asynccontextmanager
    async def source(
        self, request: SearchRequest, ledger: Ledger | None = None
    ) -> AsyncIterator[OpenedSource | None]:
        """Open what is to be searched; None where items bring their own passages.

        Raises:
            NotFoundError: There is no such corpus.
            StoreError: Its files cannot be used, or it has no vectors and they are asked for.
            InputError: The web is to be searched, and no search is set.
        """
        if request.retriever is RetrieverKind.WEB:
            async with self._web() as opened:
                yield opened
        elif request.retriever is RetrieverKind.DENSE:
            async with self._dense(request.corpus, ledger) as opened:
                yield opened
        elif request.corpus:
            corpus = self._library.open(request.corpus)
            about = _about(corpus.manifest, RetrieverKind.BM25)
            key = _key(corpus.manifest)
            yield OpenedSource(source=LocalSource(corpus), about=about, key=key, usage=Usage())
        else:
            yield None

    @asynccontextmanager
    async def ranker(self, name: str, kind: str, *, approximate: bool = False) -> AsyncIterator[Ranker]:
        """Open a ranking: `bm25` or `dense` of a corpus, or `web`, which needs none.

        Errors are those of `source`; `approximate` asks the approximate index of `dense`.
        """
        if kind == RetrieverKind.WEB:
            async with self._web() as opened:
                yield SourceRanker(opened.source)
        elif kind == RetrieverKind.DENSE:
            async with self._vectors(name, None, approximate=approximate) as (index, embedder, _):
                yield VectorRanker(index, embedder)
        else:
            yield WordRanker(self._library.open(name))

    def passages(self, name: str, ids: Collection[str]) -> Mapping[str, Passage]:
        """The chunks of a corpus with these ids, and its documents, put together from their chunks.

        Raises:
            NotFoundError: There is no such corpus.
            StoreError: Its files cannot be used.
        """
        return self._library.open(name).named(ids)

    @asynccontextmanager
    async def _vectors(
        self, name: str, ledger: Ledger | None, *, approximate: bool = False
    ) -> AsyncIterator[tuple[VectorIndex, Embedder, Usage]]:
        corpus = self._library.open(name)
        index = VectorIndex(corpus, self._library.folder_of(name), approximate=approximate)
        vectors = index.about
        async with self.embedder(vectors.model, vectors.endpoint, ledger) as (embedder, usage):
            if embedder.fingerprint != vectors.fingerprint:
                message = (
                    f"The model {vectors.model} is not the one that the corpus {name} was embedded with."
                )
                raise StoreError(message, advice=f"Run `arena corpora embed {name} --model {vectors.model}`.")
            yield index, embedder, usage

    @asynccontextmanager
    async def _dense(self, name: str, ledger: Ledger | None) -> AsyncIterator[OpenedSource]:
        manifest = self._library.open(name).manifest
        async with self._vectors(name, ledger) as (index, embedder, usage):
            vectors = index.about
            about = {
                **_about(manifest, RetrieverKind.DENSE),
                "model": vectors.model,
                "endpoint": vectors.endpoint or None,
                "fingerprint": vectors.fingerprint or None,
            }
            origin = vectors.fingerprint[:HASH_SHOWN] or vectors.endpoint
            key = f"{_key(manifest)} dense={vectors.model}@{origin}"
            yield OpenedSource(
                source=RankedSource(VectorRanker(index, embedder)), about=about, key=key, usage=usage
            )

    @asynccontextmanager
    async def embedder(
        self, model: str, endpoint: str, ledger: Ledger | None
    ) -> AsyncIterator[tuple[Embedder, Usage]]:
        """Open what embeds texts: an endpoint's model, or a local one where no endpoint is given.

        Raises:
            SpecError: There is no such local model, or the extra for it is not installed.
        """
        if not endpoint:
            yield LocalEmbedder(Path(model)), Usage()
            return
        access = embedding_access(access_settings(self._settings, concurrency=EMBEDDING_CALLS))
        replies = StoredReplies(self._store)
        transport = EmbeddingTransport(access)
        try:
            async with open_client(access, replies, ledger, transport=transport) as client:
                yield EndpointEmbedder(client, endpoint=endpoint, model=model), client.usage
        finally:
            await replies.close()

    @asynccontextmanager
    async def _web(self) -> AsyncIterator[OpenedSource]:
        import httpx  # noqa: PLC0415 - slow to load, and only this retriever asks it

        if not self._settings.search_url:
            message = "No web search is set, so the web cannot be searched."
            raise InputError(message, advice="Set ARENA_SEARCH_URL to a URL with {query} in it.")
        async with httpx.AsyncClient(follow_redirects=True) as client:
            search = HttpSearch(self._settings.search_url, client)
            yield OpenedSource(
                source=WebSource(search, Chunking()),
                about={"retriever": RetrieverKind.WEB.value, "search": search.host},
                key=f"web={search.host}",
                usage=Usage(),
            )


def _about(manifest: Manifest, retriever: RetrieverKind) -> dict[str, Json]:
    return {
        "corpus": manifest.name,
        "content_hash": manifest.content_hash,
        "analyser": manifest.analyser,
        "retriever": retriever.value,
    }


def _key(manifest: Manifest) -> str:
    return f"corpus={manifest.name}@{manifest.content_hash[:HASH_SHOWN]}"
