"""`arena rounds`: plan, run and monitor rounds."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from arena.cli.options import (
    AsJson,
    Yes,
    confirm,
    grouped,
    only_with,
)
from arena.cli.output import note, show_fields, show_json, show_line, show_result
from arena.cli.rounds import publication
from arena.cli.rounds.options import JudgingOptions, NewBudget, ScopeOptions
from arena.cli.rounds.reports import RoundArgument, show_status, undecidable_lines
from arena.cli.rounds.status import compare, status
from arena.cli.tree.pages import Commands
from arena.container import Arena, open_arena

GoOn = Annotated[
    bool,
    typer.Option(
        "--go-on", help="Judge to the end although replies are unreadable or the place of an answer decides."
    ),
]


@grouped
def plan(scope: ScopeOptions, *, as_json: AsJson = False) -> None:
    """Show what a round would judge and what it would cost, without storing anything.

    $ arena rounds plan --set demo --judge lexical

    Lists also what is left out, and the battles that the judge cannot decide, with the reason.
    """
    fields = open_arena().planner.estimate(scope.request())
    if as_json:
        show_json(fields)
        return
    left_out: dict[str, int] = fields.pop("left_out")
    undecidable: dict[str, int] = fields.pop("undecidable")
    to_do: list[dict[str, Any]] = fields.pop("to_do")
    show_fields({**fields, "systems": ", ".join(fields["systems"])})
    for reason, count in left_out.items():
        show_line(f"left out: {count:,} {reason}")
    for line in undecidable_lines(undecidable, fields["planned"]):
        show_line(line)
    for one in to_do:
        show_line(f"{'needed' if one['blocks'] else 'to consider'}: {one['text']} {one['advice']}")


@grouped
def run(
    scope: ScopeOptions,
    *,
    go_on: GoOn = False,
    no_cap: Annotated[
        bool,
        typer.Option("--no-cap", help="Ask paid models without a cap, at prices that are not known too."),
    ] = False,
    how: JudgingOptions,
    as_json: AsJson = False,
) -> None:
    """Create a round and judge it.

    $ arena rounds run --set demo --judge lexical

    What `arena rounds plan` calls needed is needed here too: a round whose judge is paid takes --budget-usd
    or --no-cap.

    A round whose judge is unreadable, or decides by the place of an answer, is paused with an example of what
    it replies; --go-on judges on.

    Ctrl-C pauses it, and the exit code is 1; `arena rounds resume` continues.
    """
    arena = how.open()
    request = scope.request()
    arena.planner.require_ready(request, uncapped=no_cap)
    created = arena.rounds.create(request)
    if go_on:
        arena.rounds.judge_anyway(created.name)
    for line in undecidable_lines(created.plan["undecidable"], arena.rounds.status(created.name)[1].planned):
        note(line)
    note(f"Round {created.name}; if it is cut off, go on with: arena rounds resume {created.name}")
    how.judge(arena, created.name, as_json=as_json)


@grouped
def resume(
    name: RoundArgument,
    budget_usd: NewBudget = None,
    *,
    go_on: GoOn = False,
    failed: Annotated[
        bool,
        typer.Option("--failed", help="Judge failed and skipped battles again, and no others."),
    ] = False,
    unreadable: Annotated[
        bool,
        typer.Option(
            "--unreadable",
            help="With --failed: also ask again where no verdict could be read in the reply.",
        ),
    ] = False,
    new_judge: Annotated[
        bool,
        typer.Option(
            "--new-judge",
            help="Judge the rest as another judge, where its settings were changed after verdicts.",
        ),
    ] = False,
    how: JudgingOptions,
    as_json: AsJson = False,
) -> None:
    """Judge the pending battles of a round, or those that failed.

    $ arena rounds resume demo
    $ arena rounds resume demo --failed --budget-usd 5

    Until there is a verdict the judge's spec may be corrected; afterwards only what cannot change one, unless
    --new-judge is given.

    A round that reached its budget continues with --failed and a higher --budget-usd.
    """
    if not failed:
        only_with("--failed", {"--unreadable": unreadable})
    arena = how.open()
    if not failed:
        arena.rounds.adopt(name, new_judge=new_judge)
    if budget_usd is not None:
        arena.rounds.set_budget(name, budget_usd)
    if go_on:
        arena.rounds.judge_anyway(name)
    if not failed or _reopened(arena, name, unreadable=unreadable):
        how.judge(arena, name, as_json=as_json)
    else:
        show_status(arena, name, as_json=as_json)


def _reopened(arena: Arena, name: str, *, unreadable: bool) -> int:
    """Put failed and skipped battles back, say how many, and what stays."""
    reopened = arena.rounds.retry(name, unreadable=unreadable)
    note(f"{reopened:,} battles are tried again.")
    left = arena.round_reader.status(name)[1].unreadable
    if left and not unreadable:
        note(f"{left:,} battles are unreadable; --unreadable asks about them again.")
    return reopened


commands = Commands("Rounds: fixed battles with a judge, a seed and a budget.")
for command in (plan, run, resume, status, compare):
    commands.command()(command)


@commands.command()
def correct(
    name: RoundArgument,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="Id of the question.")],
    system_a: Annotated[str, typer.Argument(metavar="SYSTEM_A")],
    system_b: Annotated[str, typer.Argument(metavar="SYSTEM_B")],
    winner: Annotated[str, typer.Option("--winner", metavar="SYSTEM|tie", help="The correct verdict.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Stored with the verdict.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Correct the verdict of a battle.

    $ arena rounds correct demo q1 ours theirs --winner tie --reason "Both answers are equal."

    A published board has it after `arena rounds publish`; the former snapshot stays.
    """
    from arena.services.accounts.auth import OPERATOR

    evidence = open_arena().rounds.correct(
        name, question, (system_a, system_b), winner=winner, reason=reason, caller=OPERATOR
    )
    fields = {"battle": evidence.battle.key, "question_id": question, "winner": winner}
    show_result(fields, f"The winner is {winner}.", as_json=as_json)


@commands.command()
def pause(name: RoundArgument) -> None:
    """Pause a running round; battles in flight finish.

    $ arena rounds pause demo
    """
    open_arena().rounds.pause(name)
    show_line(f"{name} is paused; `arena rounds resume {name}` goes on.")


@commands.command()
def cancel(
    name: RoundArgument,
    *,
    delete: Annotated[
        bool,
        typer.Option("--delete", help="Delete it with its verdicts; for a round that was never published."),
    ] = False,
    yes: Yes = False,
) -> None:
    """Cancel a round; its pending battles become skipped.

    $ arena rounds cancel demo --yes
    """
    arena = open_arena()
    if not delete:
        confirm(f"Cancel the round {name}?", yes=yes)
        arena.rounds.cancel(name)
        show_line(f"{name} is cancelled.")
        return
    note(f"Round {name} has {arena.round_reader.status(name)[1].judged:,} verdicts.")
    confirm(f"Delete the round {name}?", yes=yes)
    arena.rounds.delete(name)
    show_line(f"{name} is deleted.")


for command in (
    publication.publish,
    publication.export,
    publication.verify,
):
    commands.command()(command)
