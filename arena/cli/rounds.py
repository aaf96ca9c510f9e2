"""`arena rounds`: plan, judge and stop rounds, and correct verdicts."""

from typing import Annotated, Any

import typer

from arena.cli import options, round_results, round_status
from arena.cli.output import note, show_fields, show_json, show_line, show_result
from arena.cli.round_status import show_status, undecidable_lines
from arena.container import Arena, open_arena
from arena.settings import LlmOverrides
from data.errors import StoppedError
from data.models import MissingRule, RoundState
from data.progress import reporting

PLANNED = {
    "planned": "battles",
    "requests_most": "requests, maximum",
    "cached": "replies in the cache",
    "cost_usd": "cost in USD",
    "cost_usd_most": "cost in USD, maximum",
    "missing": "answers missing",
}
commands = typer.Typer(
    help="Rounds: fixed battles with a judge, a seed and a budget.",
    epilog="Also: `list`, `retry` for failed battles, `retract` for a published board.",
    no_args_is_help=True,
)


@commands.command()
def plan(
    set_name: options.SetName,
    judge: options.JudgeName,
    pairs: options.Pairs = "",
    systems: options.Systems = None,
    domains: options.Domains = None,
    sample: options.Sample = None,
    order: options.Order = None,
    missing: options.Missing = MissingRule.LOSE,
    seed: options.Seed = 0,
    budget_usd: options.RoundBudget = None,
    name: options.NewRound = None,
    *,
    as_json: options.AsJson = False,
) -> None:
    """Show what a round would judge and what it would cost, without storing anything.

    $ arena rounds plan --set demo --judge lexical

    Also lists what is left out, and the battles that the judge cannot decide, with the reasons.
    """
    from arena.services.accounts.auth import OPERATOR
    from arena.services.rounds.models import RoundRequest

    request = RoundRequest(
        set_name=set_name,
        judge=judge,
        pairs=pairs,
        systems=options.names_of(systems),
        domains=options.names_of(domains),
        sample=sample,
        order=order,
        missing=missing,
        seed=seed,
        budget_usd=budget_usd,
        name=name,
    )
    fields = open_arena().planner.estimate(request, caller=OPERATOR)
    if as_json:
        show_json(fields)
        return
    left_out: dict[str, int] = fields.pop("left_out")
    undecidable: dict[str, int] = fields.pop("undecidable")
    to_do: list[dict[str, Any]] = fields.pop("to_do")
    fields["systems"] = ", ".join(fields["systems"])
    show_fields({PLANNED.get(name, name.replace("_", " ")): value for name, value in fields.items()})
    show_line(*(f"left out: {count:,} {reason}" for reason, count in left_out.items()))
    show_line(*undecidable_lines(undecidable, fields["planned"]))
    for item in to_do:
        command = f" ({item['command']})" if item["command"] else ""
        urgency = "needed" if item["blocks"] else "to consider"
        show_line(f"{urgency}: {item['text']} {item['advice']}{command}")


