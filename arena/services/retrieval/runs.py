"""Passages for the questions of a set, retrieved: TREC runs, or texts that a set takes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from arena.services.retrieval.corpora import CorpusService
from arena.settings import Settings
from data.errors import InputError
from data.files.trec_runs import RunLine, run_lines, write_run
from data.progress import working
from data.records import Question
from data.store import Store
from judges.llm.costs import Usage
from judges.llm.requests import CallFailure
from judges.llm.tasks import TaskRunner
from judges.metrics.context.raters import LlmRater
from judges.retrieval.http_service import HttpRanker, HttpService, load_service
from judges.retrieval.ranking import DiverseRanker, Hit, HybridRanker, Ranker, by_document
from judges.retrieval.reranking import HttpReranker, RatingReranker, RerankedRanker, Reranker
from judges.retrieval.sql_service import SqlRanker, load_search, open_database

QUERIES_AT_ONCE = 16
JSONL = ".jsonl"
HTTP, SQL, LLM = "http:", "sql:", "llm:"
OpenRunner = Callable[
    [str, float | None, asyncio.Event], AbstractAsyncContextManager[tuple[TaskRunner, Usage]]
]
"""Opens what asks a judge's LLM: its name, a budget, and what stops it."""


class LocalRetriever(StrEnum):
    """Rankings that need no server described by a file."""

    BM25 = "bm25"
    DENSE = "dense"
    HYBRID = "hybrid"
    WEB = "web"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalRequest:
    """What is to be retrieved, and how.

    Attributes:
        set_name: The questions.
        k: Passages a question.
        corpus: Name of a corpus; empty for the web and for servers.
        retriever: `bm25`, `dense`, `hybrid`, `web`, or `http:NAME` or `sql:NAME` of a described server.
        rerank: `http:NAME` of a described reranker, `llm:JUDGE`, or empty.
        rerank_depth: How many passages are reranked.
        diversity: λ of maximal marginal relevance; None leaves rankings as they are.
        approximate: Whether vectors are searched by the approximate index.
        documents: Whether documents are ranked by their best chunk, instead of chunks.
        domains: Of these alone; all where none is named.
        budget_usd: The most that an LLM reranker may spend.
    """

    set_name: str
    k: int = 10
    corpus: str = ""
    retriever: str = LocalRetriever.BM25
    rerank: str = ""
    rerank_depth: int = 50
    diversity: float | None = None
    approximate: bool = False
    documents: bool = False
    domains: tuple[str, ...] = ()
    budget_usd: float | None = None

    def __post_init__(self) -> None:
        if not self.retriever.startswith((HTTP, SQL)) and self.retriever not in set(LocalRetriever):
            names = ", ".join((*LocalRetriever, "http:NAME", "sql:NAME"))
            raise InputError(f"There is no retriever {self.retriever!r}.", advice=f"Use one of: {names}.")
        searches_corpus = self.retriever in set(LocalRetriever) - {LocalRetriever.WEB}
        if searches_corpus and not self.corpus:
            message = f"The retriever {self.retriever} searches a corpus, and none is named."
            raise InputError(message, advice="Name one with --corpus; `arena corpora list` shows them.")
        if self.corpus and not searches_corpus:
            message = f"The retriever {self.retriever} does not search the corpus {self.corpus}."
            raise InputError(message, advice="Leave out --corpus, or choose another retriever.")
        if self.approximate and self.retriever not in {LocalRetriever.DENSE, LocalRetriever.HYBRID}:
            message = f"The retriever {self.retriever} does not search the vectors of a corpus."
            raise InputError(message, advice="Leave out --approximate, or use dense or hybrid.")
        if self.rerank and not self.rerank.startswith((HTTP, LLM)):
            raise InputError(f"There is no reranker {self.rerank!r}.", advice="Use http:NAME or llm:JUDGE.")

    @property
    def name(self) -> str:
        """What a run's lines call it."""
        vectors = "approximate" if self.approximate else ""
        parts = [self.retriever, vectors, self.corpus, self.rerank and f"rerank={self.rerank}"]
        if self.diversity is not None:
            parts.append(f"mmr={self.diversity:g}")
        return "-".join(part for part in parts if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """What was retrieved.

    Attributes:
        rankings: Of each question that was answered, in the set's order; may be empty lists.
        failed: Why there is none, by question.
        usage: What LLM reranking took.
    """

    rankings: Mapping[str, Sequence[Hit]]
    failed: Mapping[str, str] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)

    @property
    def nothing_found(self) -> list[str]:
        """Questions whose search found no passage."""
        return [question for question, hits in self.rankings.items() if not hits]

    def as_json(self) -> dict[str, object]:
        """Counts and failures."""
        empty = self.nothing_found
        return {
            "questions": len(self.rankings) + len(self.failed),
            "retrieved": len(self.rankings) - len(empty),
            "passages": sum(len(hits) for hits in self.rankings.values()),
            "nothing_found": empty,
            "failed": dict(self.failed),
            "asked": self.usage.calls,
            "cost_usd": self.usage.total_usd,
        }


