"""`arena battles check` and `compare-tools`: what other tools make of a battle file."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from arena.cli.options import AsJson, File, Seed, known
from arena.cli.output import note, show_json, show_line, show_table
from arena.formats import shown
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


def compare_tools(
    file: File,
    seed: Seed = 0,
    read_as: Format = None,
    *,
    strict: Strict = False,
    named_votes: NamedVotes = False,
    as_json: AsJson = False,
) -> None:
    """Rate a battle file by several tools, and say why they differ.

    $ arena battles compare-tools battles.jsonl

    The tools are arena-rank, evalica and choix (`pip install 'answer-arena[peers]'`). A cell is a system's
    rank, rating and interval; numbers in brackets are the reasons, below, why it differs. Ratings are points,
    400 for odds of ten to one; each tool's are shifted until the systems rated here have the same mean.
    """
    from arena.services.battle_files import Reading
    from arena.services.battle_peers import compare_tools_on_file

    reading = Reading(read_as=read_as, strict=strict, named=named_votes)
    comparison, notes = compare_tools_on_file(file, seed, reading)
    for line in notes:
        note(line)
    if as_json:
        show_json(comparison.as_json())
        return
    heads = [f"{name} {comparison.versions.get(name, '')}".strip() for name in comparison.boards]
    boards = list(comparison.as_json()["boards"].values())
    show_table(("system", *heads), [(name, *(_cell(board[name]) for board in boards)) for name in boards[0]])
    for number, reason in enumerate(comparison.reasons, 1):
        show_line(f"[{number}] {reason}.")


def _cell(place: Mapping[str, Any]) -> str:
    rating, lower, upper = (shown(place[name], ".1f") for name in ("rating", "lower", "upper"))
    ends = "" if lower == upper == "–" else f" ({lower} to {upper})"
    marks = "".join(f" [{number}]" for number in place.get("reasons", ()))
    return f"{shown(place['rank'], 'd')}: {rating}{ends}{marks}"
