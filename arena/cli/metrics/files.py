"""`arena metrics marginals`, `coverage`, `context`: metrics over files of their own."""

from __future__ import annotations

from typing import Annotated

import typer

from arena.cli.options import File, Seed
from arena.cli.output import show_json
from judges.metrics.factuality.vocabulary import FactorTables, Inference


def marginals(
    file: File,
    factors: Annotated[
        FactorTables,
        typer.Option(
            "--factors", help="Factor tables: those of the paper (`table1`), or of its published code."
        ),
    ] = FactorTables.TABLE1,
    inference: Annotated[
        Inference,
        typer.Option(
            "--inference", help="Exact, by weighted mini-buckets (`wmb`), or exact where it fits (`auto`)."
        ),
    ] = Inference.AUTO,
    seed: Seed = 0,
) -> None:
    """Print the posterior probability of each claim and context of a fact graph."""
    from arena.services.metrics.files import marginals_of

    show_json(marginals_of(file, factors=factors, inference=inference, seed=seed))


def coverage(file: File) -> None:
    """Print which claims of a fact graph its answer covers and misses, and the basis."""
    from arena.services.metrics.files import coverage_of

    show_json(coverage_of(file))


def context(file: File) -> None:
    """Print how well a context answers sub-questions, from ratings of its passages."""
    from arena.services.metrics.files import context_of

    show_json(context_of(file))
