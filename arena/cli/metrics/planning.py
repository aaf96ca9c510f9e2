"""`arena metrics plan`: what scoring by an LLM will take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.metrics.requests import Judge, SetRatings, metric_request
from arena.cli.options import AsJson, Constants, Corpus, Judgments, Retriever, Systems
from arena.cli.output import note, show_rows
from arena.container import open_arena
from judges.metrics.registry import METRICS, RetrieverKind

if TYPE_CHECKING:
    from arena.services.metrics.planning import MetricPlan

CLAIMS = 2


def plan(
    sets: Annotated[list[str], typer.Option("--set", metavar="SET", help="Question set; repeatable.")],
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="METRIC",
            show_default="all that need no judgments of people",
            help="Name of a metric; repeatable.",
        ),
    ] = None,
    judge: Judge = "",
    corpus: Corpus = "",
    retriever: Retriever = RetrieverKind.BM25,
    judgments: Judgments = None,
    ratings: SetRatings = "",
    systems: Systems = None,
    option: Constants = None,
    claims: Annotated[
        int,
        typer.Option(
            "--claims-per-sentence", metavar="N", min=1, max=20, help="How many claims a sentence makes."
        ),
    ] = CLAIMS,
    *,
    as_json: AsJson = False,
) -> None:
    """Foresee the requests, tokens and cost of `arena metrics run`, by metric and set; nobody is asked.

    Some of the answers are scored on stand-ins for the LLM's replies: every claim is taken to be relevant,
    and a passage to support what it has most words of.
    """
    arena = open_arena()
    names = tuple(name.strip() for name in (systems or "").split(",") if name.strip())
    chosen = metrics or [
        info.name for info in METRICS if not info.takes_judgments and (info.embedded or judge)
    ]
    plans = [
        arena.metric_plans.plan(
            set_name,
            metric_request(
                metric, judge, option, None, None, corpus, retriever, judgments, (set_name, ratings)
            ),
            systems=names,
            claims_per_sentence=claims,
        )
        for set_name in sets
        for metric in chosen
    ]
    headers = ("set", "metric", "pending", "requests", "tokens in", "tokens out", "USD", "USD at most")
    rows = [
        (
            one.set,
            one.metric,
            one.pending,
            one.requests,
            one.input_tokens,
            one.output_tokens,
            _money(one.cost_usd),
            _money(one.cost_usd_most),
        )
        for one in plans
    ]
    show_rows([one.as_json() for one in plans], headers, rows, as_json=as_json)
    for one in plans:
        _warn(one)


def announce(plan: MetricPlan) -> None:
    """Say what a run will take, before it is paid for."""
    note(plan.sentence)
    _warn(plan)


def _warn(plan: MetricPlan) -> None:
    for warning in plan.warnings:
        note(f"warning: {warning}")


def _money(usd: float | None) -> str | None:
    return None if usd is None else f"{usd:,.2f}"
