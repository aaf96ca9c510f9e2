"""`arena corpora`: import and list the texts that claims are grounded in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arena.bootstrap import open_arena
from arena.cli.options import AsJson
from arena.cli.output import note, show_json, show_line, show_table

commands = typer.Typer(help="Corpora: texts that claims are grounded in.", no_args_is_help=True)


@commands.command("import")
def import_(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A folder of texts, or a JSONL file.")],
    name: Annotated[str, typer.Option("--name", help="Name of the corpus.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Cut texts into chunks and index them; the same import twice builds nothing."""
    from dataclasses import asdict

    imported = open_arena().corpora.add(name, path)
    made = imported.manifest
    if as_json:
        show_json({**asdict(made), "built": imported.built})
    else:
        state = "built" if imported.built else "unchanged: it was built before"
        show_line(f"{made.name}: {made.documents:,} documents, {made.chunks:,} chunks, {state}.")


@commands.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List the corpora."""
    from dataclasses import asdict

    found = open_arena().corpora.list()
    if as_json:
        show_json([asdict(one) for one in found])
    elif not found:
        note("There are no corpora yet. Import one with `arena corpora import PATH --name NAME`.")
    else:
        rows = [(one.name, one.documents, one.chunks, one.content_hash[:12]) for one in found]
        show_table(("corpus", "documents", "chunks", "content"), rows)
