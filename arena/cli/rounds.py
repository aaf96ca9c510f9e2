"""`arena rounds`: plan, run and look after rounds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from arena.bootstrap import Arena, open_arena
from arena.cli import round_views
from arena.cli.options import AsJson, JudgeName, Seed, SetName
from arena.cli.output import note, progress_bar, show_fields, show_json, show_line, show_table
from arena.cli.reaching import Cache, Concurrency, Rpm, Timeout, Tpm, Transport, in_flight, open_reaching
from data.records import OrderPolicy, Round, RoundCounts

commands = typer.Typer(help="Rounds: fixed battles, a judge, a seed and a budget.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="ROUND", help="Name of the round.")]
PairsOption = Annotated[str, typer.Option("--pairs", help="reference, reference,complete:K, or all.")]
Systems = Annotated[str | None, typer.Option("--systems", help="Systems by name, with commas between.")]
SampleOption = Annotated[str | None, typer.Option("--sample", help="Questions to take: 100, or 10%.")]
Order = Annotated[OrderPolicy | None, typer.Option("--order", help="Which answer is shown first.")]
Budget = Annotated[float | None, typer.Option("--budget-usd", min=0.0, help="Most that may be spent.")]
RoundName = Annotated[str | None, typer.Option("--name", help="Name of the round.")]
Canaries = Annotated[
    int | None,
    typer.Option("--canaries", min=0, help="Attacks planted beside the battles; 0 plants none."),
]


@commands.command()
def plan(
    set_name: SetName,
    judge: JudgeName,
    pairs: PairsOption = "reference",
    systems: Systems = None,
    sample: SampleOption = None,
    order: Order = None,
    seed: Seed = 0,
    budget_usd: Budget = None,
    canaries: Canaries = None,
    name: RoundName = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Say what a round would judge, what is left out, and what it would cost; store nothing."""
    from arena.services.rounds import RoundRequest

    request = RoundRequest(
        set_name=set_name,
        judge=judge,
        pairs=pairs,
        systems=_names(systems),
        sample=sample,
        order=order,
        seed=seed,
        budget_usd=budget_usd,
        canaries=canaries,
        name=name,
    )
    fields = open_arena().rounds.estimate(request)
    if as_json:
        show_json(fields)
        return
    left_out: dict[str, int] = fields.pop("left_out")
    show_fields({**fields, "systems": ", ".join(fields["systems"])})
    for what, count in left_out.items():
        show_line(f"left out: {count:,} {what}")


@commands.command()
def run(
    set_name: SetName,
    judge: JudgeName,
    pairs: PairsOption = "reference",
    systems: Systems = None,
    sample: SampleOption = None,
    order: Order = None,
    seed: Seed = 0,
    budget_usd: Budget = None,
    canaries: Canaries = None,
    concurrency: Concurrency = None,
    name: RoundName = None,
    cache_mode: Cache = None,
    transport: Transport = None,
    rpm: Rpm = None,
    tpm: Tpm = None,
    timeout: Timeout = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Create a round and judge it. Ctrl-C pauses it; `arena rounds resume` goes on."""
    from arena.services.rounds import RoundRequest

    arena = open_reaching(cache_mode, transport, rpm, tpm, timeout)
    request = RoundRequest(
        set_name=set_name,
        judge=judge,
        pairs=pairs,
        systems=_names(systems),
        sample=sample,
        order=order,
        seed=seed,
        budget_usd=budget_usd,
        canaries=canaries,
        name=name,
    )
    created = arena.rounds.create(request)
    note(f"Round {created.name}; if it is cut off, go on with: arena rounds resume {created.name}")
    _judge(arena, created.name, concurrency, as_json=as_json)


@commands.command()
def resume(
    name: Name,
    concurrency: Concurrency = None,
    cache_mode: Cache = None,
    transport: Transport = None,
    rpm: Rpm = None,
    tpm: Tpm = None,
    timeout: Timeout = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Judge what is still pending in a round."""
    _judge(open_reaching(cache_mode, transport, rpm, tpm, timeout), name, concurrency, as_json=as_json)


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
def status(name: Name, *, as_json: AsJson = False) -> None:
    """Show a round's state and books."""
    _show_status(open_arena(), name, as_json=as_json)


commands.command()(round_views.table)
commands.command()(round_views.reparse)


@commands.command()
def pause(name: Name) -> None:
    """Tell a running round to stop; battles in flight finish."""
    open_arena().rounds.pause(name)
    show_line(f"{name} is paused; `arena rounds resume {name}` goes on.")


@commands.command()
def cancel(name: Name) -> None:
    """End a round; what is pending becomes skipped."""
    open_arena().rounds.cancel(name)
    show_line(f"{name} is cancelled.")


@commands.command()
def retry(
    name: Name,
    concurrency: Concurrency = None,
    cache_mode: Cache = None,
    transport: Transport = None,
    rpm: Rpm = None,
    tpm: Tpm = None,
    timeout: Timeout = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Judge failed and skipped battles again, and nothing else."""
    arena = open_reaching(cache_mode, transport, rpm, tpm, timeout)
    reopened = arena.rounds.retry(name)
    note(f"{reopened:,} battles are tried again.")
    if reopened:
        _judge(arena, name, concurrency, as_json=as_json)
    else:
        _show_status(arena, name, as_json=as_json)


@commands.command()
def publish(
    name: Name,
    *,
    metrics: Annotated[
        bool, typer.Option("--metrics/--no-metrics", help="Score answers by the embedded metrics first.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Compute the standings of a finished round and publish them as a board."""
    board, created = open_arena().boards.publish(name, report=note, score=metrics)
    if as_json:
        show_json({"name": board.name, "content_hash": board.content_hash, "created": created})
    else:
        state = "published" if created else "unchanged: it was published before"
        show_line(f"{board.name} {state} ({board.content_hash[:12]}).")


@commands.command()
def retract(
    name: Name, notice: Annotated[str, typer.Option("--notice", help="Why, for readers.")] = ""
) -> None:
    """Take a published board down, keeping it and the reason."""
    open_arena().boards.retract(name, notice)
    show_line(f"{name} is retracted.")


@commands.command()
def export(
    name: Name, folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write.")]
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


def _judge(arena: Arena, name: str, concurrency: int | None, *, as_json: bool) -> None:
    with progress_bar(f"judging {name}") as report:
        arena.rounds.run(name, concurrency=in_flight(arena, concurrency), report=report)
    counts = _show_status(arena, name, as_json=as_json)
    if counts.pending:
        note(f"{counts.pending:,} battles are pending; go on with: arena rounds resume {name}")


def _show_status(arena: Arena, name: str, *, as_json: bool) -> RoundCounts:
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
    }
    if as_json:
        show_json({**fields, "canaries": attacks.to_json()})
    else:
        show_fields({**fields, "attack success": str(attacks)})
    return counts


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


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())
