"""`arena jobs` and `arena worker`."""

import json
from typing import Annotated

import typer

from arena.cli.options import AsJson, Yes, confirm, row_id
from arena.cli.output import protect_home, show_fields, show_json, show_line, show_rows
from arena.container import open_arena


def jobs(
    number: Annotated[
        int | None,
        typer.Argument(
            metavar="JOB", parser=row_id, show_default="the latest, newest first", help="Number of the job."
        ),
    ] = None,
    *,
    cancel: Annotated[bool, typer.Option("--cancel", help="Cancel the job.")] = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Show the latest jobs, or one job with its workers.

    $ arena jobs 12

    With --cancel, calls in flight finish and the job's round is paused.
    """
    service = open_arena().jobs
    if cancel:
        if number is None:
            raise typer.BadParameter("Specify the job to cancel.", param_hint="JOB")
        confirm(f"Cancel job {number}?", yes=yes)
        service.cancel(number)
        show_line(f"Job {number} is cancelled.")
        return
    if number is None:
        latest = service.recent()
        show_rows(
            [status.as_json() for status in latest],
            ("job", "kind", "round", "state", "workers", "position", "why"),
            [
                (job.id, job.kind.value, job.round_name, job.state.value, len(leases), position, job.error)
                for job, leases, position in (
                    (status.job, status.leases, status.position) for status in latest
                )
            ],
            as_json=as_json,
            empty="There are no jobs yet. Add one with `arena rounds run … --queue`.",
        )
        return
    fields = service.status(number).as_json()
    if as_json:
        show_json(fields)
        return
    workers = fields.pop("workers")
    result = fields.pop("result")
    show_fields({**fields, "result": None if result is None else json.dumps(result)[:200]})
    for entry in workers:
        state = "alive" if entry["alive"] else "no heartbeat"
        show_line(f"{entry['name']}: {entry['done']:,} done, {entry['rate']:,.1f}/s, {state}")


def worker(
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", show_default="host name and process id", help="Name of this worker."),
    ] = None,
    parent: Annotated[int | None, typer.Option(metavar="PID", help="Stop when this process ends.")] = None,
    *,
    once: Annotated[bool, typer.Option("--once", help="Exit when the queue is empty.")] = False,
) -> None:
    """Run queued jobs, alongside any number of other workers.

    $ arena worker --once

    Ctrl-C returns unfinished work to the queue.
    """
    from arena.logs import configure_logs
    from arena.services.jobs.queue import this_worker
    from arena.workers.worker import Worker

    arena = open_arena()
    protect_home(arena.settings)
    configure_logs(arena.settings)
    try:
        Worker(arena, this_worker(name), parent=parent).run(once=once)
    finally:
        arena.close()
