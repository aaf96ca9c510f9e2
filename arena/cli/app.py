"""The tree of commands."""

from __future__ import annotations

import typer

from arena.cli import answers, battles, judges, leaderboard, metrics, rounds, sets, submissions, system


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
        ("sets", sets),
        ("submissions", submissions),
        ("judges", judges),
        ("rounds", rounds),
        ("battles", battles),
        ("metrics", metrics),
        ("leaderboard", leaderboard),
        ("answers", answers),
        ("db", system),
    ):
        app.add_typer(module.commands, name=name)
    app.command("demo")(system.demo)
    app.command("serve")(system.serve)
    return app
