"""Corpora, and what metrics search: a corpus by words or vectors, or the web."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
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
from judges.metrics.coverage.sources import HttpSearch, WebSource
from judges.retrieval.http_service import HttpRanker, HttpService, load_service
from judges.retrieval.ranking import HybridRanker, SourceRanker, VectorRanker, WordRanker
from judges.retrieval.registry import BM25, Opened, Search, retriever_info
from judges.retrieval.sql_service import SqlRanker, load_search, open_database

HASH_SHOWN = 12
EMBEDDING_CALLS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """Where a metric retrieves evidence.

    Attributes:
        corpus: Name of a corpus; empty: in the passages of each item, or where the retriever looks.
        retriever: The name of one that metrics may use; in the passages of an item always `bm25`.
    """

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

    def __init__(
        self, library: CorpusLibrary, store: Store, settings: Settings, variables: Mapping[str, str]
    ) -> None:
        self._library = library
        self._store = store
        self._settings = settings
        self._variables = variables

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
    ) -> AsyncIterator[Opened | None]:
        """Open what is to be searched; None where items bring their own passages.

        Raises:
            NotFoundError: There is no such corpus.
            StoreError: Its files cannot be used, or it has no vectors and they are asked for.
            InputError: The web is to be searched, and no search is set.
        """
        if request.in_passages:
            yield None
            return
        search = Search(corpus=request.corpus, ledger=ledger)
        async with retriever_info(request.retriever).opened(self, search) as opened:
            yield opened

    def passages(self, name: str, ids: Collection[str]) -> Mapping[str, Passage]:
        """The chunks of a corpus with these ids, and its documents, put together from their chunks.

        Raises:
            NotFoundError: There is no such corpus.
            StoreError: Its files cannot be used.
        """
        return self._library.open(name).named(ids)

    @asynccontextmanager
    async def words(self, search: Search) -> AsyncIterator[Opened]:
        """Open a corpus for a search by words.

        Raises:
            NotFoundError: There is no such corpus.
            StoreError: Its files cannot be used.
        """
        corpus = self._library.open(search.corpus)
        about, key = _about(corpus.manifest, BM25), _key(corpus.manifest)
        yield Opened(ranker=WordRanker(corpus), about=about, key=key)

    @asynccontextmanager
    async def vectors(self, search: Search) -> AsyncIterator[Opened]:
        """Open a corpus for a search by vectors.

        Raises:
            NotFoundError: There is no such corpus.
            StoreError: Its files cannot be used, or it has no vectors of this model.
        """
        corpus = self._library.open(search.corpus)
        folder = self._library.folder_of(search.corpus)
        index = VectorIndex(corpus, folder, approximate=search.approximate)
        vectors = index.about
        async with self.embedder(vectors.model, vectors.endpoint, search.ledger) as (embedder, usage):
            if embedder.fingerprint != vectors.fingerprint:
                message = (
                    f"The model {vectors.model} is not the one that the corpus {search.corpus} was embedded "
                    "with."
                )
                advice = f"Run `arena corpora import --name {search.corpus} --embeddings MODEL`."
                raise StoreError(message, advice=advice)
            about = {
                **_about(corpus.manifest, "dense"),
                "model": vectors.model,
                "endpoint": vectors.endpoint or None,
                "fingerprint": vectors.fingerprint or None,
            }
            origin = vectors.fingerprint[:HASH_SHOWN] or vectors.endpoint
            key = f"{_key(corpus.manifest)} dense={vectors.model}@{origin}"
            yield Opened(ranker=VectorRanker(index, embedder), about=about, key=key, usage=usage)

    @asynccontextmanager
    async def fused(self, search: Search) -> AsyncIterator[Opened]:
        """Open a corpus for both; errors are those of `vectors`."""
        async with self.words(search) as by_words, self.vectors(search) as by_vectors:
            rankers = (by_words.ranker, by_vectors.ranker)
            yield replace(by_vectors, ranker=HybridRanker(rankers), key=f"{by_vectors.key} hybrid")

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
    async def web(self, search: Search) -> AsyncIterator[Opened]:
        """Open the web.

        Raises:
            InputError: No search is set.
        """
        import httpx  # noqa: PLC0415 - slow to load, and only this retriever asks it

        del search
        if not self._settings.search_url:
            message = "No web search is set, so the web cannot be searched."
            raise InputError(message, advice="Set ARENA_SEARCH_URL to a URL with {query} in it.")
        async with httpx.AsyncClient(follow_redirects=True) as client:
            found = HttpSearch(self._settings.search_url, client)
            yield Opened(
                ranker=SourceRanker(WebSource(found, Chunking())),
                about={"retriever": "web", "search": found.host},
                key=f"web={found.host}",
            )

    @asynccontextmanager
    async def server(self, search: Search) -> AsyncIterator[Opened]:
        """Open a described server; errors are those of `service`."""
        async with self.service(search.description) as service:
            yield Opened(ranker=HttpRanker(service), about={"retriever": "http"}, key=search.description)

    @asynccontextmanager
    async def service(self, name: str) -> AsyncIterator[HttpService]:
        """Open what asks a described server, to search or to rerank.

        Raises:
            NotFoundError: There is no such description.
            SpecError: It cannot be used, or names a variable that is not set.
        """
        import httpx  # noqa: PLC0415 - slow to load, and only servers need it

        spec = load_service(name, self._variables, folders=(self._settings.retrievers_folder,))
        async with httpx.AsyncClient() as client:
            yield HttpService(spec, client)

    @asynccontextmanager
    async def database(self, search: Search) -> AsyncIterator[Opened]:
        """Open a described database.

        Raises:
            NotFoundError: There is no such description.
            SpecError: It cannot be used, or names a variable that is not set.
        """
        folders = (self._settings.retrievers_folder,)
        spec = load_search(search.description, self._variables, folders=folders)
        async with AsyncExitStack() as stack:
            database, embedder = stack.enter_context(open_database(spec)), None
            if spec.embedding is not None:
                model = spec.embedding.model
                endpoint = self.endpoint_of(model, spec.embedding.endpoint)
                opening = self.embedder(model, endpoint, search.ledger)
                embedder, _ = await stack.enter_async_context(opening)
            ranker = SqlRanker(spec, database, embedder)
            yield Opened(ranker=ranker, about={"retriever": "sql"}, key=search.description)


def _about(manifest: Manifest, retriever: str) -> dict[str, Json]:
    return {
        "corpus": manifest.name,
        "content_hash": manifest.content_hash,
        "analyser": manifest.analyser,
        "retriever": retriever,
    }


def _key(manifest: Manifest) -> str:
    return f"corpus={manifest.name}@{manifest.content_hash[:HASH_SHOWN]}"
