"""`arena corpora`: import and list the texts that claims are grounded in."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import AS_SET, AsJson, Budget, Cache, Engine, only_with, open_parallel
from arena.cli.output import show_fields, show_json, show_line, show_rows
from arena.cli.retrieval import search
from arena.cli.tree.pages import Commands
from arena.container import open_arena
from data.plural import counted

if TYPE_CHECKING:
    from arena.container import Arena

commands = Commands("Corpora: texts in which evidence for claims is found.")


@commands.command("import")
def import_(
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="Name of the corpus.")],
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="PATH",
            show_default="none: only embed a corpus that is there",
            help="A folder or file of documents.",
        ),
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            "--embeddings",
            metavar="MODEL",
            show_default="none",
            help="Embed its chunks for `--retriever dense`, with this model as the endpoint names it, or the "
            "folder of a local one.",
        ),
    ] = "",
    endpoint: Annotated[
        str,
        typer.Option(
            "--endpoint",
            metavar="URL",
            show_default=AS_SET,
            help="Base URL of the endpoint of embeddings.",
        ),
    ] = "",
    budget_usd: Budget = None,
    cache_mode: Cache = None,
    *,
    approximate: Annotated[
        bool,
        typer.Option(
            "--approximate",
            help="Also build an index for approximate search (HNSW, with the extra `ann`), and say what "
            "share of the nearest chunks it finds.",
        ),
    ] = False,
    engine: Engine = None,
    as_json: AsJson = False,
) -> None:
    """Split texts into chunks and index them, and embed them.

    $ arena corpora import texts --name wiki

    Reads folders of .txt or .md files, BEIR's folders (`corpus.jsonl`), JSONL of Pyserini (`contents`) and of
    MS MARCO v2.1 (`docid`, `segment` or `body`), any JSONL with an `id` and a `text` a line, and TREC's <DOC>
    files, each plain or gzipped. Importing the same texts again changes nothing.

    Vectors come from an OpenAI-compatible endpoint (`/v1/embeddings`: OpenAI, vLLM, Ollama), or from a local
    model2vec model with the extra `embeddings`. If it is interrupted, the same command continues: vectors
    from an endpoint are stored beside the LLM replies, by endpoint, model and text. Running the command again
    embeds nothing new; a corpus whose documents change loses its vectors.
    """
    if not model:
        only_with(
            "--embeddings", {"--endpoint": endpoint, "--budget-usd": budget_usd, "--approximate": approximate}
        )
    if path is None and not model:
        raise typer.BadParameter(
            "Name the texts, or a model to embed a corpus that is there.", param_hint="PATH"
        )
    fields: dict[str, Any] = {}
    line = ""
    with open_parallel(engine, cache_mode) as arena:
        if path is not None:
            imported = arena.corpora.add(name, path)
            manifest = imported.manifest
            fields = {**asdict(manifest), "built": imported.built}
            state = "built" if imported.built else "unchanged: it was built before"
            held = f"{counted(manifest.documents, 'document')}, {counted(manifest.chunks, 'chunk')}"
            line = f"{manifest.name}: {held}, {state}."
        if model:
            vectors = _embedded(arena, name, model, endpoint=endpoint, budget_usd=budget_usd)
            if approximate:
                graph = asdict(arena.corpora.approximate(name))
                vectors = {**vectors, "approximate": graph} if as_json else {**vectors, **_said(graph)}
            fields = {**fields, "vectors": vectors} if path is not None else vectors
    if as_json:
        show_json(fields)
        return
    if line:
        show_line(line)
    if model:
        show_fields(fields.get("vectors", fields))


def _embedded(
    arena: Arena, name: str, model: str, *, endpoint: str = "", budget_usd: float | None = None
) -> dict[str, Any]:
    embedded, used = arena.corpora.embed(name, model, endpoint=endpoint, budget_usd=budget_usd)
    usage = {"asked": used.calls, "input_tokens": used.input_tokens, "cost_usd": used.total_usd}
    return {**asdict(embedded.about), "built": embedded.built, **usage}


def _said(graph: dict[str, Any]) -> dict[str, Any]:
    return {f"recall of the approximate index at {graph['k']}": f"{graph['recall']:.3f}"}


@commands.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List the corpora, and the models that they are embedded with.

    $ arena corpora list
    """
    corpora = open_arena().corpus_folders
    listed = [
        (manifest, corpora.vectors(manifest.name), corpora.graph(manifest.name))
        for manifest in corpora.list()
    ]
    show_rows(
        [
            {
                **asdict(manifest),
                "vectors": None if vectors is None else asdict(vectors),
                "approximate": None if graph is None else asdict(graph),
            }
            for manifest, vectors, graph in listed
        ],
        ("corpus", "documents", "chunks", "content", "embedded with", "approximate"),
        [
            (
                manifest.name,
                manifest.documents,
                manifest.chunks,
                manifest.content_hash[:12],
                "" if vectors is None else vectors.model,
                "" if graph is None else f"recall@{graph.k} {graph.recall:.3f}",
            )
            for manifest, vectors, graph in listed
        ],
        as_json=as_json,
        empty="There are no corpora yet. Import one with `arena corpora import PATH --name NAME`.",
    )


commands.command()(search)
