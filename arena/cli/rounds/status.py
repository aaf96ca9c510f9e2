"""`arena rounds status`: rounds as a list, one as it stands, several compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from arena.cli.options import AsJson, only_with
from arena.cli.output import show_json, show_rows
from arena.cli.rounds.reports import show_status
from arena.container import open_arena
from data.records import Round


def status(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="ROUND…", show_default="all rounds, newest first", help="Rounds by name."),
    ] = None,
    *,
    compare: Annotated[
        bool, typer.Option("--compare", help="Compare how the rounds rank the systems.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the rounds, one with its state, counts and cost, or a comparison of several.

    $ arena rounds status demo

    The state includes its speed, the seconds left, and its job: place in the queue, workers and last error;
    and how the systems stand, while the round runs with intervals that hold however often one looks.

    With --compare: how alike the rounds of a set rank the systems on the
    battles that all of them decided (Kendall's tau, rank and rating correlations, with intervals by
    questions), who moves between them; of a single round the members of
    its panel. Systems in different versions are left out and named. No judge is asked.
    """
    rounds = names or []
    if not rounds:
        only_with("a round", {"--compare": compare})
        _show_list(as_json=as_json)
    elif compare:
        _show_comparison(rounds, as_json=as_json)
    elif len(rounds) > 1:
        raise typer.BadParameter("Several rounds need --compare.", param_hint="ROUND")
    else:
        show_status(open_arena(), rounds[0], as_json=as_json)


def _show_comparison(names: Sequence[str], *, as_json: bool) -> None:
    from arena.cli.battles.judge_tables import show_comparison

    comparison = open_arena().comparison.compare(names)
    if as_json:
        show_json(comparison.as_json())
    else:
        show_comparison(comparison)


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
