"""`arena demo`, `arena serve` and `arena db`."""

from __future__ import annotations

from typing import Annotated

import typer

from arena.bootstrap import open_arena
from arena.cli.options import AsJson
from arena.cli.output import note, progress_bar, show_json, show_line

commands = typer.Typer(help="The database.", no_args_is_help=True)
Host = Annotated[str, typer.Option("--host", help="Address to listen on.")]
Port = Annotated[int, typer.Option("--port", min=1, max=65535, help="Port to listen on.")]


def demo(
    port: Port = 8501,
    host: Host = "127.0.0.1",
    *,
    serve: Annotated[bool, typer.Option("--serve/--no-serve", help="Serve the site afterwards.")] = True,
    as_json: AsJson = False,
) -> None:
    """Judge, rate and publish the bundled sets, then serve the site. No key, no network."""
    from arena.web.serve import check_port, serve_site

    if serve:
        check_port(host, port)
    arena = open_arena()
    with progress_bar("judging the demo round") as report:
        boards = arena.demo.prepare(report=report, note=note)
    if as_json:
        show_json({"boards": [board.name for board in boards]})
    else:
        for board in boards:
            show_line(f"published: {board.name} ({board.content_hash[:12]})")
    if serve:
        serve_site(host, port, arena.settings)


def serve(port: Port = 8501, host: Host = "127.0.0.1") -> None:
    """Serve the site."""
    from arena.web.serve import check_port, serve_site

    check_port(host, port)
    arena = open_arena()
    arena.store.close()
    serve_site(host, port, arena.settings)


@commands.command()
def upgrade() -> None:
    """Bring the database to this program's schema."""
    from data.store.database import Database

    database = Database(open_arena().settings.database_url)
    before = database.version()
    database.upgrade()
    show_line(f"{database.place}: schema {before or 'none'} → {database.version()}.")
