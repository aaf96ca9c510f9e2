"""The tree of commands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from typer._click import Command

NOUNS = {
    "sets": ("question_sets.commands", "Question sets: import, build, list and export them."),
    "submissions": ("submissions", "Submissions: one system's file of answers each."),
    "teams": ("teams", "Teams, accounts, members, tokens and the audit log."),
    "notifications": ("notifications", "Webhooks, Slack and mail: who is notified of which events."),
    "judges": ("judges", "Judges: a model with its prompt and settings."),
    "rounds": ("rounds.commands", "Rounds: fixed battles with a judge, a seed and a budget."),
    "questions": ("questions", "Questions of a round: find and sort them."),
    "jobs": ("jobs", "Jobs: the work that is queued, running or finished."),
    "battles": ("battles.commands", "Battle files: rate, compare and convert them."),
    "labels": ("labels.commands", "Labels of people: tasks, the next item, a label for it."),
    "metrics": ("metrics.commands", "Metrics: bounded scores of single answers."),
    "leaderboard": ("leaderboard", "Published boards: list, show and export them."),
    "votes": ("public_votes", "Public blind votes: visitors judge pairs of a set."),
    "retrieval": ("retrieval_boards", "Boards of retrieved passages without answers."),
    "corpora": ("corpora", "Corpora: texts in which evidence for claims is found."),
    "answers": ("answers", "Answers: let an LLM answer the questions from their passages."),
    "references": ("references.commands", "References: people write them from passages."),
    "db": ("system", "The database: upgrade, move, back up and restore it."),
}
"""For each noun the module of its verbs, and what `arena --help` says of it."""
VERBS = {
    "retrieve": ("retrieval", "Retrieve passages for the questions of a set."),
    "demo": ("system", "Judge, rate and publish the bundled sets, then serve the site."),
    "serve": ("system", "Serve the site, and run the jobs of the queue beside it."),
    "worker": ("jobs", "Run the jobs of the queue, beside any number of other workers."),
    "mcp": ("system", "Serve what is published to agents, read-only, by the Model Context Protocol."),
}
"""The same for commands without a noun."""
SERVING = ("serve", "worker", "mcp")
"""Commands that run on until somebody ends them; they log."""


def _show_version(asked: bool) -> None:
    if not asked:
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        typer.echo(f"answer-arena {version('answer-arena')}")
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
        from arena.cli.progress import showing_progress

        context.with_resource(showing_progress())


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
    app.add_typer(import_module(f"arena.cli.{NOUNS[name][0]}").commands, name=name)
    return typer.main.get_group(app).commands[name]


def _verb(name: str) -> Command:
    app = _plain()
    app.command(name)(getattr(import_module(f"arena.cli.{VERBS[name][0]}"), name))
    return typer.main.get_command(app)


def _plain(**settings: Any) -> typer.Typer:  # noqa: ANN401 - Typer's own settings
    return typer.Typer(
        add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None, **settings
    )


class _Root(TyperGroup):
    """`arena`, whose commands are imported one by one."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - what Typer hands on
        super().__init__(**settings)
        self.commands = _Commands()

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - Typer's own copies of Click's classes
        """Write what each command is for, without importing it."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in {**VERBS, **NOUNS}.items()])


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
    """The command tree, ready to run."""
    return typer.main.get_command(build())
