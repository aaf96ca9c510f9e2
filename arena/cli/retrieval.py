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

corpora = typer.Typer(help="Corpora: texts to search for evidence.", no_args_is_help=True)
retrieval = typer.Typer(help="Contexts without answers: score retrieved passages.", no_args_is_help=True)
EXCERPT = 100
MAX_FAILURES = 20
HASH_LENGTH = 12
K = Annotated[int, typer.Option(metavar="K", min=1, max=10_000, help="Number of passages.")]
Retriever = Annotated[
    str, typer.Option(metavar="RETRIEVER", help=f"Retriever of the passages: {described_retrievers()}.")
]
Whole = Annotated[
    bool, typer.Option("--documents", help="Rank documents by their best chunk instead of ranking chunks.")
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
    MS MARCO v2.1 (`docid`, `segment` or `body`), any JSONL with `id` and `text`, and TREC's <DOC>
    files, each plain or gzipped. Importing the same texts again changes nothing.
    """
    imported = open_arena().corpora.add(name, path)
    manifest = imported.manifest
    if as_json:
        show_json({**asdict(manifest), "built": imported.built})
        return
    state = "built" if imported.built else "unchanged since the last import"
    size = f"{counted(manifest.documents, 'document')}, {counted(manifest.chunks, 'chunk')}"
    show_line(f"{manifest.name}: {size}, {state}.")


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
            (corpus.name, corpus.documents, corpus.chunks, corpus.content_hash[:HASH_LENGTH])
            for corpus in imported
        ],
        as_json=as_json,
        empty="There are no corpora yet. Import one with `arena corpora import PATH --name NAME`.",
    )


@corpora.command()
def search(
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="Name of the corpus.")],
    words: Annotated[str, typer.Argument(metavar="WORDS", help="Words to search for.")],
    k: K = 10,
    *,
    documents: Whole = False,
    as_json: options.AsJson = False,
) -> None:
    """Search a corpus for words.

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
        empty=f"No passage of {corpus} contains any of these words.",
    )


def retrieve(
    set_name: options.SetName,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="TREC run to write; a name that ends in .jsonl writes passages with texts for `arena sets "
            "attach-passages`.",
        ),
    ],
    corpus: Annotated[
        str, typer.Option(metavar="NAME", show_default="none (web search)", help="Corpus to search.")
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

    Failed searches are listed, and their questions are left out of the file.
    """
    from arena.services.retrieval import RetrievalRequest, write_retrieved
    from data.errors import InputError

    if not out.resolve().parent.is_dir():
        message = f"The folder {out.parent} does not exist, so {out.name} cannot be written."
        raise InputError(message, advice="Create it, or choose another file with --out.")
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
    note(*(f"nothing found: {question}" for question in retrieved.nothing_found[:MAX_FAILURES]))
    failures = list(retrieved.failed.items())[:MAX_FAILURES]
    note(*(f"failed: {question}: {why}" for question, why in failures))
    if len(retrieved.failed) > MAX_FAILURES:
        note(f"{len(retrieved.failed) - MAX_FAILURES:,} more searches failed; --json lists all of them.")
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
            help="TREC runs, or rows with `question_id` and `contexts`; one file per system.",
        ),
    ] = None,
    qrels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            show_default="the set's gold documents",
            help="Judgments: TREC or BEIR qrels, or `ratings.jsonl` of `arena sets build`.",
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

    contexts = options.open_with_cache(cache_mode).contexts
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
        show_line(f"No contexts were submitted to {set_name}. Add a file to score.")
    else:
        columns = ("system", "domain", "questions", "missing", "judged", "rated", *RANKING, *CRUX)
        show_table(columns, [tuple(row[column] for column in columns) for row in rows])
