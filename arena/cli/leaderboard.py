"""`arena leaderboard`: show and export published boards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arena.cli.options import AsJson
from arena.cli.output import note, show_json, show_line, show_table
from arena.container import open_arena
from arena.services.accounts.auth import OPERATOR
from data.errors import InputError
from leaderboard.standings.corrected import PEOPLE, people_sentence
from leaderboard.standings.judged_shares import partial_sentence

commands = typer.Typer(help="Published boards: list, show and export them.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="ROUND", help="Name of the published round, or NAME@HASH.")]


@commands.command("list")
def list_(
    *,
    snapshots: Annotated[
        bool, typer.Option("--snapshots", help="Also snapshots that others took the place of.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the published boards."""
    service = open_arena().boards
    boards = (*service.heads(), *(service.former() if snapshots else ()))
    if as_json:
        show_json([{"name": board.name, "content_hash": board.content_hash} for board in boards])
    elif not boards:
        note("Nothing is published yet. Publish a round with `arena rounds publish ROUND`.")
    else:
        rows = [
            (board.name, board.published_at.date().isoformat(), board.content_hash[:12]) for board in boards
        ]
        show_table(("board", "published", "content"), rows)


@commands.command()
def show(
    name: Name,
    domain: Annotated[
        str, typer.Option("--domain", metavar="ID", help="A domain's id, or `overall`.")
    ] = "overall",
    *,
    people: Annotated[
        bool,
        typer.Option(
            "--people",
            help="What people would say, beside what the judge says and how far each system moves.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show a published board.

    A partial board says how much of it was judged; systems without a judged battle are named below the table.
    NAME@HASH names one snapshot of a board, also after another took its place.
    """
    # Brings what draws pictures along.
    from arena.services.boards.text_tables import board_table, corrected_table
    from leaderboard.rates import OVERALL

    board = open_arena().boards.get(name, caller=OPERATOR)
    if board.retracted:
        note(f"This board was retracted. {board.notice}".rstrip())
    elif board.notice:
        note(f"Notice: {board.notice}")
    if as_json:
        show_json(dict(board.standings))
        return
    if about := board.standings.get("note"):
        show_line(about)
    if said := partial_sentence(board.standings):
        show_line(f"{board.standings['title']}. {said}")
    if people and domain != OVERALL:
        raise InputError("Votes correct ratings overall alone.", advice="Use --people without --domain.")
    headers, rows = corrected_table(board) if people else board_table(board, domain)
    show_table(headers, rows)
    show_line(f"{people_sentence(board.standings)}.")
    if people:
        show_line(board.standings[PEOPLE]["advice"])
    lines = board.standings["lines"][domain]
    unjudged = [line["system"] for line in lines if not (line["rate"] or line.get("rate_against_all"))]
    if unjudged:
        show_line(f"No judged battle: {', '.join(unjudged)}.")


@commands.command()
def export(
    name: Name,
    destination: Annotated[Path, typer.Argument(metavar="DEST", help="A .csv, .json or .parquet file.")],
) -> None:
    """Write a published board to a file, in the format that the file's ending names."""
    open_arena().boards.export_board(name, destination, caller=OPERATOR)
    show_line(f"{name} written to {destination}.")
