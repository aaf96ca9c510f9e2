"""`arena metrics`: list, run, score, and the metrics over files of their own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import (
    AsJson,
    Budget,
    Cache,
    Constants,
    Corpus,
    File,
    Judgments,
    Retriever,
    Seed,
    SetName,
    Systems,
    always_json,
    constant,
    open_reaching,
)
from arena.cli.output import note, show_fields, show_json, show_line, show_rows
from arena.container import open_arena
from judges.metrics.factuality.vocabulary import FactorTables, Inference
from judges.metrics.registry import RetrieverKind

if TYPE_CHECKING:
    from arena.services.metrics.factory import MetricRequest
    from arena.services.metrics.sampled import SampledMetricRun


commands = typer.Typer(help="Metrics: bounded scores of single answers.", no_args_is_help=True)
MetricName = Annotated[str, typer.Option("--metric", metavar="METRIC", help="Name of the metric.")]
Judge = Annotated[
    str,
    typer.Option(
        "--judge",
        metavar="JUDGE",
        show_default="the embedded version, without an LLM",
        help="Judge whose LLM scores, by name or path.",
    ),
]
Concurrency = Annotated[
    int | None,
    typer.Option(
        "--concurrency",
        metavar="C",
        min=1,
        max=20_000,
        show_default="16",
        help="Most answers in flight, with an LLM.",
    ),
]
CheapMetric = Annotated[
    str,
    typer.Option(
        "--cheap-metric",
        metavar="METRIC",
        show_default="none, and the LLM scores all",
        help="Metric whose embedded version scores all answers, while the LLM scores a sample.",
    ),
]
Spend = Annotated[
    str,
    typer.Option(
        "--spend", metavar="N|P%", help="Answers that the LLM scores with `--cheap-metric`: `200`, or `10%`."
    ),
]


@commands.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List the metrics that this installation can run."""
    from dataclasses import asdict

    metrics = open_arena().metrics.known()
    rows = [(info.name, info.title, info.needs, "yes" if info.embedded else "no") for info in metrics]
    headers = ("metric", "what", "needs", "without an LLM")
    show_rows([asdict(info) for info in metrics], headers, rows, as_json=as_json)


@commands.command()
def run(
    set_name: SetName,
    metric: MetricName,
    judge: Judge = "",
    corpus: Corpus = "",
    retriever: Retriever = RetrieverKind.BM25,
    judgments: Judgments = None,
    systems: Systems = None,
    option: Constants = None,
    budget_usd: Budget = None,
    concurrency: Concurrency = None,
    cache_mode: Cache = None,
    cheap_metric: CheapMetric = "",
    spend: Spend = "10%",
    seed: Seed = 0,
    *,
    as_json: AsJson = False,
) -> None:
    """Score the answers of a set that have no score yet.

    After Ctrl-C, the same command continues with the remaining answers. With `--cheap-metric` the LLM
    scores a sample, the cheap metric all answers, and each system's mean is estimated with its 95 % interval.
    """
    names = tuple(name.strip() for name in (systems or "").split(",") if name.strip())
    request = _request(metric, judge, option, budget_usd, concurrency, corpus, retriever, judgments)
    metrics = open_reaching(cache_mode).metrics
    if cheap_metric:
        from arena.services.metrics.sampled import MetricSampling

        sampling = MetricSampling(cheap_metric=cheap_metric, spend=spend, seed=seed)
        _show_sampled(metrics.run_sampled(set_name, request, sampling, systems=names), as_json=as_json)
        return
    done = metrics.run(set_name, request, systems=names)
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


