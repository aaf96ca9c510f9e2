"""`arena references`: drafts, audit and export of references; their tasks are those of `arena labels`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from arena.cli.labels.commands import person
from arena.cli.labels.tasks import TaskArgument
from arena.cli.options import (
    LARGEST_NUMBER,
    AsJson,
    Budget,
    Cache,
    Concurrency,
    Seed,
    SetName,
    in_flight,
    open_reaching,
)
from arena.cli.output import note, show_fields, show_json, show_line, show_result, show_table
from arena.cli.tree.pages import Commands
from arena.container import open_arena
from arena.services.accounts.auth import OPERATOR
from data.errors import InputError
from data.percent import percent
from data.progress import reporting
from data.records.references import Failure

commands = Commands("References: people write them from passages; drafts, audit, export.")
MEASURES = (
    "texts",
    "completeness",
    "complete_texts",
    "citation_accuracy",
    "accurate_texts",
    "cited_sentences",
)


@commands.command()
def draft(
    task: TaskArgument,
    model: Annotated[
        str, typer.Option("--model", metavar="MODEL", help="The LLM, as the endpoint names it.")
    ],
    prompt: Annotated[
        Path | None,
        typer.Option(
            "--prompt",
            metavar="FILE",
            show_default="ours",
            help="Instructions of your own: Markdown with `## task` ({question}, {passages}).",
        ),
    ] = None,
    endpoint: Annotated[
        str,
        typer.Option(
            "--endpoint", metavar="URL", show_default="`OPENAI_BASE_URL`", help="Base URL of the endpoint."
        ),
    ] = "",
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", metavar="N", min=1, help="Longest reply, in tokens.")
    ] = 1024,
    budget_usd: Budget = None,
    concurrency: Concurrency = None,
    cache_mode: Cache = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Let an LLM draft every question of a task; writers may start from the draft.

    $ arena references draft task --model gpt-5-mini --budget-usd 5

    The same command again asks only what is missing, and its budget holds for all runs together.
    """
    from arena.services.references.drafting import DRAFT_PROMPT
    from judges.generation import Generation
    from judges.llm.requests import Sampling
    from judges.pairwise.prompt import load_prompt

    arena = open_reaching(cache_mode)
    generation = Generation(
        model=model,
        endpoint=(endpoint or arena.settings.endpoint).rstrip("/"),
        sampling=Sampling(max_tokens=max_tokens),
        prompt=load_prompt(prompt.name, beside=prompt.parent) if prompt else load_prompt(DRAFT_PROMPT),
    )
    with reporting(f"drafting {task}") as report:
        fields = arena.reference_drafts.draft(
            task,
            generation,
            report,
            budget_usd=budget_usd,
            concurrency=in_flight(arena, concurrency),
            caller=OPERATOR,
        )
    if as_json:
        show_json(fields)
        return
    outcomes, reasons = fields.pop("outcomes"), fields.pop("reasons")
    show_fields({**fields, **outcomes})
    for reason, count in reasons.items():
        note(f"{count:,} {reason}")


@commands.command()
def audit(
    task: TaskArgument,
    number: Annotated[
        int | None,
        typer.Argument(
            metavar="[NUMBER]",
            max=LARGEST_NUMBER,
            help="Text to decide: valid without --failure; without a number the next one is shown.",
        ),
    ] = None,
    auditor: Annotated[
        str, typer.Option("--auditor", metavar="ACCOUNT", help="Account of the person who audits.")
    ] = "",
    failures: Annotated[
        list[Failure] | None, typer.Option("--failure", help="What fails; repeatable.")
    ] = None,
    remark: Annotated[str, typer.Option("--remark", metavar="TEXT", help="For the writer.")] = "",
    draw: Annotated[
        float | None,
        typer.Option(
            "--draw",
            metavar="PERCENT",
            min=0.1,
            max=100.0,
            help="Make a batch of all texts that are in none, and draw so much of it.",
        ),
    ] = None,
    seed: Seed = 0,
    *,
    as_json: AsJson = False,
) -> None:
    """Draw a sample of the texts, show the next of it, or decide one.

    $ arena references audit task --auditor ann --draw 20

    The last one of the sample decides the batch: with 90 % valid texts it is accepted, with fewer all of it
    goes back to its writers.
    """
    service = open_arena().reference_audits
    if draw is not None:
        batch = service.draw(task, share=draw / 100, seed=seed, caller=OPERATOR)
    elif not auditor:
        raise InputError("Nobody audits.", advice="Name an --auditor, or --draw a sample.")
    elif number is not None:
        batch = service.decide(task, number, failures or (), remark=remark, caller=person(auditor))
    else:
        _show_next(task, auditor, as_json=as_json)
        return
    if batch is None:
        show_result({"batch": None}, f"No text of {task} waits for an audit.", as_json=as_json)
        return
    ends = {None: "is being audited", True: "is accepted", False: "goes back"}[batch.accepted]
    counts = f"{batch.audited} of {batch.drawn} decided, {batch.valid} valid, of {batch.texts} texts"
    show_result({"batch": batch.to_json()}, f"Batch {batch.number} {ends}: {counts}.", as_json=as_json)


def _show_next(task: str, auditor: str, *, as_json: bool) -> None:
    item = open_arena().reference_audits.audit_next(task, caller=person(auditor))
    if as_json:
        show_json({"item": None if item is None else item.to_json()})
    elif item is None:
        note(f"Nothing of {task} is left to audit for {auditor}.")
    else:
        show_fields({"number": item.number, "question": item.question.question})
        for place, passage in enumerate(item.question.passages, start=1):
            show_line(f"\n[{place}] {passage.title}\n{passage.text}")
        for short in item.question.short_answers:
            show_line(f"short answer: {short}")
        show_line(f"\nText:\n{item.text}")


@commands.command()
def measure(
    set_name: SetName,
    systems: Annotated[
        str, typer.Option("--systems", metavar="A,B", show_default="all", help="Answers of these systems.")
    ] = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Show completeness and citation accuracy of a set's references and of answers with citations.

    $ arena references measure --set fiqa

    Words decide, not people: the figures tell what to look at, and are no audit.
    """
    named = [name.strip() for name in systems.split(",") if name.strip()]
    fields = open_arena().reference_exports.measure_set(set_name, named, caller=OPERATOR)
    if as_json:
        show_json(fields)
        return
    rows: dict[str, dict[str, Any]] = fields["systems"]
    table = [(name, row["texts"], *(percent(row[key]) for key in MEASURES[1:])) for name, row in rows.items()]
    show_table(("system", *MEASURES), table)
    if fields["references_without_citations"]:
        note(f"{fields['references_without_citations']:,} references have no citations to measure.")
