"""Command classes: example-first help and second names of commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

from arena.cli.tree.second_names import LISTS, MOVED

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter

EXAMPLE = re.compile(r"^ *\$ (arena .+)\n*", re.MULTILINE)
"""A line of a docstring that shows how the command is called."""
RANGE = re.compile(r"(<\w+) range>")
ROWS = re.compile(r"x<=2147483647; |; x<=2147483647|  \[x<=2147483647\]")
"""The largest number of a row, which helps nobody."""


class Page(TyperCommand):
    """A command whose help shows an example first."""

    def __init__(self, name: str | None, **settings: Any) -> None:  # noqa: ANN401 - what Typer hands on, and types so
        text = str(settings.pop("help", None) or "")
        self.examples: tuple[str, ...] = tuple(EXAMPLE.findall(text))
        super().__init__(name, help=EXAMPLE.sub("", text).rstrip(), **settings)

    def format_help(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the examples, then everything else."""
        for example in self.examples:
            formatter.write(f"Example: {example}\n")
        if self.examples:
            formatter.write_paragraph()
        super().format_help(ctx, formatter)

    def collect_usage_pieces(self, ctx: Context) -> list[str]:
        """Return the arguments in the plain form of manuals: `ROUND`, `[ROUND]`."""
        return [self.options_metavar or "", *_usage(self, ctx)]

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write arguments and options, in words that say nothing of the program's own types."""
        records: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) is not None:
                kind = "Arguments" if parameter.param_type_name == "argument" else "Options"
                records[kind].append((RANGE.sub(r"\1>", record[0]), ROWS.sub("", record[1])))
        for title, rows in records.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _usage(command: Command, ctx: Context) -> list[str]:
    pieces = []
    for parameter in command.get_params(ctx):
        if parameter.param_type_name == "argument":
            name = (parameter.metavar or str(parameter.name).upper()).removesuffix("...").strip("{}[]")
            pieces.append(name if parameter.required else f"[{name}]")
    return pieces


def _path(ctx: Context) -> str:
    """Return the words of a command below `arena`."""
    words: list[str] = []
    here: Context | None = ctx
    while here is not None and here.parent is not None:
        words.insert(0, here.info_name or "")
        here = here.parent
    return " ".join(words)


class Noun(TyperGroup):
    """A noun, whose verbs may have second names."""

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Command | None, list[str]]:
        """Return the command that is meant, and what it is given."""
        verb = args[0]
        path = f"{_path(ctx)} {verb}"
        if verb in self.commands:
            return super().resolve_command(ctx, args)
        if verb == "list" and LISTS.get(_path(ctx), "show") in self.commands:
            return super().resolve_command(ctx, [LISTS.get(_path(ctx), "show"), *args[1:]])
        if path in MOVED:
            return super().resolve_command(ctx, [*MOVED[path], *args[1:]])
        return super().resolve_command(ctx, args)


class Commands(typer.Typer):
    """The commands of a noun."""

    def __init__(self, text: str) -> None:
        super().__init__(help=text, no_args_is_help=True, cls=Noun)

    def command(self, name: str | None = None, **settings: Any) -> Callable[..., Any]:  # noqa: ANN401 - what Typer's own method takes, in thirteen types
        """Register a command."""
        return super().command(name, cls=Page, **settings)


def examples_of(command: object) -> Sequence[str]:
    """Return the examples of a command."""
    return command.examples if isinstance(command, Page) else ()
