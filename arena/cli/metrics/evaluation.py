"""`arena metrics meta-evaluate` and `agreement`: metrics beside people's labels and each other."""

from __future__ import annotations

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
    SetName,
    constant,
    open_reaching,
)
from arena.cli.output import show_json
from arena.container import open_arena
from judges.metrics.registry import RetrieverKind


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
    retriever: Retriever = RetrieverKind.BM25,
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
    if any(name.startswith("factuality-") for name in names):
        show_json(service.evaluate_claims(file, requests))
        return
    if len(requests) > 1:
        raise typer.BadParameter("Only metrics of factuality are compared.", param_hint="--metric")
    show_json(service.meta_evaluate(file, requests[0], resamples=resamples, seed=seed))


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
