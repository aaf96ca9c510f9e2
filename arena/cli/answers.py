"""`arena answers`: let an LLM answer the questions of a set."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from arena.cli.options import (
    AsJson,
    Cache,
    Concurrency,
    Rpm,
    Sample,
    Seed,
    SetName,
    Timeout,
    Tpm,
    Transport,
    in_flight,
    open_reaching,
)
from arena.cli.output import note, show_fields, show_json, show_line
from data.progress import reporting

commands = typer.Typer(
    help="Answers: let an LLM answer the questions from their passages.", no_args_is_help=True
)
UNSAFE = re.compile(r"[^A-Za-z0-9.-]+")


@commands.callback()
def group() -> None:
    """Answers: let an LLM answer the questions from their passages."""


@commands.command()
def generate(
    set_name: SetName,
    model: Annotated[
        str, typer.Option("--model", metavar="MODEL", help="The LLM, as the endpoint names it.")
    ],
    passages: Annotated[
        int,
        typer.Option(
            "--passages",
            metavar="K",
            min=1,
            help="Passages shown of each question, from the first on; a note says where none has as many.",
        ),
    ] = 5,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            show_default="named after set, model and passages",
            help="The file of answers to write.",
        ),
    ] = None,
    sample: Sample = None,
    seed: Seed = 0,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", metavar="N", min=1, help="Longest answer, in tokens.")
    ] = 512,
    concurrency: Concurrency = None,
    cache_mode: Cache = None,
    transport: Transport = None,
    rpm: Rpm = None,
    tpm: Tpm = None,
    timeout: Timeout = None,
    *,
    thinking: Annotated[
        bool, typer.Option("--thinking/--no-thinking", help="Ask the LLM to reason first, or not.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Answer every question of a set from its passages.

    Writes a file for `arena submissions add`, and prints the share of "no answer". If it is interrupted,
    the same command continues: replies that arrived are in the cache.
    """
    from arena.services.generation import GenerationRequest
    from judges.generation import Generation
    from judges.llm.requests import Sampling

    arena = open_reaching(cache_mode, transport, rpm, tpm, timeout)
    plain = "" if thinking else "-plain"
    file = out or Path(f"{set_name}-{UNSAFE.sub('-', model)}-{passages}{plain}.jsonl")
    request = GenerationRequest(
        set_name=set_name,
        generation=Generation(
            model=model,
            endpoint=arena.settings.endpoint,
            passages=passages,
            thinking=thinking,
            sampling=Sampling(max_tokens=max_tokens),
        ),
        file=file,
        sample=sample,
        seed=seed,
        concurrency=in_flight(arena, concurrency),
    )
    with reporting(f"answering {set_name}") as report:
        fields = arena.generation.generate(request, report, note).to_json()
    if as_json:
        show_json(fields)
        return
    shares = fields.pop("no_answer_by_domain")
    outcomes, reasons = fields.pop("outcomes"), fields.pop("reasons")
    show_fields(fields)
    for domain, share in shares.items():
        show_line(f"no answer, {domain}: {share:.1%}")
    for outcome, count in outcomes.items():
        show_line(f"{outcome}: {count:,}")
    for reason, count in reasons.items():
        note(f"{count:,} {reason}")
