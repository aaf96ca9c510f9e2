"""Passages for the questions of a set, retrieved and written to files."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from arena.services.retrieval.corpora import CorpusService
from data.errors import InputError
from data.files.trec import RunLine, run_lines, write_run
from data.models import Question
from data.progress import working
from data.store import Store
from judges.llm.requests import CallFailure
from judges.retrieval import BM25, Hit, Ranker, RetrieverInfo, by_document, retriever_info

QUERIES_AT_ONCE = 16
CHUNKS_OF_DOCUMENT = 10
"""Chunks looked at for each document that is wanted, since several may be of one."""
JSONL = ".jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalRequest:
    """Questions of a set and how passages are found; `documents` ranks documents by their best chunk."""

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
        """The retriever; an InputError where there is none of the name."""
        return retriever_info(self.retriever)

    @property
    def name(self) -> str:
        """The name of a run."""
        return "-".join(filter(None, (self.retriever, self.corpus)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """Rankings by question in the set's order, and why others have none."""

    rankings: Mapping[str, Sequence[Hit]]
    failed: Mapping[str, str] = field(default_factory=dict)

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
        }


class RetrievalService:
    """Retrieves passages."""

    def __init__(self, corpora: CorpusService, store: Store) -> None:
        self._corpora = corpora
        self._store = store

    def search(self, query: str, request: RetrievalRequest) -> Sequence[Hit]:
        """Rank passages for some words; an InputError where the search fails."""

        async def run() -> Sequence[Hit] | CallFailure:
            async with request.info.opened(self._corpora, request.corpus) as opened:
                return await _ranked(opened.ranker, query, request)

        hits = asyncio.run(run())
        if isinstance(hits, CallFailure):
            raise InputError(hits.detail, advice="Try again, or choose another retriever.")
        return hits

    def retrieve(self, request: RetrievalRequest) -> Retrieved:
        """Rank passages for each question of a set; a search that fails is counted, and the others go on."""
        return asyncio.run(self._retrieve(request, self._questions(request)))

    def _questions(self, request: RetrievalRequest) -> list[Question]:
        summary = self._store.sets.summary(request.set_name)
        unknown = [domain for domain in request.domains if domain not in summary.domains]
        if unknown:
            message = f"{summary.name} has no domain {', '.join(unknown)}."
            raise InputError(message, advice=f"There are: {', '.join(summary.domains)}.")
        questions = (question for _, question in self._store.sets.numbered(summary.id))
        return [one for one in questions if not request.domains or one.domain in request.domains]

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
    """Write a TREC run of a name, or the texts where the file's name ends in .jsonl."""
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
