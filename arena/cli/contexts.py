"""`arena retrieval score`: contexts without answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arena.cli.metrics.requests import Judge
from arena.cli.options import AsJson, Budget, Cache, SetName, open_reaching, whole_if_named
from arena.cli.output import show_json, show_line, show_table
from arena.cli.tree.pages import Commands

commands = Commands("Contexts without answers: score what a retriever found.")


@commands.command()
def score(
    set_name: SetName,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RUN",
            show_default="the submitted contexts",
            help="TREC runs, or rows with `question_id` and `contexts`; each is a system.",
        ),
    ] = None,
    qrels: Annotated[
        Path | None,
        typer.Option(
            "--qrels",
            metavar="FILE",
            show_default="the set's gold documents",
            help="Judgments: TREC qrels, BEIR's, or `ratings.jsonl` of `arena sets build`.",
            callback=whole_if_named,
        ),
    ] = None,
    corpus: Annotated[
        str, typer.Option("--corpus", metavar="NAME", help="Corpus with the texts of a run.")
    ] = "",
    judge: Judge = "",
    budget_usd: Budget = None,
    cache_mode: Cache = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Score runs: nDCG, P, R and RR by judgments; coverage, α-nDCG and density of CRUX by sub-questions.

    $ arena retrieval score bm25.trec tuned.trec --set fiqa --qrels test.tsv
    """
    from arena.services.contexts import CRUX, RANKING, ContextRequest

    contexts = open_reaching(cache_mode).contexts
    if files:
        request = ContextRequest(
            set_name=set_name, files=files, qrels=qrels, corpus=corpus, judge=judge, budget_usd=budget_usd
        )
        rows = contexts.score(request)
    else:
        rows = contexts.submitted(set_name)
    if as_json:
        show_json({"set": set_name, "rows": rows})
    elif not rows:
        show_line(f"Nobody submitted contexts to {set_name}. Name a file.")
    else:
        columns = ("system", "domain", "questions", "missing", "judged", "rated", *RANKING, *CRUX)
        show_table(columns, [tuple(row[column] for column in columns) for row in rows])
