"""Options that several commands share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
SetName = Annotated[str, typer.Option("--set", help="Name of the question set.")]
JudgeName = Annotated[str, typer.Option("--judge", help="Name of a judge, or the path of its spec.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything that is drawn.")]
Server = Annotated[
    str | None, typer.Option("--server", help="Address of another machine's arena; else as the settings say.")
]
TokenText = Annotated[
    str | None, typer.Option("--token", help="Access token there; better in ARENA_TOKEN.", show_default=False)
]
File = Annotated[Path, typer.Argument(metavar="FILE", help="The file to read.")]


def constant(text: str) -> tuple[str, Any]:
    """NAME=VALUE; the value is JSON where it can be read as such, else text."""
    name, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE.", param_hint="--option")
    try:
        return name.strip(), json.loads(value)
    except ValueError:
        return name.strip(), value
