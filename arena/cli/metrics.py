"""`arena metrics`: list, run, score."""

from __future__ import annotations

from typing import Annotated

import typer

from arena.bootstrap import open_arena
from arena.cli.options import AsJson, File, SetName
from arena.cli.output import note, show_fields, show_json, show_line, show_table

commands = typer.Typer(help="Metrics: bounded scores of answers.", no_args_is_help=True)
MetricName = Annotated[str, typer.Option("--metric", help="Name of the metric.")]


@commands.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List the metrics that this installation can run."""
    from dataclasses import asdict

    found = open_arena().metrics.known()
    if as_json:
        show_json([asdict(info) for info in found])
    else:
        rows = [(info.name, info.title, info.needs, "yes" if info.embedded else "no") for info in found]
        show_table(("metric", "what", "needs", "without an LLM"), rows)


@commands.command()
def run(
    set_name: SetName,
    metric: MetricName,
    systems: Annotated[str | None, typer.Option("--systems", help="Systems, with commas between.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Score the answers of a set that have no score yet."""
    names = tuple(name.strip() for name in (systems or "").split(",") if name.strip())
    done = open_arena().metrics.run(
        set_name, metric, systems=names, report=lambda made, total: note(f"{made:,} of {total:,} answers")
    )
    fields = {outcome.value: count for outcome, count in sorted(done.outcomes.items())}
    if as_json:
        show_json({"metric": done.metric, "judge": done.judge, **fields})
    else:
        show_fields({"metric": done.metric, "judge": done.judge or "embedded", **fields})


@commands.command()
def score(file: File, metric: MetricName) -> None:
    """Score the lines of a JSONL file; one JSON object a line."""
    import json

    for line in open_arena().metrics.score_file(file, metric):
        show_line(json.dumps(line, ensure_ascii=False, allow_nan=False))
