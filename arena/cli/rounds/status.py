"""`arena rounds status`: rounds as a list, one as it stands, several as a table or compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import AsJson, only_with, whole_if_named
from arena.cli.output import note, show_json, show_line, show_rows, show_table
from arena.cli.rounds.reports import show_status
from arena.container import open_arena
from arena.services.tables.kinds import TableFormat, TableKind
from data.records import Round

if TYPE_CHECKING:
    from arena.services.tables.model import RoundTable


def status(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="ROUND…", show_default="all rounds, newest first", help="Rounds by name."),
    ] = None,
    table: Annotated[
        TableKind | None,
        typer.Option(
            "--table",
            "--kind",
            show_default="the state",
            help="The table, with its number in the RAG-QA Arena paper: `set` (2), `win-rates` (3), `pairs` "
            "(4), `ratings` (5), `references` (6; by words), `judges` (8; a line for each round), "
            "`no-answer` (9), `passages` (10; model and passages from the system cards); of CRUX's "
            "`coverage` (2) and `correlations` (3); `attacks` (canaries by family).",
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels",
            metavar="FILE",
            help="Human labels, required for `judges` and possible for `pairs`; matched by question and "
            "answer texts, or by question, `system_a` and `system_b`.",
            callback=whole_if_named,
        ),
    ] = None,
    metric_judge: Annotated[
        str,
        typer.Option(
            "--metric-judge",
            metavar="JUDGE",
            show_default="the embedded version",
            help="Whose scores `coverage` and `correlations` show.",
        ),
    ] = "",
    form: Annotated[
        TableFormat,
        typer.Option(
            "--format",
            help="`markdown` and `latex` (booktabs) give shares in per cent, the best bold and the second "
            "best underlined, with the notes; `csv` is for machines.",
        ),
    ] = TableFormat.TEXT,
    *,
    compare: Annotated[
        bool, typer.Option("--compare", help="Compare how the rounds rank the systems.")
    ] = False,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Add 95 % intervals, by questions, of rates and coefficients.")
    ] = False,
    significance: Annotated[
        bool, typer.Option("--significance", help="Add marks of tests; a note says of which.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the rounds, one with its state, counts and cost, or a table or comparison of several.

    $ arena rounds status demo
    $ arena rounds status demo --table win-rates

    The state includes its speed, the seconds left, and its job: place in the queue, workers and last error;
    and how the systems stand, while the round runs with intervals that hold however often one looks.

    Tables are like those of the RAG-QA Arena paper. Several rounds stand side by side; in `judges` and
    `passages` one below the other. With --compare: how alike the rounds of a set rank the systems on the
    battles that all of them decided (Kendall's tau, rank and rating correlations, with intervals by
    questions), who moves between them, and ratings that know their judges; of a single round the members of
    its panel. Systems in different versions are left out and named. No judge is asked.
    """
    rounds = names or []
    of_tables = {
        "--labels": labels,
        "--metric-judge": metric_judge,
        "--intervals": intervals,
        "--significance": significance,
    }
    if table is None:
        only_with("--table", of_tables)
    if not rounds:
        only_with("a round", {"--table": table, "--compare": compare})
        _show_list(as_json=as_json)
    elif table is not None:
        only_with("the state of rounds", {"--compare": compare})
        # Brings arrays along, which a list does without.
        from arena.services.tables.model import Shown

        shown = Shown(intervals=intervals, marks=significance)
        content = open_arena().tables.table(rounds, table, labels, shown=shown, metric_judge=metric_judge)
        _show_table(content, form, as_json=as_json)
    elif compare:
        _show_comparison(rounds, as_json=as_json)
    elif len(rounds) > 1:
        raise typer.BadParameter("Several rounds stand in a table or a comparison.", param_hint="ROUND")
    else:
        show_status(open_arena(), rounds[0], as_json=as_json)


def _show_table(round_table: RoundTable, form: TableFormat, *, as_json: bool) -> None:
    from leaderboard.export.paper import Printed, printed

    if as_json:
        show_json(round_table.to_json())
        return
    content = round_table.content
    if form is TableFormat.TEXT:
        show_table(content.keys, content.flat_rows())
    else:
        show_line(printed(content, Printed(form.value)).rstrip("\n"))
    if form in {TableFormat.TEXT, TableFormat.CSV}:
        for line in content.notes:
            note(line)


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