class RetrievalService:
    """Retrieves passages.

    Args:
        corpora: Opens corpora.
        store: Has the questions.
        settings: Say where described servers are looked for.
        open_runner: Opens a judge's LLM.
        variables: The environment, for the addresses and secrets of described servers.
    """

    def __init__(
        self,
        corpora: CorpusService,
        store: Store,
        settings: Settings,
        open_runner: OpenRunner,
        variables: Mapping[str, str],
    ) -> None:
        self._corpora = corpora
        self._store = store
        self._folders = (settings.retrievers_folder,)
        self._open_runner = open_runner
        self._variables = variables

    def search(self, query: str, request: RetrievalRequest) -> Sequence[Hit]:
        """Rank passages for some words.

        Raises:
            NotFoundError: There is no such corpus, server or judge.
            StoreError: The corpus cannot be used, or has no vectors.
            InputError: The search failed.
        """

        async def run() -> Sequence[Hit] | CallFailure:
            async with self._ranker(request, asyncio.Event()) as (ranker, _):
                return await _ranked(ranker, query, request)

        hits = asyncio.run(run())
        if isinstance(hits, CallFailure):
            raise InputError(hits.detail, advice="Try again, or choose another retriever.")
        return hits

    def retrieve(self, request: RetrievalRequest, *, only: frozenset[str] | None = None) -> Retrieved:
        """Rank passages for each question of a set; a search that fails is counted, and the others go on.

        Args:
            request: What is retrieved.
            only: Ids of the questions to which it is limited; None is all of them.

        Raises:
            NotFoundError: There is no such set, domain, corpus, server or judge.
            StoreError: The corpus cannot be used, or has no vectors.
        """
        questions = [question for question in self._questions(request) if only is None or question.id in only]
        return asyncio.run(self._retrieve(request, questions))

    def _questions(self, request: RetrievalRequest) -> list[Question]:
        summary = self._store.sets.summary(request.set_name)
        unknown = [domain for domain in request.domains if domain not in summary.domains]
        if unknown:
            message = f"{summary.name} has no domain {', '.join(unknown)}."
            raise InputError(message, advice=f"There are: {', '.join(summary.domains)}.")
        numbered = self._store.sets.numbered(summary.id)
        return [
            question for _, question in numbered if not request.domains or question.domain in request.domains
        ]

    async def _retrieve(self, request: RetrievalRequest, questions: Sequence[Question]) -> Retrieved:
        places = asyncio.Semaphore(QUERIES_AT_ONCE)
        async with self._ranker(request, asyncio.Event()) as (ranker, usage):
            with working("retrieving", len(questions)) as work:

                async def find(question: Question) -> Sequence[Hit] | CallFailure:
                    async with places:
                        hits = await _ranked(ranker, question.question, request)
                    work.done += 1
                    return hits

                outcomes = await asyncio.gather(*map(find, questions))
            named = list(zip((question.id for question in questions), outcomes, strict=True))
            return Retrieved(
                rankings={name: hits for name, hits in named if not isinstance(hits, CallFailure)},
                failed={name: hits.detail for name, hits in named if isinstance(hits, CallFailure)},
                usage=usage,
            )

    @asynccontextmanager
    async def _ranker(
        self, request: RetrievalRequest, stop: asyncio.Event
    ) -> AsyncIterator[tuple[Ranker, Usage]]:
        usage = Usage()
        async with AsyncExitStack() as stack:
            ranker = await self._first(request, stack)
            if request.rerank:
                reranker, usage = await self._reranker(request, stop, stack)
                ranker = RerankedRanker(ranker, reranker, request.rerank_depth)
            if request.diversity is not None:
                ranker = DiverseRanker(ranker, request.diversity)
            yield ranker, usage

    async def _first(self, request: RetrievalRequest, stack: AsyncExitStack) -> Ranker:
        if request.retriever.startswith(HTTP):
            return HttpRanker(await self._service(request.retriever.removeprefix(HTTP), stack))
        if request.retriever.startswith(SQL):
            return await self._database(request.retriever.removeprefix(SQL), stack)
        if request.retriever == LocalRetriever.HYBRID:
            kinds = (LocalRetriever.BM25, LocalRetriever.DENSE)
            return HybridRanker([await self._local(request, kind, stack) for kind in kinds])
        return await self._local(request, request.retriever, stack)

    async def _local(self, request: RetrievalRequest, kind: str, stack: AsyncExitStack) -> Ranker:
        ranker = self._corpora.ranker(request.corpus, kind, approximate=request.approximate)
        return await stack.enter_async_context(ranker)

    async def _reranker(
        self, request: RetrievalRequest, stop: asyncio.Event, stack: AsyncExitStack
    ) -> tuple[Reranker, Usage]:
        if request.rerank.startswith(HTTP):
            return HttpReranker(await self._service(request.rerank.removeprefix(HTTP), stack)), Usage()
        opened = self._open_runner(request.rerank.removeprefix(LLM), request.budget_usd, stop)
        runner, usage = await stack.enter_async_context(opened)
        return RatingReranker(LlmRater(runner)), usage

    async def _database(self, name: str, stack: AsyncExitStack) -> Ranker:
        spec = load_search(name, self._variables, folders=self._folders)
        database = stack.enter_context(open_database(spec))
        if spec.embedding is None:
            return SqlRanker(spec, database, None)
        model = spec.embedding.model
        endpoint = self._corpora.endpoint_of(model, spec.embedding.endpoint)
        embedder, _ = await stack.enter_async_context(self._corpora.embedder(model, endpoint, None))
        return SqlRanker(spec, database, embedder)

    async def _service(self, name: str, stack: AsyncExitStack) -> HttpService:
        import httpx  # noqa: PLC0415 - slow to load, and only servers need it

        spec = load_service(name, self._variables, folders=self._folders)
        client = await stack.enter_async_context(httpx.AsyncClient(follow_redirects=True))
        return HttpService(spec, client)


async def _ranked(ranker: Ranker, query: str, request: RetrievalRequest) -> Sequence[Hit] | CallFailure:
    if not request.documents:
        return await ranker.rank(query, request.k)
    # Several chunks may be of one document, so more chunks are looked at than documents are wanted.
    hits = await ranker.rank(query, 10 * request.k)
    return hits if isinstance(hits, CallFailure) else by_document(hits, request.k)


def write_retrieved(retrieved: Retrieved, path: Path, name: str) -> None:
    """Write a TREC run, or the texts where the file's name ends in .jsonl.

    Args:
        retrieved: What is written; questions whose search failed are left out.
        path: The file.
        name: Of the run.
    """
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