@commands.command()
def run(
    set_name: options.SetName,
    judge: options.JudgeName,
    pairs: options.Pairs = "",
    systems: options.Systems = None,
    domains: options.Domains = None,
    sample: options.Sample = None,
    order: options.Order = None,
    missing: options.Missing = MissingRule.LOSE,
    seed: options.Seed = 0,
    budget_usd: options.RoundBudget = None,
    name: options.NewRound = None,
    concurrency: options.Concurrency = None,
    cache_mode: options.Cache = None,
    transport: options.Transport = None,
    rpm: options.Rpm = None,
    tpm: options.Tpm = None,
    timeout: options.Timeout = None,
    engine: options.Engine = None,
    workers: options.Workers = None,
    *,
    go_on: options.GoOn = False,
    no_cap: Annotated[
        bool, typer.Option("--no-cap", help="Call paid models without a budget, even at unknown prices.")
    ] = False,
    queue: options.Queue = False,
    as_json: options.AsJson = False,
) -> None:
    """Create a round and judge it.

    $ arena rounds run --set demo --judge lexical

    What `arena rounds plan` calls needed is needed here too: a paid judge needs --budget-usd or --no-cap.

    If the judge's replies are unreadable or depend on the order of the answers, the round pauses with an
    example; --go-on continues.

    Ctrl-C pauses the round, with exit code 1; `arena rounds resume` continues it.
    """
    from arena.services.accounts.auth import OPERATOR
    from arena.services.rounds.models import RoundRequest

    overrides = LlmOverrides(cache_mode=cache_mode, transport=transport, rpm=rpm, tpm=tpm, timeout=timeout)
    arena = options.open_with(overrides, engine)
    request = RoundRequest(
        set_name=set_name,
        judge=judge,
        pairs=pairs,
        systems=options.names_of(systems),
        domains=options.names_of(domains),
        sample=sample,
        order=order,
        missing=missing,
        seed=seed,
        budget_usd=budget_usd,
        name=name,
    )
    planned = arena.planner.plan(request)
    arena.planner.require_ready(planned, uncapped=no_cap)
    created = arena.rounds.begin(planned, caller=OPERATOR)
    if go_on:
        arena.rounds.judge_anyway(created.name)
    planned_battles = arena.rounds.status(created.name)[1].planned
    note(*undecidable_lines(created.plan["undecidable"], planned_battles))
    note(f"Round {created.name}; to continue it after an interruption: arena rounds resume {created.name}")
    _judge(arena, created.name, overrides, concurrency, workers, queue=queue, as_json=as_json)


@commands.command()
def resume(
    name: options.RoundArgument,
    budget_usd: options.NewBudget = None,
    concurrency: options.Concurrency = None,
    cache_mode: options.Cache = None,
    transport: options.Transport = None,
    rpm: options.Rpm = None,
    tpm: options.Tpm = None,
    timeout: options.Timeout = None,
    engine: options.Engine = None,
    workers: options.Workers = None,
    *,
    go_on: options.GoOn = False,
    new_judge: Annotated[
        bool,
        typer.Option(
            "--new-judge",
            help="Judge the rest as a new judge if the judge's settings changed after the first verdict.",
        ),
    ] = False,
    queue: options.Queue = False,
    as_json: options.AsJson = False,
) -> None:
    """Judge the pending battles of a round.

    $ arena rounds resume demo

    The judge's spec may change until the first verdict; afterwards only settings that cannot change a verdict
    may, unless --new-judge is set. `arena rounds retry` judges failed and skipped battles again, as after the
    end of a budget.
    """
    overrides = LlmOverrides(cache_mode=cache_mode, transport=transport, rpm=rpm, tpm=tpm, timeout=timeout)
    arena = options.open_with(overrides, engine)
    arena.rounds.adopt(name, new_judge=new_judge)
    if budget_usd is not None:
        arena.rounds.set_budget(name, budget_usd)
    if go_on:
        arena.rounds.judge_anyway(name)
    _judge(arena, name, overrides, concurrency, workers, queue=queue, as_json=as_json)


@commands.command(hidden=True)
def retry(
    name: options.RoundArgument,
    budget_usd: options.NewBudget = None,
    concurrency: options.Concurrency = None,
    cache_mode: options.Cache = None,
    transport: options.Transport = None,
    rpm: options.Rpm = None,
    tpm: options.Tpm = None,
    timeout: options.Timeout = None,
    engine: options.Engine = None,
    workers: options.Workers = None,
    *,
    go_on: options.GoOn = False,
    unreadable: Annotated[
        bool, typer.Option("--unreadable", help="Also judge battles with unreadable replies again.")
    ] = False,
    queue: options.Queue = False,
    as_json: options.AsJson = False,
) -> None:
    """Judge only the failed and skipped battles of a round again.

    $ arena rounds retry demo --budget-usd 5

    A round that reached its budget continues with a higher --budget-usd.
    """
    overrides = LlmOverrides(cache_mode=cache_mode, transport=transport, rpm=rpm, tpm=tpm, timeout=timeout)
    arena = options.open_with(overrides, engine)
    if budget_usd is not None:
        arena.rounds.set_budget(name, budget_usd)
    if go_on:
        arena.rounds.judge_anyway(name)
    reopened = arena.rounds.retry(name, unreadable=unreadable)
    note(f"{reopened:,} battles are pending again.")
    left = arena.round_reader.status(name)[1].unreadable
    if left and not unreadable:
        note(f"{left:,} battles are unreadable; --unreadable judges them again.")
    if arena.round_reader.status(name)[1].pending:
        _judge(arena, name, overrides, concurrency, workers, queue=queue, as_json=as_json)
    else:
        show_status(arena, name, as_json=as_json)


