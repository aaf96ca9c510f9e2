"""`arena battles check` and `compare-tools`: compare with other rating tools."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from arena.cli.options import AsJson, File, Seed, known
from arena.cli.output import note, show_json, show_line, show_table
from arena.formats import or_dash
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
    typer.Option("--strict", help="Refuse a file with an unusable record instead of leaving the record out."),
]


NamedVotes = Annotated[
    bool,
    typer.Option(
        "--named-votes", help="Include LMArena votes whose voters saw the systems' names (`anony` is false)."
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
    """List what in a battle file makes rating tools disagree.

    $ arena battles check battles.jsonl

    Each line has the finding and its effect on ratings here, in arena-rank 0.1.1 and in evalica 0.4.2.
    """
    from arena.services.battle_files import Reading
    from arena.services.battle_peers import NAMED_TOOLS, check_file

    rows, notes = check_file(file, Reading(read_as=read_as, strict=strict, named=named_votes))
    note(*notes)
    if as_json:
        show_json(rows)
        return
    for row in rows:
        tools = " ".join(f"{name}: {row[name]}." for name in ("here", *NAMED_TOOLS))
        show_line(f"{row['finding']}. {tools}")
    if not rows:
        show_line(f"Nothing in {file.name} makes rating tools disagree.")


def compare_tools(
    file: File,
    seed: Seed = 0,
    read_as: Format = None,
    *,
    strict: Strict = False,
    named_votes: NamedVotes = False,
    as_json: AsJson = False,
) -> None:
    """Rate a battle file with several tools and explain where they differ.

    $ arena battles compare-tools battles.jsonl

    The tools are arena-rank, evalica and choix (`pip install 'answer-arena[peers]'`). A cell is a system's
    rank, rating and interval; numbers in brackets refer to the reasons below the table. Ratings are in points
    (400 for odds of ten to one), shifted so that all tools have the same mean over the systems rated here.
    """
    from arena.services.battle_files import Reading
    from arena.services.battle_peers import compare_tools_on_file

    reading = Reading(read_as=read_as, strict=strict, named=named_votes)
    comparison, notes = compare_tools_on_file(file, seed, reading)
    note(*notes)
    if as_json:
        show_json(comparison.as_json())
        return
    heads = [f"{name} {comparison.versions.get(name, '')}".strip() for name in comparison.boards]
    boards = list(comparison.as_json()["boards"].values())
    show_table(("system", *heads), [(name, *(_cell(board[name]) for board in boards)) for name in boards[0]])
    show_line(*(f"[{number}] {reason}." for number, reason in enumerate(comparison.reasons, 1)))


def _cell(place: Mapping[str, Any]) -> str:
    rating, lower, upper = (or_dash(place[name], ".1f") for name in ("rating", "lower", "upper"))
    ends = "" if lower == upper == "–" else f" ({lower} to {upper})"
    marks = "".join(f" [{number}]" for number in place.get("reasons", ()))
    return f"{or_dash(place['rank'], 'd')}: {rating}{ends}{marks}"
