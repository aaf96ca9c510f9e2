"""`arena metrics`: list, run, score, and the metrics over files of their own."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.bootstrap import open_arena
from arena.cli.grouped import always_json
from arena.cli.options import AsJson, File, Seed, SetName, constant
from arena.cli.output import note, show_fields, show_json, show_line, show_table
from arena.cli.reaching import Cache, open_reaching

if TYPE_CHECKING:
    from arena.services.metric_access import MetricRequest


class FactorWord(StrEnum):
    """Factor tables on the command line."""

    TABLE1 = "table1"
    REFERENCE_CODE = "reference-code"


class RetrieverWord(StrEnum):
    """Retrievers on the command line."""

    BM25 = "bm25"
    DENSE = "dense"
    WEB = "web"


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
Corpus = Annotated[
    str, typer.Option("--corpus", help="Corpus in which claims are grounded; none: each item's passages.")
]
Retriever = Annotated[
    RetrieverWord,
    typer.Option("--retriever", help="How evidence is found: words or vectors of a corpus, or the web."),
]
Judgments = Annotated[
    Path | None,
    typer.Option("--judgments", help="Judgments on passages by aspect, for coverage-icat-m: qrels or JSONL."),
]
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
    corpus: Corpus = "",
    retriever: Retriever = RetrieverWord.BM25,
    judgments: Judgments = None,
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
        _request(metric, judge, option, budget_usd, concurrency, corpus, retriever, judgments),
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
@always_json
def score(
    file: File,
    metric: MetricName,
    judge: Judge = "",
    corpus: Corpus = "",
    retriever: Retriever = RetrieverWord.BM25,
    judgments: Judgments = None,
    option: Options = None,
    budget_usd: Budget = None,
    concurrency: Concurrency = None,
) -> None:
    """Score the lines of a JSONL file; one JSON object a line."""
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
@always_json
def coverage(file: File) -> None:
    """Print what the answer of a fact graph covers, what it misses, and the basis."""
    from arena.services.metric_files import coverage_of

    show_json(coverage_of(file))


@commands.command()
@always_json
def context(file: File) -> None:
    """Print how well a context answers sub-questions, from ratings of its passages."""
    from arena.services.metric_files import context_of

    show_json(context_of(file))


@commands.command("meta-evaluate")
@always_json
def meta_evaluate(
    file: File,
    metric: Annotated[
        list[str] | None, typer.Option("--metric", help="Name of the metric; factuality takes several.")
    ] = None,
    judge: Judge = "",
    option: Options = None,
    budget_usd: Budget = None,
    concurrency: Concurrency = None,
    resamples: Annotated[int, typer.Option("--resamples", min=2, help="Of the BCa intervals.")] = 10_000,
    seed: Seed = 0,
) -> None:
    """Hold a metric against labels: WikiContradict's, ConflictBank's, or those of claims (factuality)."""
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
        str, typer.Option("--metric", help="Coverage metric that labels are held against.")
    ] = "coverage-icat-s",
    labels: Annotated[
        Path | None, typer.Option("--labels", help="People's labels of aspects: JSONL, a line each.")
    ] = None,
    writer: Annotated[
        str, typer.Option("--writer", help="LLM that answers without and with the best context.")
    ] = "",
    option: Options = None,
    budget_usd: Budget = None,
    resamples: Annotated[int, typer.Option("--resamples", min=2, help="Of the intervals.")] = 1_000,
    seed: Seed = 0,
    cache_mode: Cache = None,
) -> None:
    """Hold kept scores against each other, against people's labels, and against the bounds of a set."""
    from arena.services.metric_agreement import AgreementRequest

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
    retriever: RetrieverWord = RetrieverWord.BM25,
    judgments: Path | None = None,
) -> MetricRequest:
    from arena.services.corpora import RetrieverKind, SearchRequest
    from arena.services.metric_access import CONCURRENCY, MetricRequest

    return MetricRequest(
        metric=metric,
        judge=judge,
        options=dict(map(constant, options or ())),
        budget_usd=budget_usd,
        concurrency=concurrency or CONCURRENCY,
        search=SearchRequest(corpus=corpus, retriever=RetrieverKind(retriever.value)),
        judgments=judgments,
    )
