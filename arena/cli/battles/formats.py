"""The options that say how a battle file is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import known

if TYPE_CHECKING:
    from arena.services.battle_files import Reading


def format_named(name: str) -> object:
    """Look a format up; errors are those of `battle_format`."""
    from leaderboard.formats.registry import battle_format

    return battle_format(name)


Format = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FORMAT",
        show_default="recognised from the file",
        help="The file's format: {leaderboard.formats.registry:listed_battle_formats}.",
        callback=known(format_named),
    ),
]


Strict = Annotated[
    bool,
    typer.Option(
        "--strict", help="Refuse a file with an unusable record, in place of leaving it out and counting it."
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions:
    """How a battle file is read."""

    read_as: Format = None
    strict: Strict = False
    named: Annotated[
        bool,
        typer.Option(
            "--named-votes",
            help="Count LMArena's votes whose voters were shown the systems' names (`anony` is false).",
        ),
    ] = False

    def request(self) -> Reading:
        """The same for services."""
        from arena.services.battle_files import Reading

        return Reading(read_as=self.read_as, strict=self.strict, named=self.named)
