"""`arena demo`, `arena serve`, `arena mcp` and `arena db`."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import AsJson
from arena.cli.output import note, protect_home, show_fields, show_json, show_line, show_result, show_table
from arena.container import Arena, open_arena
from arena.settings import LOOPBACK, environment_of, read_settings, settings_in
from data.errors import ConflictError, InputError, ServeError, StoreError
from data.progress import working

if TYPE_CHECKING:
    from data.store.engine import Database

commands = typer.Typer(help="The database: upgrade, back up and restore it.", no_args_is_help=True)
Host = Annotated[str, typer.Option(metavar="HOST", help="Address to listen on.")]
Port = Annotated[int, typer.Option(metavar="N", min=1, max=65535, help="Port to listen on.")]


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

    $ arena demo

    Needs no key and no network.
    """
    from arena.site.server import check_port, serve_site

    if serve:
        check_port(host, port)
    arena = open_arena()
    with arena.engine.parallel():
        boards = arena.demo.prepare(note=note)
    if as_json:
        show_json({"boards": [board.name for board in boards]})
    else:
        show_line(*(f"published: {board.name} ({board.content_hash[:12]})" for board in boards))
    if serve:
        serve_site(host, port, arena.settings)


def serve(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="DIR",
            show_default="the configured arena",
            help="The folder of a ranking, or an empty one for new boards; no sign-in is needed if only this "
            "machine can reach the site.",
        ),
    ] = None,
    port: Port = 8501,
    host: Host = "127.0.0.1",
    *,
    worker: Annotated[
        bool, typer.Option("--worker/--no-worker", help="Run a worker too, and restart it if it dies.")
    ] = True,
) -> None:
    """Serve the site and run queued jobs.

    $ arena serve arena
    """
    from arena.logs import configure_logs
    from arena.site.server import check_port, proxy_unnamed, serve_site
    from arena.workers.supervisor import supervised_worker

    check_port(host, port)
    arena = open_arena() if folder is None else _ranking(folder, host)
    protect_home(arena.settings)
    if proxy := proxy_unnamed(arena.settings, host):
        note(proxy)
    configure_logs(arena.settings)
    arena.store.close()
    if not worker:
        serve_site(host, port, arena.settings)
        return
    with supervised_worker(environment=environment_of(arena.settings)):
        serve_site(host, port, arena.settings)


def _ranking(folder: Path, host: str) -> Arena:
    """Open a ranking's arena; if only this machine can reach it, its user is the owner."""
    from arena.services.ranking.requests import require_ranking

    if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        require_ranking(folder)
    folder.mkdir(parents=True, exist_ok=True)
    settings = settings_in(folder)
    is_local = host in LOOPBACK and not settings.public_url and not settings.hosts
    if not is_local:
        note(
            "Other machines may reach this address, so you have to sign in with a token: arena teams token "
            "create."
        )
    return open_arena(replace(settings, sole_owner=is_local))


def mcp(
    port: Annotated[
        int, typer.Option(metavar="N", min=1, max=65535, help="Port of 127.0.0.1, with --http.")
    ] = 8765,
    *,
    http: Annotated[
        bool, typer.Option("--http", help="Serve over HTTP at /mcp instead of standard input and output.")
    ] = False,
) -> None:
    """Serve published results to agents over the Model Context Protocol (read-only).

    $ arena mcp
    """
    from arena.site.server import check_port

    try:
        from arena.mcp.server import HOST, make_server, serve_http
    except ImportError as error:
        # Do not hide the error of a broken installation.
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
def upgrade(*, as_json: AsJson = False) -> None:
    """Upgrade the database to this program's schema, completely or not at all.

    $ arena db upgrade

    An SQLite database is backed up next to it first.
    """
    with _database() as database:
        old_version = database.version()
        with working("changing the schema"):
            backup_file = database.upgrade()
        fields = {
            "database": database.place,
            "before": old_version,
            "after": database.version(),
            "backup": None if backup_file is None else str(backup_file),
        }
    line = f"{fields['database']}: schema {old_version or 'none'} → {fields['after']}."
    show_result(fields, line, as_json=as_json)


@commands.command()
def status(
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Also check a whole SQLite database, and fail if it is damaged.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the location, schema and row counts of the database.

    $ arena db status --check
    """
    from data.store.engine import newest_version

    with _database() as database:
        if check:
            _check(database)
        version, newest = database.version(), newest_version()
        rows = database.rows()
        fields = {
            "database": database.place,
            "engine": database.url.get_backend_name(),
            "schema": version,
            "newest": newest,
            "current": version == newest,
            "bytes": database.size(),
            **({"checked": "no damage" if database.is_sqlite else "nothing missing"} if check else {}),
        }
    if as_json:
        show_json({**fields, "rows": rows})
        return
    show_fields({**fields, "current": "yes" if fields["current"] else "no: run `arena db upgrade`"})
    show_table(("table", "rows"), rows.items())


@commands.command()
def backup(
    destination: Annotated[Path, typer.Argument(metavar="DEST", help="The file to write.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Back up an SQLite database, even while the arena is in use, and check the backup.

    $ arena db backup arena.backup

    For PostgreSQL use `pg_dump` (docs/operations.md).
    """
    from data.store.backup import back_up

    with _database() as database:
        file = _file_of(database)
        if database.version() is None:
            raise StoreError(f"{database.place} contains no arena.", advice="There is nothing to back up.")
        size = back_up(file, destination)
    show_result(
        {"file": str(destination), "bytes": size}, f"{destination}: {size:,} bytes, checked.", as_json=as_json
    )


@commands.command()
def restore(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="The file of the backup.")],
    *,
    replace: Annotated[bool, typer.Option("--replace", help="Replace a database that is not empty.")] = False,
    as_json: AsJson = False,
) -> None:
    """Replace an SQLite database with a backup, completely or not at all.

    $ arena db restore arena.backup --replace

    Stop the site and all workers first. For PostgreSQL use `pg_restore` (docs/operations.md).
    """
    from data.store.backup import restore as restore_backup
    from data.store.engine import known_versions

    with _database() as database:
        file = _file_of(database)
        if not replace and any(database.rows().values()):
            message = f"{database.place} contains an arena."
            raise ConflictError(message, advice="Stop the site and all workers, then add --replace.")
    version = restore_backup(source, file, known_versions())
    show_result(
        {"file": str(source), "schema": version},
        f"{source} is restored; its schema is {version}.",
        as_json=as_json,
    )


def _check(database: "Database") -> None:
    from data.store.backup import DAMAGED, damage_of, obstacle_to
    from data.store.engine import newest_version

    if database.is_sqlite:
        file = _file_of(database)
        if file.exists() and (damage := damage_of(file)):
            raise StoreError(f"{database.place} is damaged: {damage}.", advice=DAMAGED)
        if obstacle := obstacle_to(file):
            raise StoreError(f"{database.place} is not ready.", advice=obstacle)
    if database.version() == newest_version() and (missing := database.missing()):
        message = f"{database.place} has no {', '.join(missing)}."
        advice = (
            "A restore was probably interrupted. Stop the site and all workers, and restore the backup again."
        )
        raise StoreError(message, advice=advice)


@contextmanager
def _database() -> "Iterator[Database]":
    from data.store.engine import Database

    settings = read_settings()
    protect_home(settings)
    with closing(Database(settings.database_url)) as database:
        yield database


def _file_of(database: "Database") -> Path:
    if not database.is_sqlite:
        message = "The database is on PostgreSQL."
        raise InputError(message, advice="Use `pg_dump`, `pg_restore` and `pg_amcheck` (docs/operations.md).")
    return Path(database.url.database or "")
