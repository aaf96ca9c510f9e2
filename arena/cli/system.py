"""`arena demo`, `arena serve`, `arena mcp` and `arena db`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import AsJson
from arena.cli.output import note, show_fields, show_json, show_line, show_result, show_table
from arena.container import open_arena
from data.errors import ServeError
from data.progress import reporting

if TYPE_CHECKING:
    from arena.services.system.database import DatabaseService

commands = typer.Typer(help="The database: upgrade, move, back up and restore it.", no_args_is_help=True)
Host = Annotated[str, typer.Option("--host", metavar="HOST", help="Address to listen on.")]
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the export.")]
BackupFile = Annotated[Path, typer.Argument(metavar="FILE", help="The file of the backup.")]
Port = Annotated[int, typer.Option("--port", metavar="N", min=1, max=65535, help="Port to listen on.")]


def demo(
    port: Port = 8501,
    host: Host = "127.0.0.1",
    *,
    serve: Annotated[
        bool,
        typer.Option(
            "--serve/--no-serve", help="Serve the site afterwards, or stop when the boards are published."
        ),
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Judge, rate and publish the bundled sets, then serve the site.

    Needs no key and no network.
    """
    from arena.site.server import check_port, serve_site

    if serve:
        check_port(host, port)
    arena = open_arena()
    with arena.engine.spreading(), reporting("judging the demo round") as report:
        boards = arena.demo.prepare(report=report, note=note)
    if as_json:
        show_json({"boards": [board.name for board in boards]})
    else:
        for board in boards:
            show_line(f"published: {board.name} ({board.content_hash[:12]})")
    if serve:
        serve_site(host, port, arena.settings)


def serve(
    port: Port = 8501,
    host: Host = "127.0.0.1",
    *,
    worker: Annotated[
        bool,
        typer.Option("--worker/--no-worker", help="Run a worker beside the site, restarted when it dies."),
    ] = True,
) -> None:
    """Serve the site, and run the jobs of the queue beside it."""
    from arena.logs import configure_logs
    from arena.site.server import check_port, serve_site
    from arena.workers.supervisor import supervised_worker

    check_port(host, port)
    arena = open_arena()
    configure_logs(arena.settings)
    arena.store.close()
    if not worker:
        serve_site(host, port, arena.settings)
        return
    with supervised_worker():
        serve_site(host, port, arena.settings)


def mcp(
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=1, max=65535, help="Port of 127.0.0.1, with --http.")
    ] = 8765,
    *,
    http: Annotated[
        bool, typer.Option("--http", help="Serve over HTTP at /mcp, in place of standard input and output.")
    ] = False,
) -> None:
    """Serve what is published to agents, read-only, by the Model Context Protocol."""
    from arena.site.server import check_port

    try:
        from arena.mcp.server import HOST, make_server, serve_http
    except ImportError as error:
        # A library that is there and broken is a fault of its own.
        if (error.name or "").partition(".")[0] not in {"mcp", "mcp_types"}:
            raise
        advice = "Install it: `pip install answer-arena[mcp]`."
        raise ServeError("The library mcp is not installed.", advice=advice) from error
    arena = open_arena()
    arena.boards.heads()
    if not http:
        make_server(arena).run()
        return
    check_port(HOST, port)
    serve_http(arena, port)


@commands.command()
def upgrade() -> None:
    """Upgrade the database to this program's schema, completely or not at all."""
    database, before, after = _service().upgrade()
    show_line(f"{database}: schema {before or 'none'} → {after}.")


@commands.command()
def status(*, as_json: AsJson = False) -> None:
    """Show where the database is, its schema, and its number of rows."""
    fields = _service().status()
    if as_json:
        show_json(fields)
        return
    rows: dict[str, int] = fields.pop("rows")
    show_fields({**fields, "current": "yes" if fields["current"] else "no: run `arena db upgrade`"})
    show_table(("table", "rows"), rows.items())


@commands.command()
def export(folder: Folder, *, as_json: AsJson = False) -> None:
    """Write the whole arena into a folder that SQLite and PostgreSQL can import."""
    _show_rows(_service().export(folder), f"exported to {folder}", as_json=as_json)


@commands.command("import")
def import_(folder: Folder, *, as_json: AsJson = False) -> None:
    """Read an exported arena into an empty database, completely or not at all."""
    _show_rows(_service().bring(folder), f"imported from {folder}", as_json=as_json)


@commands.command()
def backup(file: BackupFile) -> None:
    """Write a backup, also while the arena is in use.

    SQLite's backup interface or `pg_dump` makes it.
    """
    show_line(f"{file}: {_service().back_up(file):,} bytes.")


@commands.command()
def restore(
    file: BackupFile,
    *,
    replace: Annotated[
        bool, typer.Option("--replace", help="Overwrite a database that is not empty.")
    ] = False,
) -> None:
    """Replace the database by a backup.

    Stop the site and all workers first.
    """
    show_line(f"{file} is restored; its schema is {_service().restore(file, replace=replace)}.")


def _service() -> DatabaseService:
    from arena.services.system.database import DatabaseService
    from arena.settings import read_settings

    return DatabaseService(read_settings().database_url)


def _show_rows(rows: Mapping[str, int], done: str, *, as_json: bool) -> None:
    line = f"{sum(rows.values()):,} rows of {len(rows)} tables {done}."
    show_result({"rows": dict(rows)}, line, as_json=as_json)
