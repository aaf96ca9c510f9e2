"""Corpora and retrieval of passages."""

import asyncio
import json
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from arena.settings import Settings
from data.corpora.documents import Chunking
from data.corpora.index import CorpusLibrary, Imported, Manifest
from data.errors import InputError
from data.files.trec import RunLine, run_lines, write_run
from data.models import Passage, Question
from data.progress import working
from data.store import Store
from judges.llm.requests import CallFailure
from judges.retrieval import BM25, WEB, Hit, Opened, Ranker, RetrieverInfo, by_document, retriever_info

HASH_SHOWN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """Source of a metric's evidence: a corpus, a retriever, or an item's passages."""

    corpus: str = ""
    retriever: str = BM25

    def __post_init__(self) -> None:
        info = retriever_info(self.retriever, evidence=True)
        if not self.in_passages:
            info.require(corpus=self.corpus)

    @property
    def in_passages(self) -> bool:
        """True if items bring their own passages."""
        return self.retriever == BM25 and not self.corpus


class CorpusService:
    """Service for corpora."""

    def __init__(self, library: CorpusLibrary, settings: Settings) -> None:
        self._library = library
        self._settings = settings

    def add(self, name: str, path: Path) -> Imported:
        """Import documents under a name; a repeated import builds nothing."""
        return self._library.add(name, path)

    def list(self) -> tuple[Manifest, ...]:
        """Return the corpora, by name."""
        return self._library.list()

    @asynccontextmanager
    async def source(self, request: SearchRequest) -> AsyncIterator[Opened | None]:
        """Open the source of a search; None if items have their own passages."""
        if request.in_passages:
            yield None
            return
        async with retriever_info(request.retriever).opened(self, request.corpus) as opened:
            yield opened

    def passages(self, name: str, ids: Collection[str]) -> Mapping[str, Passage]:
        """Return chunks and whole documents of a corpus by id."""
        return self._library.open(name).named(ids)

    @asynccontextmanager
    async def words(self, corpus: str) -> AsyncIterator[Opened]:
        """Open a corpus."""
        from judges.retrieval import WordRanker

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
        """Open the web."""
        import httpx

        from judges.metrics.coverage.sources import WebSource
        from judges.retrieval import SourceRanker

        if not self._settings.search_url:
            message = "Web search is not configured."
            raise InputError(message, advice="Set ARENA_SEARCH_URL to a URL with {query} in it.")
        async with httpx.AsyncClient(follow_redirects=True) as client:
            source = WebSource(self._settings.search_url, client, Chunking())
            yield Opened(
                ranker=SourceRanker(source),
                about={"retriever": WEB, "search": source.host},
                key=f"web={source.host}",
            )


QUERIES_AT_ONCE = 16
CHUNKS_OF_DOCUMENT = 10
"""Chunks per requested document, since several may belong to one document."""
JSONL = ".jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalRequest:
    """Questions of a set and a retriever; `documents` ranks documents by their best chunk."""

    set_name: str = ""
    k: int = 10
    corpus: str = ""
    retriever: str = BM25
    documents: bool = False
    domains: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.info.require(corpus=self.corpus)

    @property
    def info(self) -> RetrieverInfo:
        """The retriever; raises InputError for an unknown name."""
        return retriever_info(self.retriever)

    @property
    def name(self) -> str:
        """Name of the run."""
        return "-".join(filter(None, (self.retriever, self.corpus)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """Rankings by question in the set's order, and reasons for failures."""

    rankings: Mapping[str, Sequence[Hit]]
    failed: Mapping[str, str] = field(default_factory=dict)

    @property
    def nothing_found(self) -> list[str]:
        """Questions without any passage."""
        return [question for question, hits in self.rankings.items() if not hits]

    def as_json(self) -> dict[str, object]:
        """Return counts and failures."""
        empty = self.nothing_found
        return {
            "questions": len(self.rankings) + len(self.failed),
            "retrieved": len(self.rankings) - len(empty),
            "passages": sum(len(hits) for hits in self.rankings.values()),
            "nothing_found": empty,
            "failed": dict(self.failed),
        }


class RetrievalService:
    """Retrieves passages."""

    def __init__(self, corpora: CorpusService, store: Store) -> None:
        self._corpora = corpora
        self._store = store

    def search(self, query: str, request: RetrievalRequest) -> Sequence[Hit]:
        """Rank passages for a query; raises InputError if the search fails."""

        async def run() -> Sequence[Hit] | CallFailure:
            async with request.info.opened(self._corpora, request.corpus) as opened:
                return await _ranked(opened.ranker, query, request)

        hits = asyncio.run(run())
        if isinstance(hits, CallFailure):
            raise InputError(hits.detail, advice="Try again, or choose another retriever.")
        return hits

    def retrieve(self, request: RetrievalRequest) -> Retrieved:
        """Rank passages for each question of a set; failed searches are counted."""
        return asyncio.run(self._retrieve(request, self._questions(request)))

    def _questions(self, request: RetrievalRequest) -> list[Question]:
        summary = self._store.sets.summary(request.set_name)
        unknown = [domain for domain in request.domains if domain not in summary.domains]
        if unknown:
            message = f"{summary.name} has no domain {', '.join(unknown)}."
            raise InputError(message, advice=f"The domains are: {', '.join(summary.domains)}.")
        questions = (question for _, question in self._store.sets.numbered(summary.id))
        return [row for row in questions if not request.domains or row.domain in request.domains]

    async def _retrieve(self, request: RetrievalRequest, questions: Sequence[Question]) -> Retrieved:
        places = asyncio.Semaphore(QUERIES_AT_ONCE)
        async with request.info.opened(self._corpora, request.corpus) as opened:
            with working("retrieving", len(questions)) as work:

                async def find(question: Question) -> Sequence[Hit] | CallFailure:
                    async with places:
                        hits = await _ranked(opened.ranker, question.question, request)
                    work.done += 1
                    return hits

                outcomes = await asyncio.gather(*map(find, questions))
        named = list(zip((question.id for question in questions), outcomes, strict=True))
        return Retrieved(
            rankings={name: hits for name, hits in named if not isinstance(hits, CallFailure)},
            failed={name: hits.detail for name, hits in named if isinstance(hits, CallFailure)},
        )


async def _ranked(ranker: Ranker, query: str, request: RetrievalRequest) -> Sequence[Hit] | CallFailure:
    if not request.documents:
        return await ranker.rank(query, request.k)
    hits = await ranker.rank(query, CHUNKS_OF_DOCUMENT * request.k)
    return hits if isinstance(hits, CallFailure) else by_document(hits, request.k)


def write_retrieved(retrieved: Retrieved, path: Path, name: str) -> None:
    """Write a TREC run, or the texts to a .jsonl file."""
    if path.suffix == JSONL:
        with path.open("w", encoding="utf-8", newline="\n") as file:
            for question, hits in retrieved.rankings.items():
                row = {"question_id": question, "passages": [_passage(hit) for hit in hits]}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
        return
    lines = {
        question: [RunLine(question, hit.passage.id, hit.score) for hit in hits]
        for question, hits in retrieved.rankings.items()
    }
    write_run(path, run_lines(lines, name))


def _passage(hit: Hit) -> dict[str, object]:
    passage = hit.passage
    return {"id": passage.id, "title": passage.title, "text": passage.text, "score": hit.score}
