"""What is to be retrieved, what was, and the files that it is written to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from data.errors import InputError
from data.files.trec_runs import RunLine, run_lines, write_run
from judges.llm.costs import Usage
from judges.retrieval.ranking import Hit
from judges.retrieval.registry import BM25, HTTP, RetrieverInfo, Search, retriever_info

JSONL = ".jsonl"
LLM = "llm:"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalRequest:
    """What is to be retrieved, and how.

    Attributes:
        set_name: The questions.
        k: Passages a question.
        corpus: Name of a corpus; empty for the web and for servers.
        retriever: The name of a registered one, or `http:NAME` or `sql:NAME` of a described server.
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
    retriever: str = BM25
    rerank: str = ""
    rerank_depth: int = 50
    diversity: float | None = None
    approximate: bool = False
    documents: bool = False
    domains: tuple[str, ...] = ()
    budget_usd: float | None = None

    def __post_init__(self) -> None:
        self.info.require(corpus=self.corpus, approximate=self.approximate)
        if self.rerank and not self.rerank.startswith((HTTP, LLM)):
            raise InputError(f"There is no reranker {self.rerank!r}.", advice="Use http:NAME or llm:JUDGE.")

    @property
    def info(self) -> RetrieverInfo:
        """What is known of the retriever.

        Raises:
            InputError: There is none of the name.
        """
        return retriever_info(self.retriever)

    @property
    def what(self) -> Search:
        """What the retriever searches."""
        description = self.retriever.partition(":")[2]
        return Search(corpus=self.corpus, description=description, approximate=self.approximate)

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
    row = {"id": passage.id, "title": passage.title, "text": passage.text, "score": hit.score}
    return {**row, "remark": hit.remark} if hit.remark else row
