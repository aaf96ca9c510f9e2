"""`arena jobs` and `arena worker`."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from arena.cli.options import LARGEST_NUMBER, AsJson
from arena.cli.output import show_fields, show_json, show_line, show_rows
from arena.container import open_arena

commands = typer.Typer(help="Jobs: the work that is queued, running or finished.", no_args_is_help=True)
Number = Annotated[int, typer.Argument(metavar="JOB", max=LARGEST_NUMBER, help="Number of the job.")]


@commands.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List the latest jobs, newest first."""
    statuses = open_arena().jobs.recent()
    rows = [
        (
            status.job.id,
            status.job.kind.value,
            status.job.round_name,
            status.job.state.value,
            len(status.leases),
            status.position,
            status.job.error or "",
        )
        for status in statuses
    ]
    show_rows(
        [status.as_json() for status in statuses],
        ("job", "kind", "round", "state", "workers", "position", "why"),
        rows,
        as_json=as_json,
        empty="There are no jobs yet. Put one in with `arena rounds run … --queue`.",
    )


@commands.command()
def show(number: Number, *, as_json: AsJson = False) -> None:
    """Show a job and the workers that run it."""
    fields = open_arena().jobs.status(number).as_json()
    if as_json:
        show_json(fields)
        return
    workers = fields.pop("workers")
    result = fields.pop("result")
    show_fields({**fields, "result": None if result is None else json.dumps(result)[:200]})
    for entry in workers:
        state = "alive" if entry["alive"] else "not heard of"
        show_line(f"{entry['name']}: {entry['done']:,} done, {entry['rate']:,.1f}/s, {state}")


@commands.command()
def cancel(number: Number) -> None:
    """Cancel a job.

    Calls in flight finish, and the job's round is paused.
    """
    open_arena().jobs.cancel(number)
    show_line(f"Job {number} is cancelled.")


def worker(
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            metavar="NAME",
            show_default="its machine and process number",
            help="Name of this worker.",
        ),
    ] = None,
    parent: Annotated[
        int | None,
        typer.Option(
            "--parent", metavar="PID", help="Stop when this process, which started the worker, ends."
        ),
    ] = None,
    *,
    once: Annotated[bool, typer.Option("--once", help="Exit when the queue is empty.")] = False,
) -> None:
    """Run the jobs of the queue, beside any number of other workers.

    Ctrl-C returns unfinished work to the queue.
    """
    from arena.logs import configure_logs
    from arena.services.jobs.worker_identity import this_worker
    from arena.workers.worker import Worker

    arena = open_arena()
    configure_logs(arena.settings)
    try:
        Worker(arena, this_worker(name), parent=parent).run(once=once)
    finally:
        arena.close()
