"""`arena corpora`, `arena retrieve` and `arena retrieval`: texts, and passages found in them."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from arena.cli import options
from arena.cli.output import note, show_json, show_line, show_rows, show_table
from arena.container import open_arena
from data.text import counted
from judges.retrieval import BM25, described_retrievers

corpora = typer.Typer(help="Corpora: texts in which evidence for claims is found.", no_args_is_help=True)
retrieval = typer.Typer(help="Contexts without answers: score what a retriever found.", no_args_is_help=True)
EXCERPT = 100
FAILURES_SHOWN = 20
HASH_SHOWN = 12
K = Annotated[int, typer.Option(metavar="K", min=1, max=10_000, help="Passages.")]
Retriever = Annotated[
    str, typer.Option(metavar="RETRIEVER", help=f"How passages are found: {described_retrievers()}.")
]
Whole = Annotated[
    bool, typer.Option("--documents", help="Rank documents by their best chunk instead of chunks.")
]


@corpora.command("import")
def import_(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A folder or file of documents.")],
    name: Annotated[str, typer.Option(metavar="NAME", help="Name of the corpus.")],
    *,
    as_json: options.AsJson = False,
) -> None:
    """Split texts into chunks and index them.

    $ arena corpora import texts --name wiki

    Reads folders of .txt or .md files, BEIR's folders (`corpus.jsonl`), JSONL of Pyserini (`contents`) and of
    MS MARCO v2.1 (`docid`, `segment` or `body`), any JSONL with an `id` and a `text` a line, and TREC's <DOC>
    files, each plain or gzipped. Importing the same texts again changes nothing.
    """
    imported = open_arena().corpora.add(name, path)
    manifest = imported.manifest
    if as_json:
        show_json({**asdict(manifest), "built": imported.built})
        return
    state = "built" if imported.built else "unchanged: it was built before"
    held = f"{counted(manifest.documents, 'document')}, {counted(manifest.chunks, 'chunk')}"
    show_line(f"{manifest.name}: {held}, {state}.")


@corpora.command("list")
def list_(*, as_json: options.AsJson = False) -> None:
    """List the corpora.

    $ arena corpora list
    """
    imported = open_arena().corpora.list()
    show_rows(
        [asdict(corpus) for corpus in imported],
        ("corpus", "documents", "chunks", "content"),
        [
            (corpus.name, corpus.documents, corpus.chunks, corpus.content_hash[:HASH_SHOWN])
            for corpus in imported
        ],
        as_json=as_json,
        empty="There are no corpora yet. Import one with `arena corpora import PATH --name NAME`.",
    )


@corpora.command()
def search(
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="Name of the corpus.")],
    words: Annotated[str, typer.Argument(metavar="WORDS", help="What to look for.")],
    k: K = 10,
    *,
    documents: Whole = False,
    as_json: options.AsJson = False,
) -> None:
    """Search a corpus for some words.

    $ arena corpora search wiki "what a passage says"
    """
    from arena.services.retrieval import RetrievalRequest

    hits = open_arena().retrieval.search(words, RetrievalRequest(k=k, corpus=corpus, documents=documents))
    rows = [
        {"rank": rank, "score": hit.score, **asdict(hit.passage)} for rank, hit in enumerate(hits, start=1)
    ]
    show_rows(
        rows,
        ("rank", "score", "passage", "title", "text"),
        [
            (
                row["rank"],
                f"{row['score']:.3f}",
                row["id"],
                row["title"],
                " ".join(row["text"].split())[:EXCERPT],
            )
            for row in rows
        ],
        as_json=as_json,
        empty=f"Nothing in {corpus} shares a word with this.",
    )


def retrieve(
    set_name: options.SetName,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="The TREC run to write; with a name that ends in .jsonl, the passages with their texts, for "
            "`arena sets attach-passages`.",
        ),
    ],
    corpus: Annotated[
        str, typer.Option(metavar="NAME", show_default="none, for the web", help="Corpus to search.")
    ] = "",
    k: K = 10,
    retriever: Retriever = BM25,
    domains: options.Domains = None,
    *,
    documents: Whole = False,
    as_json: options.AsJson = False,
) -> None:
    """Retrieve passages for the questions of a set.

    $ arena retrieve --set fiqa --corpus wiki --out passages.jsonl

    A search that fails is counted and named, and its question is left out of the file.
    """
    from arena.services.retrieval import RetrievalRequest, write_retrieved
    from data.errors import InputError

    if not out.resolve().parent.is_dir():
        message = f"There is no folder {out.parent}, so {out.name} cannot be written."
        raise InputError(message, advice="Make it, or name another file with --out.")
    request = RetrievalRequest(
        set_name=set_name,
        k=k,
        corpus=corpus,
        retriever=retriever,
        documents=documents,
        domains=options.names_of(domains),
    )
    retrieved = open_arena().retrieval.retrieve(request)
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
    if len(retrieved.failed) > FAILURES_SHOWN:
        note(f"{len(retrieved.failed) - FAILURES_SHOWN:,} more searches failed; --json lists them all.")
    if retrieved.failed and not retrieved.rankings:
        raise typer.Exit(1)


@retrieval.command()
def score(
    set_name: options.SetName,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RUN",
            show_default="the submitted contexts",
            help="TREC runs, or rows with `question_id` and `contexts`; each is a system.",
        ),
    ] = None,
    qrels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            show_default="the set's gold documents",
            help="Judgments: TREC qrels, BEIR's, or `ratings.jsonl` of `arena sets build`.",
            callback=options.whole_if_named,
        ),
    ] = None,
    corpus: Annotated[str, typer.Option(metavar="NAME", help="Corpus with the texts of a run.")] = "",
    judge: options.MetricJudge = "",
    budget_usd: options.Budget = None,
    cache_mode: options.Cache = None,
    *,
    as_json: options.AsJson = False,
) -> None:
    """Score runs: nDCG, P, R and RR by judgments; coverage, α-nDCG and density of CRUX by sub-questions.

    $ arena retrieval score bm25.trec tuned.trec --set fiqa --qrels test.tsv
    """
    from arena.services.contexts import CRUX, RANKING, ContextRequest

    contexts = options.open_reaching(cache_mode).contexts
    if files:
        request = ContextRequest(
            set_name=set_name, files=files, qrels=qrels, corpus=corpus, judge=judge, budget_usd=budget_usd
        )
        rows, about = contexts.score(request)
        if about:
            note(about)
    else:
        rows = contexts.submitted(set_name)
    if as_json:
        show_json({"set": set_name, "rows": rows})
    elif not rows:
        show_line(f"Nobody submitted contexts to {set_name}. Name a file.")
    else:
        columns = ("system", "domain", "questions", "missing", "judged", "rated", *RANKING, *CRUX)
        show_table(columns, [tuple(row[column] for column in columns) for row in rows])
