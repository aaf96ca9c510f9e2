"""`arena rounds`: plan, run and look after rounds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from arena.bootstrap import open_arena
from arena.cli import round_judging, round_notices, round_views
from arena.cli.options import AsJson
from arena.cli.output import note, show_json, show_line, show_table
from arena.cli.round_status import RoundArgument, show_status
from data.records import Round

commands = typer.Typer(help="Rounds: fixed battles, a judge, a seed and a budget.", no_args_is_help=True)
for command in (round_judging.plan, round_judging.run, round_judging.resume, round_judging.retry):
    commands.command()(command)


@commands.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List the rounds, newest first."""
    arena = open_arena()
    found = arena.rounds.rounds()
    if as_json:
        show_json([_round_fields(one) for one in found])
    elif not found:
        note("There are no rounds yet. Start one with `arena rounds run`.")
    else:
        rows = [(one.name, one.set_name, one.judge_name, one.state, one.plan["pairs"]) for one in found]
        show_table(("round", "set", "judge", "state", "pairs"), rows)


@commands.command()
def status(name: RoundArgument, *, as_json: AsJson = False) -> None:
    """Show a round's state and books."""
    show_status(open_arena(), name, as_json=as_json)


commands.command()(round_views.table)
commands.command()(round_views.reparse)
commands.command()(round_views.reports)
commands.command()(round_notices.notice)


@commands.command()
def pause(name: RoundArgument) -> None:
    """Tell a running round to stop; battles in flight finish."""
    open_arena().rounds.pause(name)
    show_line(f"{name} is paused; `arena rounds resume {name}` goes on.")


@commands.command()
def cancel(name: RoundArgument) -> None:
    """End a round; what is pending becomes skipped."""
    open_arena().rounds.cancel(name)
    show_line(f"{name} is cancelled.")


@commands.command()
def publish(
    name: RoundArgument,
    calibration: Annotated[
        Path | None,
        typer.Option("--calibration", help="Output of `judges calibrate --json` of its judge, for readers."),
    ] = None,
    *,
    metrics: Annotated[
        bool, typer.Option("--metrics/--no-metrics", help="Score answers by the embedded metrics first.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Compute the standings of a finished round and publish them as a board."""
    boards = open_arena().boards
    board, created = boards.publish(name, report=note, score=metrics, calibration=calibration)
    if as_json:
        show_json({"name": board.name, "content_hash": board.content_hash, "created": created})
    else:
        state = "published" if created else "unchanged: it was published before"
        show_line(f"{board.name} {state} ({board.content_hash[:12]}).")


@commands.command()
def retract(
    name: RoundArgument, notice: Annotated[str, typer.Option("--notice", help="Why, for readers.")] = ""
) -> None:
    """Take a published board down, keeping it and the reason."""
    open_arena().boards.retract(name, notice)
    show_line(f"{name} is retracted.")


@commands.command()
def export(
    name: RoundArgument, folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write.")]
) -> None:
    """Write a round's battles, judgments, books and standings with their checksums."""
    files = open_arena().boards.export_round(name, folder)
    show_line(f"{len(files)} files written to {folder}.")


@commands.command()
def verify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `export` wrote.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Check an exported round: its checksums, and its standings recomputed from its battles."""
    from arena.services.exports import verify_folder

    checked = verify_folder(folder)
    if as_json:
        show_json({"files": checked, "verified": True})
    else:
        show_line(f"{len(checked)} files are as exported, and the standings follow from the battles.")


def _round_fields(found: Round) -> dict[str, Any]:
    return {
        "name": found.name,
        "set": found.set_name,
        "judge": found.judge_name,
        "state": found.state.value,
        "plan": dict(found.plan),
        "seed": found.seed,
        "budget_usd": found.budget_usd,
        "created_at": found.created_at.isoformat(),
    }
