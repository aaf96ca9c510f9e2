"""`arena metrics`: list, plan, run and score; the other commands are registered here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.metrics import results
from arena.cli.metrics.requests import Concurrency, Judge, MetricName, SetRatings, metric_request
from arena.cli.options import (
    AsJson,
    Budget,
    Cache,
    Constants,
    Corpus,
    File,
    Judgments,
    Retriever,
    Systems,
    always_json,
    open_reaching,
)
from arena.cli.output import note, show_fields, show_json, show_line, show_rows
from arena.cli.tree.pages import Commands
from arena.container import open_arena
from judges.metrics.factuality.graph import FactorTables, Inference
from judges.metrics.registry import added_metrics
from judges.metrics.registry import metrics as known_metrics
from judges.retrieval import BM25

if TYPE_CHECKING:
    from arena.services.metrics.factory import MetricRequest
    from arena.services.metrics.planning import MetricPlan

commands = Commands("Metrics: bounded scores of single answers.")
CLAIMS = 2


def _show_plan(
    sets: Sequence[str],
    metrics: Sequence[str],
    request: Callable[[str, str], MetricRequest],
    *,
    systems: tuple[str, ...],
    claims: int,
    as_json: bool,
) -> None:
    """Foresee requests, tokens and cost; some answers are scored on stand-ins for the LLM's replies."""
    service = open_arena().metric_plans
    plans = [
        service.plan(set_name, request(set_name, metric), systems=systems, claims_per_sentence=claims)
        for set_name in sets
        for metric in metrics
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


def announce(planned: MetricPlan) -> None:
    """Say what a run will take, before it is paid for."""
    note(planned.sentence)
    _warn(planned)


def _warn(planned: MetricPlan) -> None:
    for warning in planned.warnings:
        note(f"warning: {warning}")


def _money(usd: float | None) -> str | None:
    return None if usd is None else f"{usd:,.2f}"


@commands.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List the metrics that this installation can run.

    $ arena metrics list
    """
    known = [info.as_json() for info in known_metrics()]
    rows = [(one["name"], one["title"], one["needs"], "yes" if one["embedded"] else "no") for one in known]
    headers = ("metric", "what", "needs", "without an LLM")
    show_rows(known, headers, rows, as_json=as_json)
    for problem in added_metrics().problems:
        note(f"warning: {problem}")


@commands.command()
def run(
    sets: Annotated[
        list[str], typer.Option("--set", metavar="SET", help="Question set; repeatable with --plan.")
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="METRIC",
            show_default="with --plan all that need no judgments of people",
            help="Name of the metric; repeatable with --plan.",
        ),
    ] = None,
    judge: Judge = "",
    corpus: Corpus = "",
    retriever: Retriever = BM25,
    judgments: Judgments = None,
    ratings: SetRatings = None,
    systems: Systems = None,
    option: Constants = None,
    budget_usd: Budget = None,
    concurrency: Concurrency = None,
    cache_mode: Cache = None,
    claims: Annotated[
        int,
        typer.Option(
            "--claims-per-sentence",
            metavar="N",
            min=1,
            max=20,
            help="With --plan: how many claims a sentence makes.",
        ),
    ] = CLAIMS,
    *,
    only_plan: Annotated[
        bool,
        typer.Option("--plan", help="Foresee requests, tokens and cost by metric and set; nobody is asked."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Score the answers of a set that have no score yet, or foresee what that costs.

    $ arena metrics run --set demo --metric comprehensiveness-nli
    $ arena metrics run --plan --set demo --judge JUDGE

    After Ctrl-C, the same command continues with the remaining answers.
    """
    names = tuple(name.strip() for name in (systems or "").split(",") if name.strip())

    def request(set_name: str, metric_name: str) -> MetricRequest:
        known = None if ratings is None else (set_name, ratings)
        return metric_request(
            metric_name, judge, option, budget_usd, concurrency, corpus, retriever, judgments, known
        )

    if only_plan:
        chosen = metric or [
            info.name for info in known_metrics() if not info.takes_judgments and (info.embedded or judge)
        ]
        _show_plan(sets, chosen, request, systems=names, claims=claims, as_json=as_json)
        return
    if len(sets) > 1 or len(metric or ()) != 1:
        raise typer.BadParameter("A run is of one metric and one set.", param_hint="--metric")
    asked = request(sets[0], (metric or [""])[0])
    arena = open_reaching(cache_mode)
    if judge:
        announce(arena.metric_plans.plan(sets[0], asked, systems=names))
    done = arena.metrics.run(sets[0], asked, systems=names)
    fields = done.as_json()
    if as_json:
        show_json(fields)
    else:
        reasons, notes = fields.pop("reasons"), fields.pop("notes")
        show_fields(fields)
        for reason, count in reasons.items():
            show_line(f"unscored: {count:,} × {reason}")
        for about, count in notes.items():
            show_line(f"scored: {count:,} × {about}")
    if done.pending:
        note(f"{done.pending:,} answers are left; the same command goes on with them.")


@commands.command()
@always_json
def score(
    file: File,
    metric: MetricName,
    judge: Judge = "",
    corpus: Corpus = "",
    retriever: Retriever = BM25,
    judgments: Judgments = None,
    option: Constants = None,
    budget_usd: Budget = None,
    concurrency: Concurrency = None,
) -> None:
    """Score each line of a JSONL file, printing one JSON object a line.

    $ arena metrics score answers.jsonl --metric comprehensiveness-nli
    """
    import json

    open_reaching().metrics.score_file(
        file,
        metric_request(metric, judge, option, budget_usd, concurrency, corpus, retriever, judgments),
        lambda line: show_line(json.dumps(line, ensure_ascii=False, allow_nan=False)),
    )


commands.command()(results.show)


class Analysis(StrEnum):
    """The kinds of files that are analysed."""

    MARGINALS = "marginals"
    COVERAGE = "coverage"
    CONTEXT = "context"


@commands.command()
@always_json
def analyse(
    kind: Annotated[
        Analysis,
        typer.Argument(
            metavar="KIND",
            help="`marginals`: the posterior probability of each claim and context of a fact graph. "
            "`coverage`: which claims of a fact graph its answer covers and misses, and the basis. "
            "`context`: how well a context answers sub-questions, from ratings of its passages.",
        ),
    ],
    file: File,
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
) -> None:
    """Analyse a fact graph or rated passages; the result is JSON.

    $ arena metrics analyse marginals graph.json
    """
    from arena.services.metrics.files import context_of, coverage_of, marginals_of

    if kind is Analysis.MARGINALS:
        show_json(marginals_of(file, factors=factors, inference=inference))
    else:
        show_json(coverage_of(file) if kind is Analysis.COVERAGE else context_of(file))
