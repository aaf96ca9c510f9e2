"""Passages for the questions of a set, retrieved."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from arena.services.retrieval.corpora import CorpusService
from arena.services.retrieval.requests import LLM, RetrievalRequest, Retrieved
from data.errors import InputError
from data.progress import working
from data.records import Question
from data.store import Store
from judges.llm.costs import Usage
from judges.llm.requests import CallFailure
from judges.llm.tasks import TaskRunner
from judges.metrics.context.raters import LlmRater
from judges.retrieval.http_service import HttpReranker
from judges.retrieval.ranking import (
    DiverseRanker,
    Hit,
    Ranker,
    RatingReranker,
    RerankedRanker,
    Reranker,
    by_document,
)
from judges.retrieval.registry import HTTP

QUERIES_AT_ONCE = 16
OpenRunner = Callable[
    [str, float | None, asyncio.Event], AbstractAsyncContextManager[tuple[TaskRunner, Usage]]
]
"""Opens what asks a judge's LLM: its name, a budget, and what stops it."""


class RetrievalService:
    """Retrieves passages.

    Args:
        corpora: Opens corpora.
        store: Has the questions.
        open_runner: Opens a judge's LLM.
    """

    def __init__(
        self,
        corpora: CorpusService,
        store: Store,
        open_runner: OpenRunner,
    ) -> None:
        self._corpora = corpora
        self._store = store
        self._open_runner = open_runner

    def search(self, query: str, request: RetrievalRequest) -> Sequence[Hit]:
        """Rank passages for some words.

        Raises:
            NotFoundError: There is no such corpus, server or judge.
            StoreError: The corpus cannot be used, or has no vectors.
            InputError: The search failed.
        """

        async def run() -> Sequence[Hit] | CallFailure:
            async with self._ranker(request, asyncio.Event()) as opened:
                return await _ranked(opened.ranker, query, request)

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
        async with self._ranker(request, asyncio.Event()) as opened:
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
                usage=opened.usage,
            )

    @asynccontextmanager
    async def _ranker(self, request: RetrievalRequest, stop: asyncio.Event) -> AsyncIterator[_Opened]:
        usage = Usage()
        async with AsyncExitStack() as stack:
            opening = request.info.opened(self._corpora, request.what)
            ranker = (await stack.enter_async_context(opening)).ranker
            if request.rerank:
                reranker, usage = await self._reranker(request, stop, stack)
                ranker = RerankedRanker(ranker, reranker, request.rerank_depth)
            if request.diversity is not None:
                ranker = DiverseRanker(ranker, request.diversity)
            yield _Opened(ranker, usage)

    async def _reranker(
        self, request: RetrievalRequest, stop: asyncio.Event, stack: AsyncExitStack
    ) -> tuple[Reranker, Usage]:
        if request.rerank.startswith(HTTP):
            opening = self._corpora.service(request.rerank.removeprefix(HTTP))
            return HttpReranker(await stack.enter_async_context(opening)), Usage()
        opened = self._open_runner(request.rerank.removeprefix(LLM), request.budget_usd, stop)
        runner, usage = await stack.enter_async_context(opened)
        return RatingReranker(LlmRater(runner)), usage


@dataclass(frozen=True, slots=True)
class _Opened:
    """A ranking that is ready, and what it took so far."""

    ranker: Ranker
    usage: Usage


async def _ranked(ranker: Ranker, query: str, request: RetrievalRequest) -> Sequence[Hit] | CallFailure:
    if not request.documents:
        return await ranker.rank(query, request.k)
    # Several chunks may be of one document, so more chunks are looked at than documents are wanted.
    hits = await ranker.rank(query, 10 * request.k)
    return hits if isinstance(hits, CallFailure) else by_document(hits, request.k)
