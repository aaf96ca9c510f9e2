"""`arena metrics`: list, run, score, and the metrics over files of their own."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from arena.bootstrap import open_arena
from arena.cli.options import AsJson, File, Seed, SetName
from arena.cli.output import note, show_fields, show_json, show_line, show_table


class FactorWord(StrEnum):
    """Factor tables on the command line."""

    TABLE1 = "table1"
    REFERENCE_CODE = "reference-code"


class InferenceWord(StrEnum):
    """Inference methods on the command line."""

    AUTO = "auto"
    EXACT = "exact"
    WMB = "wmb"


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


@commands.command()
def marginals(
    file: File,
    factors: Annotated[FactorWord, typer.Option("--factors", help="Factor tables.")] = FactorWord.TABLE1,
    inference: Annotated[InferenceWord, typer.Option("--inference", help="How.")] = InferenceWord.AUTO,
    seed: Seed = 0,
) -> None:
    """Print the posterior of every claim and context of a fact graph."""
    from arena.services.metric_files import marginals_of
    from judges.factuality.inference import Inference
    from judges.factuality.network import FactorTables

    tables, method = FactorTables(factors.value), Inference(inference.value)
    show_json(marginals_of(file, factors=tables, inference=method, seed=seed))


@commands.command()
def coverage(file: File) -> None:
    """Print what the answer of a fact graph covers, what it misses, and the basis."""
    from arena.services.metric_files import coverage_of

    show_json(coverage_of(file))


@commands.command()
def context(file: File) -> None:
    """Print how well a context answers sub-questions, from ratings of its passages."""
    from arena.services.metric_files import context_of

    show_json(context_of(file))


@commands.command("meta-evaluate")
def meta_evaluate(
    file: File,
    metric: MetricName = "comprehensiveness-nli",
    resamples: Annotated[int, typer.Option("--resamples", min=2, help="Of the BCa intervals.")] = 10_000,
    seed: Seed = 0,
) -> None:
    """Hold a metric against the labels of a WikiContradict or ConflictBank file."""
    from arena.services.metric_files import meta_evaluation_of
    from judges.metrics import build_metric

    show_json(meta_evaluation_of(file, build_metric(metric), resamples=resamples, seed=seed))
