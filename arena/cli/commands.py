"""The tree of commands."""

import os
from difflib import get_close_matches
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperGroup

from data.errors import InputError

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter

PRIVATE_UMASK = 0o077
SHARED = frozenset({"battles", "leaderboard", "metrics", "retrieve", "retrieval"})
"""Commands that keep the user's umask: their files are made to be shared."""
LOGGING = ("serve", "worker", "mcp")
PARTS = {
    "Start here": {
        "rank": ("rank.rank", "Rank systems by their answer files, in one command."),
        "losses": ("rank.losses", "List the questions that one system of a ranking lost to another."),
        "compare": (
            "rank.compare",
            "Compare two systems of a ranking: which is better, and how certain that is.",
        ),
        "demo": ("system.demo", "Judge, rate and publish the bundled sets, then serve the site."),
    },
    "Run an arena": {
        "sets": ("sets.commands", "Question sets: import, build, list and export them."),
        "submissions": ("submissions.commands", "Submissions: answer files, one per system."),
        "rounds": ("rounds.commands", "Rounds: fixed battles with a judge, a seed and a budget."),
        "judges": ("judges.commands", "Judges: a model with its prompt and settings."),
        "labels": ("labels.commands", "Labels: people choose the better of two answers."),
        "teams": ("teams.commands", "Teams, accounts, members and tokens."),
    },
    "Inspect results": {
        "leaderboard": ("leaderboard.commands", "Published boards: list, show and export them."),
        "metrics": ("metrics.commands", "Metrics: bounded scores of single answers."),
        "retrieval": ("retrieval.retrieval", "Contexts without answers: score retrieved passages."),
    },
    "Files": {
        "battles": ("battles.commands", "Battle files: rate and convert them without a database."),
        "retrieve": ("retrieval.retrieve", "Retrieve passages for the questions of a set."),
        "corpora": ("retrieval.corpora", "Corpora: texts to search for evidence."),
    },
    "Operate": {
        "serve": ("system.serve", "Serve the site and run queued jobs."),
        "worker": ("jobs.worker", "Run queued jobs, alongside any number of other workers."),
        "jobs": ("jobs.jobs", "Show the latest jobs, or one job with its workers."),
        "db": ("system.commands", "The database: upgrade, back up and restore it."),
        "mcp": (
            "system.mcp",
            "Serve published results to agents over the Model Context Protocol (read-only).",
        ),
    },
}
"""Sections of `arena --help`: the module, attribute and help line of each command or group.

Modules are imported on demand: importing all of them takes a second.
"""
_typer = partial(typer.Typer, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


def _show_version(requested: bool) -> None:
    if not requested:
        return
    from arena.version import own_version

    version = own_version()
    checkout = "answer-arena, from a checkout that is not installed"
    typer.echo(checkout if version == "checkout" else f"answer-arena {version}")
    raise typer.Exit


def _use_plugins(files: list[Path] | None) -> list[Path] | None:
    # Runs before the command's module is imported: its help lists what plugins add.
    from arena.settings import add_plugins
    from data.plugins import use_plugin_files

    missing = [file for file in files or () if not file.is_file()]
    if missing:
        raise InputError(
            f"The plugin file {missing[0]} does not exist.", advice="Use the path of a Python file."
        )
    use_plugin_files(add_plugins(files or ()))
    return files


def root(
    context: typer.Context,
    *,
    plugin: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE.py",
            help="A Python file that adds metrics, judges, formats, retrievers, transports or pages "
            "(docs/extending.md); repeatable.",
            callback=_use_plugins,
        ),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Judge, rate and explain the long-form answers of question-answering systems."""
    del plugin
    if context.invoked_subcommand not in SHARED:
        os.umask(PRIVATE_UMASK)
    if not version and context.invoked_subcommand not in LOGGING:
        from arena.cli.output import noting_nuls
        from arena.cli.progress import showing_progress

        context.with_resource(showing_progress())
        context.with_resource(noting_nuls())


class _Root(TyperGroup):
    def list_commands(self, ctx: "Context") -> list[str]:
        """List the names without importing their modules."""
        del ctx
        return [name for part in PARTS.values() for name in part]

    def get_command(self, ctx: "Context", cmd_name: str) -> "Command | None":
        del ctx
        places = {name: place for part in PARTS.values() for name, (place, _) in part.items()}
        # Load close matches too: Typer suggests only loaded commands.
        for name in [cmd_name] if cmd_name in places else get_close_matches(cmd_name, places):
            if name not in self.commands:
                self.commands[name] = _load(name, *places[name].split("."))
        return self.commands.get(cmd_name)

    def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """List the commands without importing their modules."""
        del ctx
        for title, part in PARTS.items():
            with formatter.section(title):
                formatter.write_dl([(name, line) for name, (_, line) in part.items()])


def _load(name: str, module: str, attribute: str) -> "Command":
    target = getattr(import_module(f".{module}", __package__), attribute)
    app = _typer()
    if not isinstance(target, typer.Typer):
        app.command(name)(target)
        return typer.main.get_command(app)
    app.add_typer(target, name=name)
    return typer.main.get_group(app).commands[name]


@cache
def command() -> TyperGroup:
    """Build the command line."""
    app = _typer(
        name="arena",
        cls=_Root,
        help="Judge, rate and explain the long-form answers of question-answering systems.",
        no_args_is_help=True,
    )
    app.callback()(root)
    return typer.main.get_group(app)


def all_commands(group: TyperGroup | None = None, *path: str) -> "dict[str, Command]":
    """Import all commands; the keys are their names after `arena`."""
    group = group or command()
    context = typer.Context(group)
    commands: dict[str, Command] = {}
    for name in group.list_commands(context):
        entry = group.get_command(context, name)
        if isinstance(entry, TyperGroup):
            commands |= all_commands(entry, *path, name)
        elif entry is not None:
            commands[" ".join((*path, name))] = entry
    return commands
