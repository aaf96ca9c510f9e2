"""`arena corpora` and `arena retrieve`: import texts, search them, and find passages for questions."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from arena.cli.options import AsJson, Domains, SetName
from arena.cli.output import note, show_json, show_line, show_rows
from arena.cli.tree.pages import Commands
from arena.container import open_arena
from data.text import counted
from judges.retrieval import BM25

commands = Commands("Corpora: texts in which evidence for claims is found.")
EXCERPT = 100
FAILURES_SHOWN = 20
HASH_SHOWN = 12
K = Annotated[int, typer.Option("--k", metavar="K", min=1, max=10_000, help="Passages.")]
Retriever = Annotated[
    str,
    typer.Option(
        "--retriever",
        metavar="RETRIEVER",
        help="How passages are found: {judges.retrieval:described_retrievers}.",
    ),
]
Whole = Annotated[
    bool, typer.Option("--documents", help="Rank documents by their best chunk instead of chunks.")
]


@commands.command("import")
def import_(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A folder or file of documents.")],
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="Name of the corpus.")],
    *,
    as_json: AsJson = False,
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


@commands.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List the corpora.

    $ arena corpora list
    """
    corpora = open_arena().corpora.list()
    show_rows(
        [asdict(one) for one in corpora],
        ("corpus", "documents", "chunks", "content"),
        [(one.name, one.documents, one.chunks, one.content_hash[:HASH_SHOWN]) for one in corpora],
        as_json=as_json,
        empty="There are no corpora yet. Import one with `arena corpora import PATH --name NAME`.",
    )


@commands.command()
def search(
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="Name of the corpus.")],
    words: Annotated[str, typer.Argument(metavar="WORDS", help="What to look for.")],
    k: K = 10,
    *,
    documents: Whole = False,
    as_json: AsJson = False,
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
        typer.Option("--corpus", metavar="NAME", show_default="none, for the web", help="Corpus to search."),
    ] = "",
    k: K = 10,
    retriever: Retriever = BM25,
    domains: Domains = None,
    *,
    documents: Whole = False,
    as_json: AsJson = False,
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
        domains=tuple(name.strip() for name in (domains or "").split(",") if name.strip()),
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