def _show_sampled(done: SampledMetricRun, *, as_json: bool) -> None:
    if as_json:
        show_json(done.as_json())
        return
    show_fields({name: value for name, value in done.expensive.as_json().items() if name != "reasons"})
    if done.estimates is None:
        note(f"No estimate: {done.missing}")
        return
    rows = [
        (
            f"{mean.system} - {mean.against}" if mean.against else mean.system,
            f"{mean.mean:.3f}",
            f"{mean.interval.lower:.3f} to {mean.interval.upper:.3f}",
            f"{mean.gain:.2f} ({mean.gain_interval.lower:.2f} to {mean.gain_interval.upper:.2f})",
        )
        for mean in (*done.estimates.means, *done.estimates.differences)
    ]
    show_rows([], ("estimate", "mean", "95 % interval", "gain"), rows, as_json=False)
    note(
        f"{done.estimates.scored:,} of {done.answers:,} answers scored by {done.expensive.judge}, "
        "the others estimated."
    )
    if done.useless:
        note("The cheap metric gains less than 1.05: a plain sample does as well.")


@commands.command()
def show(
    set_name: SetName,
    metric: Annotated[
        str, typer.Option("--metric", metavar="METRIC", show_default="all", help="Name of one metric.")
    ] = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Show the mean scores of a set's newest submissions, by metric and judge.

    Where an LLM scored a sample (`--cheap-metric`), the mean is an estimate for all answers.
    """
    means = open_arena().metrics.means(set_name, metric)
    rows = [
        (
            mean.metric,
            mean.judge or "embedded",
            mean.system,
            None if mean.score.mean is None else f"{mean.score.mean:.3f}",
            None
            if mean.score.interval is None
            else f"{mean.score.interval.lower:.3f} to {mean.score.interval.upper:.3f}",
            f"{mean.score.answers:,} of {mean.submitted:,}",
            "" if mean.score.sampled is None else str(mean.score.sampled),
        )
        for mean in means
    ]
    headers = ("metric", "judge", "system", "mean", "95 % interval", "scored", "the others")
    show_rows([mean.as_json() for mean in means], headers, rows, as_json=as_json)


@commands.command()
@always_json
def score(
    file: File,
    metric: MetricName,
    judge: Judge = "",
    corpus: Corpus = "",
    retriever: Retriever = RetrieverKind.BM25,
    judgments: Judgments = None,
    option: Constants = None,
    budget_usd: Budget = None,
    concurrency: Concurrency = None,
) -> None:
    """Score each line of a JSONL file, printing one JSON object a line."""
    import json

    open_arena().metrics.score_file(
        file,
        _request(metric, judge, option, budget_usd, concurrency, corpus, retriever, judgments),
        lambda line: show_line(json.dumps(line, ensure_ascii=False, allow_nan=False)),
    )


@commands.command()
@always_json
def marginals(
    file: File,
    factors: Annotated[
        FactorTables,
        typer.Option(
            "--factors", help="Factor tables: those of the paper (`table1`), or of its published code."
        ),
    ] = FactorTables.TABLE1,
    inference: Annotated[
        Inference,
        typer.Option(
            "--inference", help="Exact, by weighted mini-buckets (`wmb`), or exact where it fits (`auto`)."
        ),
    ] = Inference.AUTO,
    seed: Seed = 0,
) -> None:
    """Print the posterior probability of each claim and context of a fact graph."""
    from arena.services.metrics.files import marginals_of

    show_json(marginals_of(file, factors=factors, inference=inference, seed=seed))


@commands.command()
@always_json
def coverage(file: File) -> None:
    """Print which claims of a fact graph its answer covers and misses, and the basis."""
    from arena.services.metrics.files import coverage_of

    show_json(coverage_of(file))


@commands.command()
@always_json
def context(file: File) -> None:
    """Print how well a context answers sub-questions, from ratings of its passages."""
    from arena.services.metrics.files import context_of

    show_json(context_of(file))


@commands.command("meta-evaluate")
@always_json
def meta_evaluate(
    file: File,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="METRIC",
            show_default="comprehensiveness-nli",
            help="Name of the metric; repeatable for metrics of factuality.",
        ),
    ] = None,
    judge: Judge = "",
    option: Constants = None,
    budget_usd: Budget = None,
    concurrency: Concurrency = None,
    resamples: Annotated[
        int, typer.Option("--resamples", metavar="N", min=2, help="Resamples of the BCa intervals.")
    ] = 10_000,
    seed: Seed = 0,
) -> None:
    """Compare a metric with people's labels of answers or claims.

    FILE is JSON lines, a JSON list, or JSON lists by name. For comprehensiveness it has the labels of
    WikiContradict (its public file or that of its human evaluation) or ConflictBank. For factuality it is
    WikiContradict's file, FactReasoner's (`input`, `output`, `atoms`, `contexts`), or rows of `id`,
    `question`, `passages` and `claims` (`text`, and `label`: true or false, `supported`, `not supported` or
    `contradicted`, or `S`, `NS`, `C`).

    For each metric of factuality it prints precision by the metric and by the labels, MAE, F1, Brier score
    and calibration curve (null where the metric gives no probabilities); for each ordered pair of metrics
    the p-value of a paired one-sided t-test that the first has the smaller error.
    """
    names = metric or ["comprehensiveness-nli"]
    requests = [_request(name, judge, option, budget_usd, concurrency) for name in names]
    service = open_arena().metrics
    if any(name.startswith("factuality-") for name in names):
        show_json(service.evaluate_claims(file, requests))
        return
    if len(requests) > 1:
        raise typer.BadParameter("Only metrics of factuality are compared.", param_hint="--metric")
    show_json(service.meta_evaluate(file, requests[0], resamples=resamples, seed=seed))


@commands.command()
@always_json
def agreement(
    set_name: SetName,
    judge: Judge = "",
    metric: Annotated[
        str, typer.Option("--metric", metavar="METRIC", help="Coverage metric that is compared with labels.")
    ] = "coverage-icat-s",
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels",
            metavar="FILE",
            help="People's labels: JSONL with `question_id`, `system`, `aspect`, `covered` (true or false), "
            "and `annotator` where there are several.",
        ),
    ] = None,
    writer: Annotated[
        str,
        typer.Option(
            "--writer",
            metavar="JUDGE",
            show_default="none, and these bounds have no answer score",
            help="Judge whose LLM answers without context and with the oracle context.",
        ),
    ] = "",
    option: Constants = None,
    budget_usd: Budget = None,
    resamples: Annotated[
        int, typer.Option("--resamples", metavar="N", min=2, help="Resamples of the intervals.")
    ] = 1_000,
    seed: Seed = 0,
    cache_mode: Cache = None,
) -> None:
    """Compare stored scores with each other, with people's labels, and with the bounds of a set.

    `systems` is the correlation of mean `context-crux` and `answer-crux` scores over systems (Kendall's tau,
    Spearman, Pearson, with intervals over questions); `bounds` the scores without context, from the oracle
    context, and of the oracle answer; `labels` the correlation of a coverage metric with people's labels of
    aspects. What is undefined is null, with its reason. Run `arena metrics run` first.
    """
    from arena.services.metrics.agreement import AgreementRequest

    request = AgreementRequest(
        set_name=set_name,
        judge=judge,
        metric=metric,
        labels=labels,
        writer=writer,
        options=dict(map(constant, option or ())),
        budget_usd=budget_usd,
        resamples=resamples,
        seed=seed,
    )
    show_json(open_reaching(cache_mode).agreement.measure(request))


def _request(
    metric: str,
    judge: str,
    options: list[str] | None,
    budget_usd: float | None,
    concurrency: int | None,
    corpus: str = "",
    retriever: RetrieverKind = RetrieverKind.BM25,
    judgments: Path | None = None,
) -> MetricRequest:
    from arena.services.metrics.factory import CONCURRENCY, MetricRequest
    from arena.services.retrieval.corpora import SearchRequest

    return MetricRequest(
        metric=metric,
        judge=judge,
        options=dict(map(constant, options or ())),
        budget_usd=budget_usd,
        concurrency=concurrency or CONCURRENCY,
        search=SearchRequest(corpus=corpus, retriever=retriever),
        judgments=judgments,
    )
