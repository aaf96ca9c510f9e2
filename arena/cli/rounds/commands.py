"""`arena rounds`: plan, run and monitor rounds."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from arena.cli.options import (
    AsJson,
    grouped,
)
from arena.cli.output import note, show_fields, show_json, show_line, show_rows
from arena.cli.rounds import publication, reports
from arena.cli.rounds.options import JudgingOptions, NewBudget, ScopeOptions, WaveOptions
from arena.cli.rounds.reports import RoundArgument, show_curve, show_status, undecidable_lines
from arena.cli.rounds.retest import retest
from arena.container import open_arena
from data.records import Round


@grouped
def plan(scope: ScopeOptions, waves: WaveOptions, *, as_json: AsJson = False) -> None:
    """Show what a round would judge and what it would cost, without storing anything.

    Lists also what is left out, and the battles that the judge cannot decide, with the reason.
    """
    fields = open_arena().planner.estimate(scope.request(waves))
    if as_json:
        show_json(fields)
        return
    left_out: dict[str, int] = fields.pop("left_out")
    undecidable: dict[str, int] = fields.pop("undecidable")
    curve: dict[str, Any] | None = fields.pop("waves", None)
    to_do: list[dict[str, Any]] = fields.pop("to_do")
    show_fields({**fields, "systems": ", ".join(fields["systems"])})
    for reason, count in left_out.items():
        show_line(f"left out: {count:,} {reason}")
    for line in undecidable_lines(undecidable, fields["planned"]):
        show_line(line)
    if curve is not None:
        show_curve(curve)
    for one in to_do:
        show_line(f"{'needed' if one['blocks'] else 'to consider'}: {one['text']} {one['advice']}")


@grouped
def run(scope: ScopeOptions, waves: WaveOptions, how: JudgingOptions, *, as_json: AsJson = False) -> None:
    """Create a round and judge it.

    With --cheap-judge, cheap judges decide every battle and the judge a sample: battles that it was not asked
    about end as `estimated`, and the board says how much was judged.

    Ctrl-C pauses it; `arena rounds resume` continues.
    """
    arena = how.open()
    created = arena.rounds.create(scope.request(waves))
    for line in undecidable_lines(created.plan["undecidable"], arena.rounds.status(created.name)[1].planned):
        note(line)
    report = arena.rounds.waves(created.name)
    if report is not None and report.settings.elsewhere:
        note(report.settings.elsewhere)
    note(f"Round {created.name}; if it is cut off, go on with: arena rounds resume {created.name}")
    how.judge(arena, created.name, as_json=as_json)


@grouped
def resume(
    name: RoundArgument, budget_usd: NewBudget = None, *, how: JudgingOptions, as_json: AsJson = False
) -> None:
    """Judge the pending battles of a round.

    A round that reached its budget continues with `arena rounds retry ROUND --budget-usd X`.
    """
    arena = how.open()
    if budget_usd is not None:
        arena.rounds.set_budget(name, budget_usd)
    how.judge(arena, name, as_json=as_json)


@grouped
def retry(
    name: RoundArgument,
    budget_usd: NewBudget = None,
    *,
    stopped: Annotated[
        bool,
        typer.Option(
            "--stopped", help="Also judge what `--stop-when` left out; the round's rule is dropped."
        ),
    ] = False,
    how: JudgingOptions,
    as_json: AsJson = False,
) -> None:
    """Judge failed and skipped battles again, and no others.

    What a stopping rule left out stays so, unless --stopped asks for it.
    """
    arena = how.open()
    if budget_usd is not None:
        arena.rounds.set_budget(name, budget_usd)
    reopened = arena.rounds.retry(name, stopped=stopped)
    note(f"{reopened:,} battles are tried again.")
    if reopened:
        how.judge(arena, name, as_json=as_json)
    else:
        show_status(arena, name, as_json=as_json)


commands = typer.Typer(help="Rounds: fixed battles with a judge, a seed and a budget.", no_args_is_help=True)
for command in (plan, run, resume, retry):
    commands.command()(command)


@commands.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List the rounds, newest first."""
    rounds = open_arena().round_reader.rounds()
    show_rows(
        [_round_fields(round_) for round_ in rounds],
        ("round", "set", "judge", "state", "pairs"),
        [
            (round_.name, round_.set_name, round_.judge_name, round_.state, round_.plan["pairs"])
            for round_ in rounds
        ],
        as_json=as_json,
        empty="There are no rounds yet. Start one with `arena rounds run`.",
    )


@commands.command()
def status(name: RoundArgument, *, as_json: AsJson = False) -> None:
    """Show a round's state, counts and cost.

    Includes its speed, the seconds left, and its job: place in the queue, workers and last error; and how
    the systems stand, while the round runs with intervals that hold however often one looks.
    """
    show_status(open_arena(), name, as_json=as_json)


commands.command()(retest)
commands.command()(reports.table)
commands.command()(reports.compare)
commands.command()(reports.reparse)
commands.command()(reports.reports)


@commands.command()
def pause(name: RoundArgument) -> None:
    """Pause a running round; battles in flight finish."""
    open_arena().rounds.pause(name)
    show_line(f"{name} is paused; `arena rounds resume {name}` goes on.")


@commands.command()
def cancel(name: RoundArgument) -> None:
    """Cancel a round permanently; its pending battles become skipped."""
    open_arena().rounds.cancel(name)
    show_line(f"{name} is cancelled.")


for command in (
    publication.publish,
    publication.retract,
    publication.notice,
    publication.export,
    publication.verify,
):
    commands.command()(command)


def _round_fields(round_: Round) -> dict[str, Any]:
    return {
        "name": round_.name,
        "set": round_.set_name,
        "judge": round_.judge_name,
        "state": round_.state.value,
        "plan": dict(round_.plan),
        "seed": round_.seed,
        "budget_usd": round_.budget_usd,
        "created_at": round_.created_at.isoformat(),
    }
