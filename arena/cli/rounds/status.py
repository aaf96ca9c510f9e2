"""`arena rounds status` and `compare`: rounds as a list, one as it stands, several compared."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from arena.cli.options import AsJson
from arena.cli.output import note, show_rows
from arena.cli.rounds.reports import show_replies, show_status
from arena.container import open_arena
from data.models import Round


def status(
    name: Annotated[
        str, typer.Argument(metavar="ROUND", show_default="all rounds, newest first", help="A round by name.")
    ] = "",
    replies: Annotated[
        int,
        typer.Option(
            "--replies", metavar="N", min=0, help="Show the raw replies of so many battles instead."
        ),
    ] = 0,
    *,
    unreadable: Annotated[
        bool, typer.Option("--unreadable", help="With --replies: only those without a readable verdict.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the rounds, or one with its state, counts and cost.

    $ arena rounds status demo

    The state includes its speed, the seconds left, and its job: place in the queue, workers and last error;
    and how the systems stand, while the round runs with intervals that hold however often one looks.
    """
    if name and replies:
        show_replies(name, replies, unreadable=unreadable, as_json=as_json)
    elif name:
        show_status(open_arena(), name, as_json=as_json)
    else:
        _show_list(as_json=as_json)


def compare(
    names: Annotated[list[str], typer.Argument(metavar="ROUND ROUND…", help="Rounds of one question set.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Compare how rounds rank the systems on the battles that all of them decided.

    $ arena rounds compare spring autumn

    Kendall's tau-b is 1 where they rank alike and −1 where one ranks the other way round; of more than two
    rounds it is the mean over all pairs. No judge is asked.
    """
    from arena.cli.battles.commands import show_ranking_comparison

    comparison, notes = open_arena().history.compare(names)
    for line in notes:
        note(line)
    show_ranking_comparison(comparison, names, as_json=as_json)


def _show_list(*, as_json: bool) -> None:
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
