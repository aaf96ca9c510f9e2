"""`arena metrics meta-evaluate`, and `analyse`: metrics over files of their own, and their agreement."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from arena.cli.metrics.requests import Concurrency, Judge, metric_request
from arena.cli.options import (
    Budget,
    Cache,
    Constants,
    Corpus,
    File,
    Retriever,
    Seed,
    constant,
    open_reaching,
    whole_if_named,
)
from arena.cli.output import show_json
from arena.container import open_arena
from judges.metrics.factuality.vocabulary import FactorTables, Inference
from judges.metrics.registry import metric_info
from judges.retrieval.registry import BM25


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
    corpus: Corpus = "",
    retriever: Retriever = BM25,
    option: Constants = None,
    budget_usd: Budget = None,
    concurrency: Concurrency = None,
    resamples: Annotated[
        int, typer.Option("--resamples", metavar="N", min=2, help="Resamples of the BCa intervals.")
    ] = 10_000,
    seed: Seed = 0,
) -> None:
    """Compare a metric with people's labels of answers or claims.

    $ arena metrics meta-evaluate claims.jsonl --metric factuality-nli

    FILE is JSON lines, a JSON list, or JSON lists by name. For comprehensiveness it has the labels of
    WikiContradict (its public file or that of its human evaluation) or ConflictBank. For factuality it is
    one of these, FactReasoner's (`input`, `output`, `atoms`, `contexts`), FActScore's (`annotations`; it has
    no passages: name a `--corpus`), or rows of `id`, `question`, `passages` and `claims` (`text`, and
    `label`: true or false, `supported`, `not supported` or `contradicted`, `S`, `NS`, `C`; `IR` is left out).

    For each metric of factuality it prints precision by the metric and by the labels, MAE, F1, Brier score
    and calibration curve (null where the metric gives no probabilities), and means over answers with standard
    deviations (`per_answer`), F1@K among them; for each ordered pair of metrics the p-values of paired
    one-sided t-tests that the first has the greater precision and F1 and the smaller error; and what constant
    rules get (`constants`). For comprehensiveness `lmr_all` counts answers without a score as mismatches.
    """
    names = metric or ["comprehensiveness-nli"]
    requests = [
        metric_request(name, judge, option, budget_usd, concurrency, corpus, retriever) for name in names
    ]
    service = open_arena().metrics
    if any(metric_info(name).rates_claims for name in names):
        show_json(service.evaluate_claims(file, requests))
        return
    if len(requests) > 1:
        raise typer.BadParameter("Only metrics of factuality are compared.", param_hint="--metric")
    show_json(service.meta_evaluate(file, requests[0], resamples=resamples, seed=seed))


class Analysis(StrEnum):
    """What is analysed."""

    MARGINALS = "marginals"
    COVERAGE = "coverage"
    CONTEXT = "context"
    AGREEMENT = "agreement"


def analyse(
    kind: Annotated[
        Analysis,
        typer.Argument(
            metavar="KIND",
            help="`marginals`: the posterior probability of each claim and context of a fact graph. "
            "`coverage`: which claims of a fact graph its answer covers and misses, and the basis. "
            "`context`: how well a context answers sub-questions, from ratings of its passages. "
            "`agreement`: of stored scores with each other, with people's labels, and with the bounds of a "
            "set.",
        ),
    ],
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            show_default=False,
            help="The graph, or the ratings; of `agreement` people's labels, where there are some: JSONL "
            "with `question_id`, `system`, `aspect`, `covered` (true or false), and `annotator` where there "
            "are several.",
            callback=whole_if_named,
        ),
    ] = None,
    factors: Annotated[
        FactorTables,
        typer.Option(
            "--factors",
            help="Of marginals: factor tables of the paper (`table1`), or of its published code.",
        ),
    ] = FactorTables.TABLE1,
    inference: Annotated[
        Inference,
        typer.Option(
            "--inference",
            help="Of marginals: exact, by weighted mini-buckets (`wmb`), or exact where it fits (`auto`).",
        ),
    ] = Inference.AUTO,
    set_name: Annotated[
        str, typer.Option("--set", metavar="SET", help="Of agreement: name of the question set.")
    ] = "",
    judge: Judge = "",
    metric: Annotated[
        str,
        typer.Option(
            "--metric",
            metavar="METRIC",
            help="Of agreement: coverage metric that is compared with labels.",
        ),
    ] = "coverage-icat-s",
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels", metavar="FILE", help="Of agreement: the same as FILE.", callback=whole_if_named
        ),
    ] = None,
    writer: Annotated[
        str,
        typer.Option(
            "--writer",
            metavar="JUDGE",
            show_default="none, and these bounds have no answer score",
            help="Of agreement: judge whose LLM answers without context and with the oracle context.",
        ),
    ] = "",
    option: Constants = None,
    budget_usd: Budget = None,
    resamples: Annotated[
        int,
        typer.Option("--resamples", metavar="N", min=2, help="Of agreement: resamples of the intervals."),
    ] = 1_000,
    seed: Seed = 0,
    cache_mode: Cache = None,
) -> None:
    """Analyse a file of facts or ratings, or stored scores; the result is JSON.

    $ arena metrics analyse marginals graph.json
    $ arena metrics analyse agreement --set demo

    Of `agreement`, `systems` is the correlation of mean `context-crux` and `answer-crux` scores over systems
    (Kendall's tau, Spearman, Pearson, with intervals over questions); `bounds` the scores without context,
    from the oracle context, and of the oracle answer; `labels` the correlation of a coverage metric with
    people's labels of aspects. What is undefined is null, with its reason. Run `arena metrics run` first.
    """
    from arena.services.metrics.agreement import AgreementRequest
    from arena.services.metrics.files import context_of, coverage_of, marginals_of

    if kind is Analysis.AGREEMENT:
        if not set_name:
            raise typer.BadParameter("The agreement is of a set's scores.", param_hint="--set")
        request = AgreementRequest(
            set_name=set_name,
            judge=judge,
            metric=metric,
            labels=labels or file,
            writer=writer,
            options=dict(map(constant, option or ())),
            budget_usd=budget_usd,
            resamples=resamples,
            seed=seed,
        )
        show_json(open_reaching(cache_mode).agreement.measure(request))
        return
    if file is None:
        raise typer.BadParameter(f"{kind.capitalize()} is of a file.", param_hint="FILE")
    if kind is Analysis.MARGINALS:
        show_json(marginals_of(file, factors=factors, inference=inference, seed=seed))
    else:
        show_json(coverage_of(file) if kind is Analysis.COVERAGE else context_of(file))
