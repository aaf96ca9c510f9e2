"""The tree of commands."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from typing import Annotated

import typer

from arena.cli import (
    answers,
    corpora,
    jobs,
    judges,
    leaderboard,
    public_votes,
    retrieval,
    retrieval_boards,
    submissions,
    system,
    teams,
)
from arena.cli.battles import commands as battles
from arena.cli.labels import giving
from arena.cli.metrics import commands as metrics
from arena.cli.progress import showing_progress
from arena.cli.question_sets import commands as question_sets
from arena.cli.references import commands as references
from arena.cli.rounds import commands as rounds

SERVING = ("serve", "worker")
"""Commands that run on until somebody ends them; they log."""


def _show_version(asked: bool) -> None:
    if not asked:
        return
    try:
        typer.echo(f"answer-arena {version_of('answer-arena')}")
    except PackageNotFoundError:
        typer.echo("answer-arena, from a checkout that is not installed")
    raise typer.Exit


def root(
    context: typer.Context,
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Judge, rate and explain the long-form answers of question-answering systems."""
    if not version and context.invoked_subcommand not in SERVING:
        context.with_resource(showing_progress())


def build() -> typer.Typer:
    """Make the command tree."""
    app = typer.Typer(
        name="arena",
        help="Judge, rate and explain the long-form answers of question-answering systems.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    for name, module in (
        ("sets", question_sets),
        ("submissions", submissions),
        ("teams", teams),
        ("judges", judges),
        ("rounds", rounds),
        ("jobs", jobs),
        ("battles", battles),
        ("labels", giving),
        ("metrics", metrics),
        ("leaderboard", leaderboard),
        ("votes", public_votes),
        ("retrieval", retrieval_boards),
        ("corpora", corpora),
        ("answers", answers),
        ("references", references),
        ("db", system),
    ):
        app.add_typer(module.commands, name=name)
    app.callback()(root)
    app.command("retrieve")(retrieval.retrieve)
    app.command("demo")(system.demo)
    app.command("serve")(system.serve)
    app.command("worker")(jobs.worker)
    return app


@cache
def command() -> Callable[[], object]:
    """The command tree, ready to run; making it takes longer than most commands."""
    return typer.main.get_command(build())
