"""`arena battles check`: what other tools make of a battle file."""

from typing import Annotated

import typer

from arena.cli.options import AsJson, File, known
from arena.cli.output import note, show_json, show_line
from leaderboard.formats.registry import battle_format, listed_battle_formats

Format = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FORMAT",
        show_default="recognised from the file",
        help=f"The file's format: {listed_battle_formats()}.",
        callback=known(battle_format),
    ),
]


Strict = Annotated[
    bool,
    typer.Option(
        "--strict", help="Refuse a file with an unusable record, in place of leaving it out and counting it."
    ),
]


NamedVotes = Annotated[
    bool,
    typer.Option(
        "--named-votes",
        help="Count LMArena's votes whose voters were shown the systems' names (`anony` is false).",
    ),
]


def check(
    file: File,
    read_as: Format = None,
    *,
    strict: Strict = False,
    named_votes: NamedVotes = False,
    as_json: AsJson = False,
) -> None:
    """Say what of a battle file makes boards differ between tools.

    $ arena battles check battles.jsonl

    A line each: the fact, what ratings do with it here, and what arena-rank 0.1.1 and evalica 0.4.2 do.
    """
    from arena.services.battle_files import Reading
    from arena.services.battle_peers import NAMED_TOOLS, check_file

    rows, notes = check_file(file, Reading(read_as=read_as, strict=strict, named=named_votes))
    for line in notes:
        note(line)
    if as_json:
        show_json(rows)
        return
    for row in rows:
        tools = " ".join(f"{name}: {row[name]}." for name in ("here", *NAMED_TOOLS))
        show_line(f"{row['finding']}. {tools}")
    if not rows:
        show_line(f"Nothing in {file.name} makes boards differ between tools.")
