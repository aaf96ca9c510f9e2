"""`arena metrics`: plan, run and show scores of answers, and analyse files."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli import options
from arena.cli.output import note, show_fields, show_json, show_line, show_result, show_rows, show_table
from arena.container import open_arena
from arena.formats import or_dash
from judges.metrics.factuality.graph import FactorTables, Inference
from judges.metrics.registry import added_metrics
from judges.metrics.registry import metrics as known_metrics
from judges.retrieval import BM25

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arena.models.results import ScoreTable
    from arena.services.metrics.factory import MetricRequest
    from arena.services.metrics.results import ScoreRequest

commands = typer.Typer(
    help="Metrics: bounded scores of single answers.",
    epilog="Also: `export` for scores; `marginals`, `coverage` and `context` for files.",
    no_args_is_help=True,
)


@commands.command("list")
def list_(*, as_json: options.AsJson = False) -> None:
    """List the metrics that this installation can run.

    $ arena metrics list
    """
    known = [info.as_json() for info in known_metrics()]
    rows = [
        (metric["name"], metric["title"], metric["needs"], "yes" if metric["embedded"] else "no")
        for metric in known
    ]
    headers = ("metric", "what", "needs", "without an LLM")
    show_rows(known, headers, rows, as_json=as_json)
    note(*(f"warning: {problem}" for problem in added_metrics().problems))


@commands.command()
def plan(
    sets: Annotated[list[str], typer.Option("--set", metavar="SET", help="Question set; repeatable.")],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC",
            show_default="all metrics that need no human judgments",
            help="Name of the metric; repeatable.",
        ),
    ] = None,
    judge: options.MetricJudge = "",
    corpus: options.Corpus = "",
    retriever: options.Retriever = BM25,
    judgments: options.Judgments = None,
    ratings: options.SetRatings = None,
    systems: options.Systems = None,
    option: options.Constants = None,
    claims: Annotated[
        int,
        typer.Option(
            "--claims-per-sentence", metavar="N", min=1, max=20, help="Assumed number of claims per sentence."
        ),
    ] = 2,
    *,
    as_json: options.AsJson = False,
) -> None:
    """Estimate the requests, tokens and cost of scoring a set, by metric; no LLM is called.

    $ arena metrics plan --set demo --judge JUDGE
    """
    chosen = metric or [
        info.name for info in known_metrics() if not info.takes_judgments and (info.embedded or judge)
    ]
    service = open_arena().metric_plans
    plans = [
        service.plan(
            name,
            _request(metric_name, judge, option, None, None, corpus, retriever, judgments, ratings, name),
            systems=options.names_of(systems),
            claims_per_sentence=claims,
        )
        for name in sets
        for metric_name in chosen
    ]
    show_rows(
        [planned.as_json() for planned in plans],
        ("set", "metric", "pending", "requests", "tokens in", "tokens out", "USD", "maximum USD"),
        [
            (
                planned.set,
                planned.metric,
                planned.pending,
                planned.requests,
                planned.input_tokens,
                planned.output_tokens,
                or_dash(planned.cost_usd, ",.2f"),
                or_dash(planned.cost_usd_most, ",.2f"),
            )
            for planned in plans
        ],
        as_json=as_json,
    )
    note(*(f"warning: {warning}" for planned in plans for warning in planned.warnings))


@commands.command()
def run(
    set_name: options.SetName,
    metric: options.MetricName,
    judge: options.MetricJudge = "",
    corpus: options.Corpus = "",
    retriever: options.Retriever = BM25,
    judgments: options.Judgments = None,
    ratings: options.SetRatings = None,
    systems: options.Systems = None,
    option: options.Constants = None,
    budget_usd: options.Budget = None,
    concurrency: options.MetricConcurrency = None,
    cache_mode: options.Cache = None,
    *,
    as_json: options.AsJson = False,
) -> None:
    """Score the answers of a set that have no score yet.

    $ arena metrics run --set demo --metric comprehensiveness-nli

    After Ctrl-C, the same command continues with the remaining answers.
    """
    request = _request(
        metric, judge, option, budget_usd, concurrency, corpus, retriever, judgments, ratings, set_name
    )
    arena = options.open_with_cache(cache_mode)
    if judge:
        # Show the estimate before spending.
        planned = arena.metric_plans.plan(set_name, request, systems=options.names_of(systems))
        note(planned.sentence, *(f"warning: {warning}" for warning in planned.warnings))
    done = arena.metrics.run(set_name, request, systems=options.names_of(systems))
    fields = done.as_json()
    if as_json:
        show_json(fields)
    else:
        reasons, notes = fields.pop("reasons"), fields.pop("notes")
        show_fields(fields)
        show_line(*(f"unscored: {count:,} × {reason}" for reason, count in reasons.items()))
        show_line(*(f"scored: {count:,} × {about}" for about, count in notes.items()))
    if done.pending:
        note(f"{done.pending:,} answers are left; run the same command again to score them.")


@commands.command()
def score(
    file: options.File,
    metric: options.MetricName,
    judge: options.MetricJudge = "",
    corpus: options.Corpus = "",
    retriever: options.Retriever = BM25,
    judgments: options.Judgments = None,
    option: options.Constants = None,
    budget_usd: options.Budget = None,
    concurrency: options.MetricConcurrency = None,
    *,
    as_json: options.AlwaysJson = False,
) -> None:
    """Score each line of a JSONL file, printing one JSON object per line.

    $ arena metrics score answers.jsonl --metric comprehensiveness-nli
    """
    del as_json
    open_arena().metrics.score_file(
        file,
        _request(metric, judge, option, budget_usd, concurrency, corpus, retriever, judgments),
        lambda line: show_line(json.dumps(line, ensure_ascii=False, allow_nan=False)),
    )


@commands.command()
def show(
    set_name: options.SetName,
    metric: options.MetricName,
    by: Annotated[
        str, typer.Option(metavar="system|domain|question", help="Grouping of the rows.")
    ] = "system",
    judge: options.StoredJudge = "",
    systems: options.Systems = None,
    *,
    as_json: options.AsJson = False,
) -> None:
    """Show stored scores: means ± standard deviations over answers, as the metric's paper reports them.

    $ arena metrics show --set demo --metric comprehensiveness-nli

    The last line covers all answers. The 95 % interval is over questions.
    """
    from arena.services.metrics.results import By

    if by not in list(By):
        raise typer.BadParameter(f"{by!r} is not one of {', '.join(By)}.", param_hint="--by")
    table = open_arena().score_tables.table(_stored(set_name, metric, judge, systems), By(by))
    if as_json:
        show_json(table.to_json())
        return
    show_table(*_cells(table))
    note(f"{metric} of {set_name} by {table.judge}; ± is the standard deviation over answers.")
    if table.k is not None:
        note(f"K = {table.k:g}, the median number of claims of these answers.")
    note(*table.notes)
    if table.untried:
        note(f"{table.untried:,} answers were never scored; `arena metrics run` scores them.")


@commands.command(hidden=True)
def export(
    destination: Annotated[
        Path, typer.Argument(metavar="DEST", help="Output file: `*.csv`, `*.json`, `*.parquet` or `*.trec`.")
    ],
    set_name: options.SetName,
    metric: options.MetricName,
    judge: options.StoredJudge = "",
    systems: options.Systems = None,
    *,
    as_json: options.AsJson = False,
) -> None:
    """Write stored scores, one row per answer, with every measure and the posteriors of claims.

    $ arena metrics export scores.csv --set demo --metric comprehensiveness-nli

    JSON also has the details of each score. `*.trec` has the lines that `trec_eval -q` prints, in one file
    per system.
    """
    request = _stored(set_name, metric, judge, systems)
    answers, files = open_arena().score_tables.export(request, destination)
    fields = {"answers": answers, "files": [str(path) for path in files]}
    show_result(fields, f"{answers:,} answers in {', '.join(map(str, files))}", as_json=as_json)


@commands.command(hidden=True)
def marginals(
    file: options.File,
    factors: Annotated[
        FactorTables,
        typer.Option(help="Factor tables of the paper (`table1`) or its code (`reference-code`)."),
    ] = FactorTables.TABLE1,
    inference: Annotated[
        Inference,
        typer.Option(
            help="Exact inference, weighted mini-buckets (`wmb`), or exact if small enough (`auto`)."
        ),
    ] = Inference.AUTO,
    *,
    as_json: options.AlwaysJson = False,
) -> None:
    """Print the posterior probability of each claim and context of a fact graph, as JSON.

    $ arena metrics marginals graph.json
    """
    from arena.services.metrics.service import marginals_of

    del as_json
    show_json(marginals_of(file, factors=factors, inference=inference))


@commands.command(hidden=True)
def coverage(file: options.File, *, as_json: options.AlwaysJson = False) -> None:
    """Print which claims of a fact graph its answer covers and misses, and the basis, as JSON.

    $ arena metrics coverage graph.json
    """
    from arena.services.metrics.service import coverage_of

    del as_json
    show_json(coverage_of(file))


@commands.command(hidden=True)
def context(file: options.File, *, as_json: options.AlwaysJson = False) -> None:
    """Print how well a context answers sub-questions, from ratings of its passages, as JSON.

    $ arena metrics context ratings.json
    """
    from arena.services.metrics.service import context_of

    del as_json
    show_json(context_of(file))


def _request(
    metric: str,
    judge: str,
    constants: list[str] | None,
    budget_usd: float | None,
    concurrency: int | None,
    corpus: str,
    retriever: str,
    judgments: Path | None,
    ratings: Path | None = None,
    set_name: str = "",
) -> "MetricRequest":
    from arena.services.metrics.factory import CONCURRENCY, MetricRequest
    from arena.services.retrieval import SearchRequest

    return MetricRequest(
        metric=metric,
        judge=judge,
        options=dict(map(options.constant, constants or ())),
        budget_usd=budget_usd,
        concurrency=concurrency or CONCURRENCY,
        search=SearchRequest(corpus=corpus, retriever=retriever),
        judgments=judgments,
        ratings=None if ratings is None else (set_name, ratings),
    )


def _stored(set_name: str, metric: str, judge: str, systems: str | None) -> "ScoreRequest":
    from arena.services.metrics.results import ScoreRequest

    return ScoreRequest(set_name=set_name, metric=metric, judge=judge, systems=options.names_of(systems))


def _cells(table: "ScoreTable") -> tuple[list[str], list[list[str | int | None]]]:
    first, *rest = table.measures.values()
    headers = [table.by, "answers", "unscored", first, "95 % interval", *rest]
    rows: list[list[str | int | None]] = []
    for row in table.rows:
        score, *more = (row[measure] for measure in table.measures)
        interval = None if score["lower"] is None else f"{score['lower']:.3f} to {score['upper']:.3f}"
        counts = [row[table.by], row["answers"], sum(row["unscored"].values())]
        rows.append([*counts, _plus_minus(score), interval, *map(_plus_minus, more)])
    return headers, rows


def _plus_minus(spread: "Mapping[str, float | None]") -> str | None:
    mean, sd = spread["mean"], spread["sd"]
    if mean is None:
        return None
    return f"{mean:.3f}" if sd is None else f"{mean:.3f} ± {sd:.3f}"
