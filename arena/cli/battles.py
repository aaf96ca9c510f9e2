"""`arena battles`: rate, winrates and convert files of battles, without any database."""

from __future__ import annotations

from typing import Annotated

import typer

commands = typer.Typer(help="Files of battles.", no_args_is_help=True)
Bootstrap = Annotated[int, typer.Option("--bootstrap", min=1, max=1_000_000, help="Resamples.")]
Format = Annotated[str | None, typer.Option("--from", help="The file's format, where it is not told by it.")]
