"""`arena corpora`: import and list the texts that claims are grounded in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.bootstrap import open_arena
from arena.cli.options import AsJson
from arena.cli.output import note, show_fields, show_json, show_line, show_table
from arena.cli.reaching import Cache, open_reaching

if TYPE_CHECKING:
    from arena.bootstrap import Arena

commands = typer.Typer(help="Corpora: texts that claims are grounded in.", no_args_is_help=True)


@commands.command("import")
def import_(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A folder of texts, or a JSONL file.")],
    name: Annotated[str, typer.Option("--name", help="Name of the corpus.")],
    embeddings: Annotated[
        str, typer.Option("--embeddings", help="Embed it with this model too, as `corpora embed` does.")
    ] = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Cut texts into chunks and index them; the same import twice builds nothing."""
    from dataclasses import asdict

    arena = open_arena()
    imported = arena.corpora.add(name, path)
    made = imported.manifest
    fields = {**asdict(made), "built": imported.built}
    if embeddings:
        fields["vectors"] = _embedded(arena, name, embeddings)
    if as_json:
        show_json(fields)
    else:
        state = "built" if imported.built else "unchanged: it was built before"
        show_line(f"{made.name}: {made.documents:,} documents, {made.chunks:,} chunks, {state}.")


@commands.command()
def embed(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the corpus.")],
    model: Annotated[
        str,
        typer.Option("--model", help="The endpoint's name of a model, or the folder of a local one."),
    ],
    endpoint: Annotated[
        str, typer.Option("--endpoint", help="Base URL of the endpoint; else as the settings say.")
    ] = "",
    budget_usd: Annotated[
        float | None, typer.Option("--budget-usd", min=0.0, help="Most that this may spend.")
    ] = None,
    cache_mode: Cache = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Embed the chunks of a corpus, for `--retriever dense`. Cut off, the same command goes on."""
    fields = _embedded(open_reaching(cache_mode), name, model, endpoint=endpoint, budget_usd=budget_usd)
    if as_json:
        show_json(fields)
    else:
        show_fields(fields)


def _embedded(
    arena: Arena, name: str, model: str, *, endpoint: str = "", budget_usd: float | None = None
) -> dict[str, Any]:
    from dataclasses import asdict

    made, used = arena.corpora.embed(
        name,
        model,
        endpoint=endpoint,
        budget_usd=budget_usd,
        report=lambda done, total: note(f"{done:,} of {total:,} chunks"),
    )
    taken = {"asked": used.calls, "input_tokens": used.input_tokens, "cost_usd": used.cost_usd}
    return {**asdict(made.about), "built": made.built, **taken}


@commands.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List the corpora."""
    from dataclasses import asdict

    corpora = open_arena().corpora
    found = [(one, corpora.vectors(one.name)) for one in corpora.list()]
    if as_json:
        show_json([{**asdict(one), "vectors": None if made is None else asdict(made)} for one, made in found])
    elif not found:
        note("There are no corpora yet. Import one with `arena corpora import PATH --name NAME`.")
    else:
        rows = [
            (one.name, one.documents, one.chunks, one.content_hash[:12], "" if made is None else made.model)
            for one, made in found
        ]
        show_table(("corpus", "documents", "chunks", "content", "embedded with"), rows)
