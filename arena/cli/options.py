"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
SetName = Annotated[str, typer.Option("--set", help="Name of the question set.")]
JudgeName = Annotated[str, typer.Option("--judge", help="Name of a judge, or the path of its spec.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything that is drawn.")]
File = Annotated[Path, typer.Argument(metavar="FILE", help="The file to read.")]
