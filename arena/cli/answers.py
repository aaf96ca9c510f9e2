"""`arena answers`: let an LLM answer the questions of a set."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from arena.cli.options import AsJson, Seed, SetName
from arena.cli.output import note, progress_bar, show_fields, show_json, show_line
from arena.cli.reaching import Cache, Concurrency, Rpm, Timeout, Tpm, Transport, in_flight, open_reaching

commands = typer.Typer(help="Answers: let an LLM answer from the passages.", no_args_is_help=True)
UNSAFE = re.compile(r"[^A-Za-z0-9.-]+")


@commands.callback()
def group() -> None:
    """Answers: let an LLM answer from the passages."""


@commands.command()
def generate(
    set_name: SetName,
    model: Annotated[str, typer.Option("--model", help="The LLM, as the endpoint names it.")],
    passages: Annotated[int, typer.Option("--passages", min=1, help="Passages shown, first ones first.")] = 5,
    out: Annotated[Path | None, typer.Option("--out", help="The file of answers to write.")] = None,
    sample: Annotated[str | None, typer.Option("--sample", help="Questions to take: 100, or 10%.")] = None,
    seed: Seed = 0,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=1, help="Longest answer, in tokens.")] = 512,
    concurrency: Concurrency = None,
    cache_mode: Cache = None,
    transport: Transport = None,
    rpm: Rpm = None,
    tpm: Tpm = None,
    timeout: Timeout = None,
    *,
    thinking: Annotated[bool, typer.Option("--thinking/--no-thinking", help="Let it think first.")] = True,
    as_json: AsJson = False,
) -> None:
    """Answer every question from its passages; write a file for `arena submissions add`.

    Cut off, the same command goes on: replies that came are kept.
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
    with progress_bar(f"answering {set_name}") as report:
        made = arena.generation.generate(request, report).to_json()
    if as_json:
        show_json(made)
        return
    shares = made.pop("no_answer_by_domain")
    outcomes, reasons = made.pop("outcomes"), made.pop("reasons")
    show_fields(made)
    for domain, share in shares.items():
        show_line(f"no answer, {domain}: {share:.1%}")
    for outcome, count in outcomes.items():
        show_line(f"{outcome}: {count:,}")
    for reason, count in reasons.items():
        note(f"{count:,} {reason}")