def _judge(
    arena: Arena,
    name: str,
    overrides: LlmOverrides,
    concurrency: int | None,
    workers: int | None,
    *,
    queue: bool,
    as_json: bool,
) -> None:
    if queue:
        limit = {} if concurrency is None else {"concurrency": concurrency}
        job = arena.jobs.judge(name, options={**limit, **overrides.to_json()}, workers=workers)
        note(f"Job {job.id} waits for a worker (`arena worker`); see: arena rounds status {name}")
        show_status(arena, name, as_json=as_json)
        return
    with reporting(f"judging {name}") as report:
        arena.engine.judge(
            name,
            concurrency=options.in_flight(arena, concurrency),
            workers=workers,
            reaching=overrides.to_json(),
            report=report,
        )
    show_status(arena, name, as_json=as_json)
    round_, counts = arena.round_reader.status(name)
    # Ctrl-C, or a command elsewhere, stops a round before its end.
    if round_.state is not RoundState.FINISHED:
        verb = "retry" if round_.state is RoundState.CANCELLED else "resume"
        raise StoppedError(
            f"Round {name} is {round_.state}, and {counts.pending:,} battles are pending.",
            advice=f"Continue it with: arena rounds {verb} {name}",
        )


commands.command()(round_status.status)
commands.command("list", hidden=True)(round_status.list_)
commands.command()(round_status.compare)


@commands.command()
def correct(
    name: options.RoundArgument,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="Id of the question.")],
    system_a: Annotated[str, typer.Argument(metavar="SYSTEM_A")],
    system_b: Annotated[str, typer.Argument(metavar="SYSTEM_B")],
    winner: Annotated[str, typer.Option(metavar="SYSTEM|tie", help="The correct verdict.")],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Reason to store with the verdict.")],
    *,
    as_json: options.AsJson = False,
) -> None:
    """Correct the verdict of a battle.

    $ arena rounds correct demo q1 ours theirs --winner tie --reason "Both answers are equal."

    Run `arena rounds publish` to update a published board; the former snapshot stays.
    """
    from arena.services.accounts.auth import OPERATOR

    evidence = open_arena().rounds.correct(
        name, question, (system_a, system_b), winner=winner, reason=reason, caller=OPERATOR
    )
    fields = {"battle": evidence.battle.key, "question_id": question, "winner": winner}
    show_result(fields, f"The winner is {winner}.", as_json=as_json)


@commands.command()
def pause(name: options.RoundArgument) -> None:
    """Pause a running round; battles in flight finish.

    $ arena rounds pause demo
    """
    open_arena().rounds.pause(name)
    show_line(f"{name} is paused; `arena rounds resume {name}` continues it.")


@commands.command()
def cancel(
    name: options.RoundArgument,
    *,
    delete: Annotated[
        bool, typer.Option("--delete", help="Delete the round and its verdicts, if it was never published.")
    ] = False,
    yes: options.Yes = False,
) -> None:
    """Cancel a round; its pending battles become skipped.

    $ arena rounds cancel demo --yes
    """
    arena = open_arena()
    if not delete:
        options.confirm(f"Cancel the round {name}?", yes=yes)
        arena.rounds.cancel(name)
        show_line(f"{name} is cancelled.")
        return
    note(f"Round {name} has {arena.round_reader.status(name)[1].judged:,} verdicts.")
    options.confirm(f"Delete the round {name}?", yes=yes)
    arena.rounds.delete(name)
    show_line(f"{name} is deleted.")


for command in (round_results.publish, round_results.export, round_results.verify):
    commands.command()(command)
commands.command(hidden=True)(round_results.retract)
