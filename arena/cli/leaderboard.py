"""`arena leaderboard`: show and export published boards."""

from pathlib import Path
from typing import Annotated

import typer

from arena.cli.options import AsJson, only_with
from arena.cli.output import note, show_json, show_line, show_result, show_rows, show_table
from arena.container import open_arena
from arena.services.accounts.auth import OPERATOR
from data.models import Board
from leaderboard.standings.sections import NOT_APPLIED, PEOPLE, partial_sentence, people_sentence
from leaderboard.vocabulary import OVERALL, BoardForm, TableFormat

commands = typer.Typer(help="Published boards: list, show and export them.", no_args_is_help=True)
HTML = "html"
Snapshots = Annotated[bool, typer.Option("--snapshots", help="List superseded snapshots too.")]
Name = Annotated[str, typer.Argument(metavar="ROUND", help="Name of the published round, or NAME@HASH.")]


@commands.command("list", hidden=True)
def list_(*, snapshots: Snapshots = False, as_json: AsJson = False) -> None:
    """List the published boards.

    $ arena leaderboard list
    """
    service = open_arena().boards
    boards = (*service.heads(), *(service.former() if snapshots else ()))
    show_rows(
        [{"name": board.name, "content_hash": board.content_hash} for board in boards],
        ("board", "published", "content"),
        [(board.name, board.published_at.date().isoformat(), board.content_hash[:12]) for board in boards],
        as_json=as_json,
        empty="Nothing is published yet. Publish a round with `arena rounds publish ROUND`.",
    )


@commands.command()
def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="ROUND",
            show_default="the published boards",
            help="Name of the published round, or NAME@HASH.",
        ),
    ] = "",
    domain: Annotated[str, typer.Option(metavar="ID", help="A domain's id, or `overall`.")] = "overall",
    *,
    snapshots: Snapshots = False,
    between_systems: Annotated[
        bool,
        typer.Option(
            "--between-systems",
            help="Show ratings from battles between systems only, without those against the reference.",
        ),
    ] = False,
    form: Annotated[
        TableFormat | None,
        typer.Option(
            "--format",
            show_default="a text table",
            help="Print the table as CSV, Markdown or LaTeX (booktabs) instead.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the published boards, or a single board.

    $ arena leaderboard show demo --domain finance --format latex

    A partial board says how much of it was judged; systems without a judged battle are listed below the
    table. NAME@HASH is one snapshot of a board, current or superseded.
    """
    if not name:
        list_(snapshots=snapshots, as_json=as_json)
        return
    if form is not None:
        only_with("the text table", {"--between-systems": between_systems, "--json": as_json})
    board = open_arena().boards.get(name, caller=OPERATOR)
    if board.retracted:
        note(f"This board was retracted. {board.notice}".rstrip())
    elif board.notice:
        note(f"Notice: {board.notice}")
    if as_json:
        from leaderboard.standings.grid import grid_of

        grid = {"grid": grid_of(board.standings).model_dump()} if board.standings else {}
        show_json({**board.standings, **grid})
        return
    if form is not None:
        from arena.services.boards.text_tables import formatted

        show_line(formatted(board, domain, form).rstrip("\n"))
        return
    if about := board.standings.get("note"):
        show_line(about)
    if sentence := partial_sentence(board.standings):
        show_line(f"{board.standings['title']}. {sentence}")
    if between_systems:
        # Imports the libraries that draw charts.
        from arena.services.boards.text_tables import between_systems_table

        caption, headers, rows = between_systems_table(board)
        show_line(caption)
        show_table(headers, rows)
    else:
        _show_lines(board, domain)


def _show_lines(board: Board, domain: str) -> None:
    from arena.services.boards.text_tables import board_table

    headers, rows, notes = board_table(board, domain)
    show_table(headers, rows)
    show_line(*notes, f"{people_sentence(board.standings)}.")
    if PEOPLE in board.standings:
        show_line(board.standings[PEOPLE]["advice"] if domain == OVERALL else NOT_APPLIED)
    domain_notes = (part.get("note") for part in board.standings["domains"] if part["id"] == domain)
    show_line(*filter(None, domain_notes))
    lines = board.standings["lines"][domain]
    unjudged = [line["system"] for line in lines if not (line["rate"] or line.get("rate_against_all"))]
    if unjudged:
        show_line(f"Without a judged battle: {', '.join(unjudged)}.")


@commands.command()
def export(
    name: Name,
    destination: Annotated[
        Path, typer.Argument(metavar="DEST", help="Output file: .csv, .json, .parquet or .html.")
    ],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            show_default="from the file's extension",
            help=f"{', '.join(f'`{form}`' for form in BoardForm)}, or `html`: a page that needs no server.",
        ),
    ] = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Write a published board to a file.

    $ arena leaderboard export demo board.html
    """
    if form not in {"", HTML, *BoardForm}:
        raise typer.BadParameter(
            f"{form!r} is not one of {', '.join(BoardForm)}, {HTML}.", param_hint="--format"
        )
    if form == HTML or (not form and destination.suffix == f".{HTML}"):
        from streamlit.logger import set_log_level

        # Streamlit warns that no server is running; none is needed here.
        set_log_level("ERROR")
        from arena.site.board_file import write_board

        write_board(open_arena(), name, destination)
    else:
        board_form = BoardForm(form) if form else None
        open_arena().boards.write_file(name, destination, board_form, caller=OPERATOR)
    show_result(
        {"board": name, "files": [str(destination)]}, f"{name} written to {destination}.", as_json=as_json
    )
