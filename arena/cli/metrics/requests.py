"""Options that several commands of metrics share, and the request that they make."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import constant, whole_if_named
from judges.retrieval import BM25

if TYPE_CHECKING:
    from arena.services.metrics.factory import MetricRequest

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

SetRatings = Annotated[
    Path | None,
    typer.Option(
        "--ratings",
        metavar="FILE",
        show_default="every passage is rated",
        help="Ratings of the set's passages (`ratings.jsonl` of `arena sets build`, or of CRUX), for "
        "`context-crux` and `answer-crux`: only other passages are rated.",
        callback=whole_if_named,
    ),
]


def metric_request(
    metric: str,
    judge: str,
    options: list[str] | None,
    budget_usd: float | None,
    concurrency: int | None,
    corpus: str = "",
    retriever: str = BM25,
    judgments: Path | None = None,
    ratings: tuple[str, Path] | None = None,
) -> MetricRequest:
    """Build the request for the service of metrics."""
    from arena.services.metrics.factory import CONCURRENCY, MetricRequest
    from arena.services.retrieval import SearchRequest

    return MetricRequest(
        metric=metric,
        judge=judge,
        options=dict(map(constant, options or ())),
        budget_usd=budget_usd,
        concurrency=concurrency or CONCURRENCY,
        search=SearchRequest(corpus=corpus, retriever=retriever),
        judgments=judgments,
        ratings=ratings,
    )
