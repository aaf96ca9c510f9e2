"""`arena retrieve` and `arena corpora search`: passages for questions, or for some words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import AsJson, Budget, Cache, Domains, SetName, grouped, open_reaching
from arena.cli.output import note, show_json, show_line, show_rows
from judges.retrieval.registry import BM25

if TYPE_CHECKING:
    from arena.services.retrieval.requests import RetrievalRequest

EXCERPT = 100
FAILURES_SHOWN = 20
RetrieverName = Annotated[
    str,
    typer.Option(
        "--retriever",
        metavar="RETRIEVER",
        help="How passages are found: {judges.retrieval.registry:described_retrievers}.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingOptions:
    """How passages are ranked."""

    k: Annotated[int, typer.Option("--k", metavar="K", min=1, max=10_000, help="Passages.")] = 10
    retriever: RetrieverName = BM25
    rerank: Annotated[
        str,
        typer.Option(
            "--rerank",
            metavar="RERANKER",
            show_default="none",
            help="Reorder the first passages: `http:NAME`, a server that a TOML file describes, or "
            "`llm:JUDGE`, the ratings of a judge's LLM.",
        ),
    ] = ""
    rerank_depth: Annotated[
        int, typer.Option("--rerank-depth", metavar="N", min=1, max=1000, help="Passages to rerank.")
    ] = 50
    mmr: Annotated[
        float | None,
        typer.Option(
            "--mmr",
            metavar="λ",
            min=0.0,
            max=1.0,
            show_default="as ranked",
            help="Choose passages unlike those before: weight of relevance against novelty, 0–1.",
        ),
    ] = None
    approximate: Annotated[
        bool,
        typer.Option(
            "--approximate",
            help="Search vectors by the index that `arena corpora import --approximate` builds, not exactly.",
        ),
    ] = False
    documents: Annotated[
        bool, typer.Option("--documents", help="Rank documents by their best chunk instead of chunks.")
    ] = False
    budget_usd: Budget = None
    cache_mode: Cache = None

    def request(self, set_name: str = "", *, corpus: str, domains: tuple[str, ...] = ()) -> RetrievalRequest:
        """The same for the service."""
        from arena.services.retrieval.requests import RetrievalRequest

        return RetrievalRequest(
            set_name=set_name,
            k=self.k,
            corpus=corpus,
            retriever=self.retriever,
            rerank=self.rerank,
            rerank_depth=self.rerank_depth,
            diversity=self.mmr,
            approximate=self.approximate,
            documents=self.documents,
            domains=domains,
            budget_usd=self.budget_usd,
        )


@grouped
def retrieve(
    set_name: SetName,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="FILE",
            help="The TREC run to write; with a name that ends in .jsonl, the passages with their texts, for "
            "`arena sets attach`.",
        ),
    ],
    corpus: Annotated[
        str,
        typer.Option(
            "--corpus", metavar="NAME", show_default="none, for the web and servers", help="Corpus to search."
        ),
    ] = "",
    domains: Domains = None,
    *,
    how: RankingOptions,
    as_json: AsJson = False,
) -> None:
    """Retrieve passages for the questions of a set.

    $ arena retrieve --set fiqa --corpus wiki --out passages.jsonl

    A search that fails is counted and named, and its question is left out of the file.
    """
    from arena.services.retrieval.requests import write_retrieved

    if not out.resolve().parent.is_dir():
        from data.errors import InputError

        message = f"There is no folder {out.parent}, so {out.name} cannot be written."
        raise InputError(message, advice="Make it, or name another file with --out.")
    named = tuple(name.strip() for name in (domains or "").split(",") if name.strip())
    request = how.request(set_name, corpus=corpus, domains=named)
    retrieved = open_reaching(how.cache_mode).retrieval.retrieve(request)
    write_retrieved(retrieved, out, request.name)
    fields = retrieved.as_json()
    if as_json:
        show_json({**fields, "run": request.name, "file": str(out)})
        return
    show_line(f"{fields['passages']:,} passages for {fields['retrieved']:,} questions written to {out}.")
    for question in retrieved.nothing_found[:FAILURES_SHOWN]:
        note(f"nothing found: {question}")
    for question, why in list(retrieved.failed.items())[:FAILURES_SHOWN]:
        note(f"failed: {question}: {why}")
    unseen = max(0, len(retrieved.failed) - FAILURES_SHOWN)
    if unseen:
        note(f"{unseen:,} more searches failed; --json lists them all.")
    if retrieved.failed and not retrieved.rankings:
        raise typer.Exit(1)


@grouped
def search(
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="Name of the corpus.")],
    words: Annotated[str, typer.Argument(metavar="WORDS", help="What to look for.")],
    *,
    how: RankingOptions,
    as_json: AsJson = False,
) -> None:
    """Search a corpus for some words.

    $ arena corpora search wiki "what a passage says"
    """
    hits = open_reaching(how.cache_mode).retrieval.search(words, how.request(corpus=corpus))
    for hit in hits:
        if hit.remark:
            note(f"{hit.passage.id}: {hit.remark}")
    show_rows(
        [
            {
                "rank": rank,
                "score": hit.score,
                "id": hit.passage.id,
                "title": hit.passage.title,
                "text": hit.passage.text,
                **({"remark": hit.remark} if hit.remark else {}),
            }
            for rank, hit in enumerate(hits, start=1)
        ],
        ("rank", "score", "passage", "title", "text"),
        [
            (
                rank,
                f"{hit.score:.3f}",
                hit.passage.id,
                hit.passage.title,
                " ".join(hit.passage.text.split())[:EXCERPT],
            )
            for rank, hit in enumerate(hits, start=1)
        ],
        as_json=as_json,
        empty=f"Nothing in {corpus} shares a word with this.",
    )
