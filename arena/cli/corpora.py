"""`arena corpora`: import and list the texts that claims are grounded in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import AS_SET, AsJson, Budget, Cache, Engine, open_reaching, open_spreading
from arena.cli.output import show_fields, show_json, show_result, show_rows
from arena.cli.retrieval import search
from arena.container import open_arena

if TYPE_CHECKING:
    from arena.container import Arena

commands = typer.Typer(help="Corpora: texts in which evidence for claims is found.", no_args_is_help=True)


@commands.command("import")
def import_(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A folder or file of documents.")],
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="Name of the corpus.")],
    embeddings: Annotated[
        str,
        typer.Option(
            "--embeddings",
            metavar="MODEL",
            help="Embed it with this model too, as `arena corpora embed` does.",
        ),
    ] = "",
    *,
    engine: Engine = None,
    as_json: AsJson = False,
) -> None:
    """Split texts into chunks and index them.

    Reads folders of .txt or .md files, BEIR's folders (`corpus.jsonl`), JSONL of Pyserini (`contents`) and of
    MS MARCO v2.1 (`docid`, `segment` or `body`), any JSONL with an `id` and a `text` a line, and TREC's <DOC>
    files, each plain or gzipped. Importing the same texts again changes nothing.
    """
    from dataclasses import asdict

    with open_spreading(engine) as arena:
        imported = arena.corpora.add(name, path)
    manifest = imported.manifest
    fields = {**asdict(manifest), "built": imported.built}
    if embeddings:
        fields["vectors"] = _embedded(arena, name, embeddings)
    state = "built" if imported.built else "unchanged: it was built before"
    line = f"{manifest.name}: {manifest.documents:,} documents, {manifest.chunks:,} chunks, {state}."
    show_result(fields, line, as_json=as_json)


@commands.command()
def embed(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the corpus.")],
    model: Annotated[
        str,
        typer.Option(
            "--model",
            metavar="MODEL",
            help="The model, as the endpoint names it, or the folder of a local one.",
        ),
    ],
    endpoint: Annotated[
        str, typer.Option("--endpoint", metavar="URL", show_default=AS_SET, help="Base URL of the endpoint.")
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
    as_json: AsJson = False,
) -> None:
    """Embed the chunks of a corpus, for `--retriever dense`.

    The vectors come from an OpenAI-compatible endpoint (`/v1/embeddings`: OpenAI, vLLM, Ollama), or from a
    local model2vec model with the extra `embeddings`. If it is interrupted, the same command continues:
    vectors from an endpoint are stored beside the LLM replies, by endpoint, model and text. Running the
    command again embeds nothing new; a corpus whose documents change loses its vectors.
    """
    from dataclasses import asdict

    arena = open_reaching(cache_mode)
    fields = _embedded(arena, name, model, endpoint=endpoint, budget_usd=budget_usd)
    if approximate:
        graph = asdict(arena.corpora.approximate(name))
        fields = {**fields, "approximate": graph} if as_json else {**fields, **_said(graph)}
    if as_json:
        show_json(fields)
    else:
        show_fields(fields)


def _embedded(
    arena: Arena, name: str, model: str, *, endpoint: str = "", budget_usd: float | None = None
) -> dict[str, Any]:
    from dataclasses import asdict

    embedded, used = arena.corpora.embed(name, model, endpoint=endpoint, budget_usd=budget_usd)
    usage = {"asked": used.calls, "input_tokens": used.input_tokens, "cost_usd": used.total_usd}
    return {**asdict(embedded.about), "built": embedded.built, **usage}


def _said(graph: dict[str, Any]) -> dict[str, Any]:
    return {f"recall of the approximate index at {graph['k']}": f"{graph['recall']:.3f}"}


@commands.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List the corpora, and the models that they are embedded with."""
    from dataclasses import asdict

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
