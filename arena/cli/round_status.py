"""A round's state and books, as several commands show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from arena.bootstrap import Arena
from arena.cli.output import show_fields, show_json
from data.records import RoundCounts

if TYPE_CHECKING:
    from arena.services.jobs import JobStatus

RoundArgument = Annotated[str, typer.Argument(metavar="ROUND", help="Name of the round.")]


def show_status(arena: Arena, name: str, *, as_json: bool) -> RoundCounts:
    """Show a round as it stands, and return its books."""
    found, counts = arena.rounds.status(name)
    attacks = arena.rounds.attacks(name)
    fields = {
        "name": found.name,
        "state": found.state.value,
        "planned": counts.planned,
        "judged": counts.judged,
        "unreadable": counts.unreadable,
        "refused": counts.refused,
        "failed": counts.failed,
        "skipped": counts.skipped,
        "missing": counts.missing,
        "pending": counts.pending,
        "cost_usd": counts.cost_usd,
        "input_tokens": counts.input_tokens,
        "output_tokens": counts.output_tokens,
        "digit_scan_differs": arena.rounds.scanned_otherwise(name),
    }
    job = arena.jobs.of_round(found.id)
    rate = 0.0 if job is None else job.rate
    left = (counts.pending + attacks.pending) / rate if rate else None
    speed = {"rate": rate, "seconds_left": left}
    if as_json:
        shown = None if job is None else job.as_json()
        show_json({**fields, **speed, "canaries": attacks.to_json(), "job": shown})
    else:
        show_fields({**fields, **speed, "attack success": str(attacks), "job": _job_line(job)})
    return counts


def _job_line(status: JobStatus | None) -> str | None:
    """A round's job in a line: its place in the queue, or who is at it."""
    if status is None:
        return None
    job = status.job
    alive = [seat.worker.name for seat in status.seats if seat.lease_left > 0]
    parts = [
        f"{job.id}, {job.state}",
        "" if status.position is None else f"place {status.position} in the queue",
        f"by {', '.join(alive)}" if alive else "",
        job.error,
    ]
    return "; ".join(part for part in parts if part)
