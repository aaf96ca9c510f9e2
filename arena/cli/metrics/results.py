"""`arena metrics show`: stored scores as tables and files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.metrics.requests import MetricName
from arena.cli.options import AsJson, SetName, Systems
from arena.cli.output import note, show_json, show_result, show_table
from arena.container import open_arena

if TYPE_CHECKING:
    from arena.services.metrics.results import ScoreRequest, ScoreTable, Spread

StoredJudge = Annotated[
    str,
    typer.Option(
        "--judge",
        metavar="JUDGE",
        show_default="the embedded version, else the only one",
        help="Whose scores: a judge's name, or the whole name they are stored under; `embedded`.",
    ),
]
ByText = Annotated[str, typer.Option("--by", metavar="system|domain|question", help="What a row stands for.")]


def show(
    set_name: SetName,
    metric: MetricName,
    by: ByText = "system",
    judge: StoredJudge = "",
    systems: Systems = None,
    destination: Annotated[
        Path | None,
        typer.Argument(
            metavar="DEST",
            show_default="shown",
            help="File for a row an answer: `*.csv`, `*.json`, `*.parquet` or `*.trec`.",
        ),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Show stored scores: means ± standard deviations over answers, as the metric's paper reports them.

    $ arena metrics show --set demo --metric comprehensiveness-nli

    The last line is over all answers. Beside the score stands its 95 % interval, over questions.

    With DEST they are written, a row an answer, with every measure and the posteriors of claims. JSON also
    has the details of each score. `*.trec` has the lines that `trec_eval -q` prints, one file a system.
    """
    if destination is not None:
        _export(destination, _request(set_name, metric, judge, systems), as_json=as_json)
        return
    from arena.services.metrics.results import By

    if by not in list(By):
        raise typer.BadParameter(f"{by!r} is none of {', '.join(By)}.", param_hint="--by")
    table = open_arena().score_tables.table(_request(set_name, metric, judge, systems), By(by))
    if as_json:
        show_json(table.shown().to_json())
        return
    show_table(*_cells(table))
    note(f"{metric} of {set_name} by {table.judge}; ± is the standard deviation over answers.")
    if table.k is not None:
        note(f"K = {table.k:g}, the median number of claims of these answers.")
    for sentence in table.notes:
        note(sentence)
    if table.untried:
        note(f"{table.untried:,} answers were never scored; `arena metrics run` scores them.")


def _export(destination: Path, request: ScoreRequest, *, as_json: bool) -> None:
    answers, files = open_arena().score_tables.export(request, destination)
    fields = {"answers": answers, "files": [str(path) for path in files]}
    show_result(fields, f"{answers:,} answers in {', '.join(map(str, files))}", as_json=as_json)


def _request(set_name: str, metric: str, judge: str, systems: str | None) -> ScoreRequest:
    from arena.services.metrics.results import ScoreRequest

    names = tuple(name.strip() for name in (systems or "").split(",") if name.strip())
    return ScoreRequest(set_name=set_name, metric=metric, judge=judge, systems=names)


def _cells(table: ScoreTable) -> tuple[list[str], list[list[str | int | None]]]:
    headers = [table.by.value, "answers", "unscored"]
    headers += [
        table.measures[0].symbol,
        "95 % interval",
        *(measure.symbol for measure in table.measures[1:]),
    ]
    rows: list[list[str | int | None]] = []
    for row in table.rows:
        score, *more = (row.values[measure.name] for measure in table.measures)
        interval = None if score.lower is None else f"{score.lower:.3f} to {score.upper:.3f}"
        unscored = sum(row.unscored.values())
        rows.append([row.name, row.answers, unscored, _plus_minus(score), interval, *map(_plus_minus, more)])
    return headers, rows


def _plus_minus(spread: Spread) -> str | None:
    if spread.mean is None:
        return None
    return f"{spread.mean:.3f}" if spread.sd is None else f"{spread.mean:.3f} ± {spread.sd:.3f}"
