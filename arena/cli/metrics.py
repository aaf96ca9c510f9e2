"""`arena metrics`: list, run, score, and the metrics over files of their own."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.bootstrap import open_arena
from arena.cli.options import AsJson, File, Seed, SetName
from arena.cli.output import note, show_fields, show_json, show_line, show_table
from arena.cli.reaching import Cache, open_reaching

if TYPE_CHECKING:
    from arena.services.metric_access import MetricRequest


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
Judge = Annotated[
    str,
    typer.Option("--judge", help="Judge whose LLM is asked, by name or path; none: the embedded version."),
]
Options = Annotated[
    list[str] | None, typer.Option("--option", help="A constant of the metric as NAME=VALUE; repeatable.")
]
Budget = Annotated[float | None, typer.Option("--budget-usd", min=0.0, help="Most that this run may spend.")]
Concurrency = Annotated[
    int | None, typer.Option("--concurrency", min=1, max=20_000, help="Answers in flight at most (16).")
]


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
    judge: Judge = "",
    systems: Annotated[str | None, typer.Option("--systems", help="Systems, with commas between.")] = None,
    option: Options = None,
    budget_usd: Budget = None,
    concurrency: Concurrency = None,
    cache_mode: Cache = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Score the answers of a set that have no score yet. Ctrl-C keeps what is done; run it again to go on."""
    names = tuple(name.strip() for name in (systems or "").split(",") if name.strip())
    done = open_reaching(cache_mode).metrics.run(
        set_name,
        _request(metric, judge, option, budget_usd, concurrency),
        systems=names,
        report=lambda made, total: note(f"{made:,} of {total:,} answers"),
    )
    fields = done.as_json()
    if as_json:
        show_json(fields)
    else:
        reasons = fields.pop("reasons")
        show_fields(fields)
        for reason, count in reasons.items():
            show_line(f"unscored: {count:,} × {reason}")
    if done.pending:
        note(f"{done.pending:,} answers are left; the same command goes on with them.")


@commands.command()
def score(
    file: File,
    metric: MetricName,
    judge: Judge = "",
    option: Options = None,
    budget_usd: Budget = None,
    concurrency: Concurrency = None,
) -> None:
    """Score the lines of a JSONL file; one JSON object a line."""
    import json

    open_arena().metrics.score_file(
        file,
        _request(metric, judge, option, budget_usd, concurrency),
        lambda line: show_line(json.dumps(line, ensure_ascii=False, allow_nan=False)),
    )


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
    judge: Judge = "",
    option: Options = None,
    budget_usd: Budget = None,
    concurrency: Concurrency = None,
    resamples: Annotated[int, typer.Option("--resamples", min=2, help="Of the BCa intervals.")] = 10_000,
    seed: Seed = 0,
) -> None:
    """Hold a metric against the labels of a WikiContradict or ConflictBank file."""
    request = _request(metric, judge, option, budget_usd, concurrency)
    show_json(open_arena().metrics.meta_evaluate(file, request, resamples=resamples, seed=seed))


def _request(
    metric: str, judge: str, options: list[str] | None, budget_usd: float | None, concurrency: int | None
) -> MetricRequest:
    from arena.services.metric_access import CONCURRENCY, MetricRequest

    return MetricRequest(
        metric=metric,
        judge=judge,
        options=dict(map(_option, options or ())),
        budget_usd=budget_usd,
        concurrency=concurrency or CONCURRENCY,
    )


def _option(text: str) -> tuple[str, Any]:
    """NAME=VALUE; the value is JSON where it can be read as such, else text."""
    import json

    name, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE.", param_hint="--option")
    try:
        return name.strip(), json.loads(value)
    except ValueError:
        return name.strip(), value
