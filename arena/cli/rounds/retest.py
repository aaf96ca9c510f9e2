"""`arena rounds retest`: ask a sample of a round's battles anew, and show what changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import (
    AsJson,
    Cache,
    Concurrency,
    Rpm,
    Timeout,
    Tpm,
    Transport,
    in_flight,
    open_reaching,
)
from arena.cli.output import Cell, note, show_json, show_line, show_table
from arena.cli.rounds.reports import RoundArgument
from data.errors import StoppedError
from data.progress import reporting

if TYPE_CHECKING:
    from arena.container import Arena
    from arena.services.rounds.retest_plan import RetestRequest

BOOKS = ("judged", "unreadable", "refused", "failed", "skipped", "pending")
MONEY = ("cost_usd", "reserved_usd", "lost_usd")


def retest(
    name: RoundArgument,
    battles: Annotated[
        str | None,
        typer.Option(
            "--battles",
            metavar="N|P%",
            help="How many of the round's judged battles to ask again, each domain and pair of systems by "
            "its share. Without it, the last retest goes on where something is missing.",
        ),
    ] = None,
    wording: Annotated[
        list[str] | None,
        typer.Option(
            "--wording",
            metavar="PROMPT",
            help="Another prompt, by name or path, with which each battle is asked too; repeatable.",
        ),
    ] = None,
    repeat: Annotated[
        int, typer.Option("--repeat", metavar="K", min=1, help="How often each request is asked.")
    ] = 1,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", metavar="S", min=0, show_default="the round's", help="Seed of the draw of battles."
        ),
    ] = None,
    budget_usd: Annotated[
        float | None,
        typer.Option(
            "--budget-usd",
            metavar="X",
            min=0.0,
            help="The most that the retest may spend; with a retest that goes on, its new budget.",
        ),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(
            "--export",
            metavar="FILE",
            help="Also write the verdicts on the battles that were asked again as JSONL in the battle "
            "format, with the columns `repeat` (0 is the round's own) and `wording`, those in the other "
            "order left out.",
        ),
    ] = None,
    concurrency: Concurrency = None,
    cache_mode: Cache = None,
    transport: Transport = None,
    rpm: Rpm = None,
    tpm: Tpm = None,
    timeout: Timeout = None,
    *,
    swap: Annotated[
        bool,
        typer.Option(
            "--swap/--no-swap", help="Ask each battle in the other order too, unless the judge asks both."
        ),
    ] = True,
    again: Annotated[
        bool, typer.Option("--again", help="Ask even where the same was asked today already.")
    ] = False,
    show: Annotated[
        bool, typer.Option("--show", help="Only show what is stored; no judge is asked.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Ask the judge of a finished round again, and show how often its verdicts change.

    $ arena rounds retest demo --battles 100

    The round's own replies and verdicts stay as they are, and so do its rates, ratings and cost. Shown are
    the share of changed verdicts and the shift of each system's rating by cause: the same request asked
    again, the other order, another wording, another day. A retest that was cut off goes on by the same
    command.
    """
    from arena.services.rounds.retest_plan import RetestRequest

    arena = open_reaching(cache_mode, transport, rpm, tpm, timeout)
    left = 0
    if not show:
        request = RetestRequest(
            battles=battles,
            wordings=tuple(wording or ()),
            repeat=repeat,
            swap=swap,
            seed=seed,
            budget_usd=budget_usd,
            again=again,
        )
        left = _ask(arena, name, request, concurrency)
    _show(arena, name, export, as_json=as_json)
    if left:
        raise StoppedError(
            f"The retest of {name} was stopped, and {left:,} battles are pending.",
            advice=f"Go on with: arena rounds retest {name}",
        )


def _ask(arena: Arena, name: str, request: RetestRequest, concurrency: int | None) -> int:
    """Ask, and return how many are pending all the same."""
    begun, is_new = arena.retests.begin(name, request)
    note(f"Retest {begun.number} of {name}; if it is cut off, go on with: arena rounds retest {name}")
    with reporting(f"asking {name} again") as report:
        asked = arena.retests.run(begun, concurrency=in_flight(arena, concurrency), report=report)
    if not asked.pending and not is_new and request.battles is not None:
        note("The same was asked today, so only what was missing is asked; --again asks all of it anew.")
    return asked.pending


def _show(arena: Arena, name: str, export: Path | None, *, as_json: bool) -> None:
    fields = arena.retests.report(name)
    if export is not None:
        note(f"{arena.retests.export(name, export):,} verdicts written to {export}.")
    if as_json:
        show_json(fields)
        return
    for run in fields["runs"]:
        show_line(_books(run))
    show_table(
        ("cause", "wording", "asked", "compared", "changed", "share", "lower", "upper", "reversed"),
        [_cause_cells(row) for row in fields["causes"]],
    )
    for row in fields["causes"]:
        for ended, count in row["unjudged"].items():
            show_line(f"{row['cause']}: {count:,} {ended}, compared with nothing")
    if fields["unrankable"]:
        show_line(f"No shifts of ratings: {fields['unrankable']}")
        return
    if fields["shifts"]:
        show_line("Shift of each rating in points, if every battle were asked anew:")
        show_table(
            ("cause", "wording", "system", "points", "lower", "upper"),
            [
                tuple(shift[key] for key in ("cause", "wording", "system", "points", "lower", "upper"))
                for shift in fields["shifts"]
            ],
        )
    if any(shift["lower"] is None for shift in fields["shifts"]):
        show_line("Without an interval: verdicts changed on fewer than five questions.")


def _cause_cells(row: dict[str, Any]) -> tuple[Cell, ...]:
    keys = ("cause", "wording", "asked", "comparisons", "changed", "share", "lower", "upper", "reversed")
    return tuple(row[key] for key in keys)


def _books(run: dict[str, Any]) -> str:
    ended = ", ".join(f"{run[outcome]:,} {outcome}" for outcome in BOOKS if run[outcome])
    unknown = run["cost_usd"] is None
    paid = "cost unknown" if unknown else ", ".join(f"{key} {run[key]:.4f}" for key in MONEY)
    return f"retest {run['number']}: {run['battles']:,} battles, {run['planned']:,} calls: {ended}; {paid}"
