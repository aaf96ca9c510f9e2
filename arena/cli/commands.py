"""The tree of commands."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperArgument, TyperGroup, TyperOption

from arena import own_version
from data.errors import InputError

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter

PRIVATE = 0o077
"""Rights of written files: homes, backups and exports are their user's alone."""
SHARED = frozenset({"battles", "leaderboard", "metrics", "retrieve", "retrieval"})
"""Commands that write what others are to read, with the rights that the user gives to files."""
NOUNS = {
    "sets": ("question_sets.commands", "Question sets: import, build, list and export them."),
    "submissions": ("submissions", "Submissions: one system's file of answers each."),
    "rounds": ("rounds.commands", "Rounds: fixed battles with a judge, a seed and a budget."),
    "judges": ("judges", "Judges: a model with its prompt and settings."),
    "teams": ("teams", "Teams, accounts, members and tokens."),
    "labels": ("labels", "Labels: people say of two answers which is better."),
    "leaderboard": ("leaderboard", "Published boards: list, show and export them."),
    "metrics": ("metrics.commands", "Metrics: bounded scores of single answers."),
    "retrieval": ("contexts", "Contexts without answers: score what a retriever found."),
    "battles": ("battles.commands", "Battle files: rate and convert them without a database."),
    "corpora": ("corpora", "Corpora: texts in which evidence for claims is found."),
    "db": ("system", "The database: upgrade, back up and restore it."),
}
"""For each noun the module of its verbs, and what `arena --help` says of it."""
VERBS = {
    "rank": ("rank", "Rank systems by their files of answers, in one command."),
    "losses": ("rank", "List the questions that one system of a ranking lost to another."),
    "compare": ("rank", "Say which of two systems of a ranking is better, and how surely."),
    "demo": ("system", "Judge, rate and publish the bundled sets, then serve the site."),
    "retrieve": ("corpora", "Retrieve passages for the questions of a set."),
    "serve": ("system", "Serve the site, and run the jobs of the queue beside it."),
    "jobs": ("jobs", "Show the latest jobs, or one with the workers that run it."),
    "worker": ("jobs", "Run the jobs of the queue, beside any number of other workers."),
    "mcp": ("system", "Serve what is published to agents, read-only, by the Model Context Protocol."),
}
"""The same for commands without a noun."""
PARTS = {
    "Start here": ("rank", "losses", "compare", "demo"),
    "Run an arena": ("sets", "submissions", "rounds", "judges", "labels", "teams"),
    "Look into results": ("leaderboard", "metrics", "retrieval"),
    "Files": ("battles", "retrieve", "corpora"),
    "Operate": ("serve", "worker", "jobs", "db", "mcp"),
}
"""In which part of `arena --help` each command stands."""
SERVING = ("serve", "worker", "mcp")
"""Commands that run on until somebody ends them; they log."""


def _show_version(asked: bool) -> None:
    if not asked:
        return
    version = own_version()
    checkout = "answer-arena, from a checkout that is not installed"
    typer.echo(checkout if version == "checkout" else f"answer-arena {version}")
    raise typer.Exit


def _use_plugins(files: list[Path] | None) -> list[Path] | None:
    # Before the command is looked up, whose help names what they add.
    if files:
        _add_plugins(files)
    return files


def root(
    context: typer.Context,
    *,
    plugin: Annotated[
        list[Path] | None,
        typer.Option(
            "--plugin",
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
        os.umask(PRIVATE)
    if not version and context.invoked_subcommand not in SERVING:
        from arena.cli.progress import showing_progress

        context.with_resource(showing_progress())


def _add_plugins(files: Sequence[Path]) -> None:
    from arena.settings import add_plugins
    from data.plugins import use_plugin_files

    missing = [file for file in files if not file.is_file()]
    if missing:
        raise InputError(f"There is no plugin file {missing[0]}.", advice="Give the path of a Python file.")
    use_plugin_files(add_plugins(files))


class _Commands(MutableMapping[str, "Command"]):
    """The commands by name. The module of one is imported when it is asked for: all of them take a while."""

    def __init__(self) -> None:
        self._made: dict[str, Command] = {}

    def __getitem__(self, name: str) -> Command:
        if name not in self._made:
            self._made[name] = _noun(name) if name in NOUNS else _verb(name)
        return self._made[name]

    def __setitem__(self, name: str, command: Command) -> None:
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        del self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter([*VERBS, *NOUNS])

    def __len__(self) -> int:
        return len(VERBS) + len(NOUNS)


def _noun(name: str) -> Command:
    app = _plain()
    app.add_typer(import_module(f".{NOUNS[name][0]}", __package__).commands, name=name)
    return typer.main.get_group(app).commands[name]


def _verb(name: str) -> Command:
    from arena.cli.tree.pages import Page

    app = _plain()
    app.command(name, cls=Page)(getattr(import_module(f".{VERBS[name][0]}", __package__), name))
    return typer.main.get_command(app)


_plain = partial(typer.Typer, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
ABOVE = "".join(f"{part}." for part in __name__.split(".")[:-3])
REGISTERED = re.compile(r"\{([a-z_.]+):([a-z_]+)\}")
"""Functions that fill the help of options with a registry's names."""


def name_registered(command: Command) -> None:
    """Let the help of a command's options, and of those below it, name what registries have now."""
    for parameter in command.params:
        # Every parameter that Typer makes is one of these two; Click's own have no help.
        if isinstance(parameter, TyperArgument | TyperOption) and parameter.help:
            parameter.help = REGISTERED.sub(_registered, parameter.help)
    for inner in getattr(command, "commands", {}).values():
        name_registered(inner)


def _asked(command: Command, words: Sequence[str]) -> Command:
    """Return the command whose help is asked for, below another one by the words that follow it."""
    for word in words[: words.index("--help")]:
        command = getattr(command, "commands", {}).get(word, command)
    return command


def _registered(found: re.Match[str]) -> str:
    text: str = getattr(import_module(f"{ABOVE}{found[1]}"), found[2])()
    return text


class _Root(TyperGroup):
    """`arena`, whose commands are imported one by one."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - what Typer hands on
        super().__init__(**settings)
        self.commands = _Commands()

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Command | None, list[str]]:
        """Find a command; where its help is asked for, the help names what registries have."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and "--help" in rest:
            _add_plugins(())
            asked = _asked(command, rest)
            # The help of a group names no options of its commands, and registries are slow to import.
            if not hasattr(asked, "commands"):
                name_registered(asked)
        return name, command, rest

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write what each command is for, without importing it."""
        del ctx
        known = {**VERBS, **NOUNS}
        for part, names in PARTS.items():
            with formatter.section(part):
                formatter.write_dl([(name, known[name][1]) for name in names])


def build() -> typer.Typer:
    """Make the command tree."""
    app = _plain(
        name="arena",
        cls=_Root,
        help="Judge, rate and explain the long-form answers of question-answering systems.",
        no_args_is_help=True,
    )
    app.callback()(root)
    return app


@cache
def command() -> Callable[[], object]:
    """Return the command tree, ready to run."""
    return typer.main.get_command(build())
