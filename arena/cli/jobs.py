"""`arena jobs` and `arena worker`."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from arena.bootstrap import open_arena
from arena.cli.options import AsJson
from arena.cli.output import note, show_fields, show_json, show_line, show_table

commands = typer.Typer(help="Jobs: what workers do and are to do.", no_args_is_help=True)
Number = Annotated[int, typer.Argument(metavar="JOB", help="Number of the job.")]


@commands.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List the newest jobs, newest first."""
    found = open_arena().jobs.recent()
    if as_json:
        show_json([one.as_json() for one in found])
    elif not found:
        note("There are no jobs yet. Put one in with `arena rounds run … --queue`.")
    else:
        rows = [
            (
                one.job.id,
                one.job.kind.value,
                one.job.round_name,
                one.job.state.value,
                len(one.seats),
                one.position,
                one.job.error or "",
            )
            for one in found
        ]
        show_table(("job", "kind", "round", "state", "workers", "position", "why"), rows)


@commands.command()
def show(number: Number, *, as_json: AsJson = False) -> None:
    """Show a job and the workers at it."""
    fields = open_arena().jobs.status(number).as_json()
    if as_json:
        show_json(fields)
        return
    workers = fields.pop("workers")
    result = fields.pop("result")
    show_fields({**fields, "result": None if result is None else json.dumps(result)[:200]})
    for one in workers:
        state = "alive" if one["alive"] else "not heard of"
        show_line(f"{one['name']}: {one['done']:,} done, {one['rate']:,.1f}/s, {state}")


@commands.command()
def cancel(number: Number) -> None:
    """Take a job out of the queue; what is in flight finishes, and its round is paused."""
    open_arena().jobs.cancel(number)
    show_line(f"Job {number} is cancelled.")


def worker(
    name: Annotated[str | None, typer.Option("--name", help="Name of this worker.")] = None,
    parent: Annotated[int | None, typer.Option("--parent", help="Stop when this process ends.")] = None,
    *,
    once: Annotated[bool, typer.Option("--once", help="End when there is nothing to do.")] = False,
) -> None:
    """Do the jobs of the queue, with any number of other workers. Ctrl-C hands back what is not done."""
    from arena.identity import this_worker
    from arena.logs import configure_logs
    from arena.worker import Worker

    arena = open_arena()
    configure_logs(arena.settings)
    try:
        Worker(arena, this_worker(name), parent=parent).run(once=once)
    finally:
        arena.close()
