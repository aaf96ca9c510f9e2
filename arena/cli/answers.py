"""`arena answers`: let an LLM answer the questions of a set."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import (
    AsJson,
    Budget,
    Cache,
    Concurrency,
    Domains,
    File,
    Rpm,
    Sample,
    Seed,
    SetName,
    Timeout,
    Tpm,
    Transport,
    grouped,
    in_flight,
    open_reaching,
)
from arena.cli.output import note, show_fields, show_json, show_line
from arena.cli.tree.pages import Commands
from arena.container import open_arena
from data.errors import InputError
from data.percent import percent
from data.progress import reporting
from judges.retrieval.registry import BM25

if TYPE_CHECKING:
    from arena.services.retrieval.requests import RetrievalRequest
    from judges.pairwise.prompt import Prompt

commands = Commands("Answers: let an LLM answer the questions from their passages.")
UNSAFE = re.compile(r"[^A-Za-z0-9.-]+")
EXAMPLES = 5
EXCERPT = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where passages come from: the set, or a search for each question."""

    corpus: Annotated[
        str,
        typer.Option(
            "--corpus",
            metavar="NAME",
            show_default="the set's own passages",
            help="Corpus in which K passages of each question are found on the fly.",
        ),
    ] = ""
    retriever: Annotated[
        str,
        typer.Option(
            "--retriever",
            metavar="RETRIEVER",
            show_default="`bm25` with a corpus",
            help="How they are found, as with `arena retrieve`.",
        ),
    ] = ""
    rerank: Annotated[
        str,
        typer.Option(
            "--rerank",
            metavar="RERANKER",
            show_default="none",
            help="Reorder what was found, as with `arena retrieve`.",
        ),
    ] = ""

    def request(
        self, set_name: str, passages: int, domains: tuple[str, ...], budget_usd: float | None
    ) -> RetrievalRequest | None:
        """The same for the service; None where the set's own passages are taken."""
        if not (self.corpus or self.retriever):
            if self.rerank:
                raise InputError(
                    "There is nothing to rerank: the set's own passages are taken.",
                    advice="Name a --corpus or a --retriever.",
                )
            return None
        from arena.services.retrieval.requests import RetrievalRequest

        return RetrievalRequest(
            set_name=set_name,
            k=passages,
            corpus=self.corpus,
            retriever=self.retriever or BM25,
            rerank=self.rerank,
            domains=domains,
            budget_usd=budget_usd,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What the LLM is asked."""

    prompt: Annotated[
        Path | None,
        typer.Option(
            "--prompt",
            metavar="FILE",
            show_default="the paper's task in our words",
            help="A prompt of your own: Markdown with `## task` ({question}, {passages}), and where you like "
            "`## system` and `## thinking`; or a TOML file that installs a study's own (docs/judges.md).",
        ),
    ] = None
    comprehensive: Annotated[
        bool,
        typer.Option(
            "--comprehensive", help="Ask for every relevant fact of the passages, with conflicts named."
        ),
    ] = False
    thinking: Annotated[
        bool, typer.Option("--thinking/--no-thinking", help="Ask the LLM to reason first, or not.")
    ] = True
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", metavar="N", min=1, help="Longest reply, in tokens.")
    ] = 512

    def load(self) -> Prompt:
        """The prompt.

        Raises:
            InputError: Two are asked for.
            SpecError: It cannot be used.
        """
        from judges.generation import COMPREHENSIVE_PROMPT, DEFAULT_PROMPT
        from judges.pairwise.prompt import load_prompt

        if self.prompt is None:
            return load_prompt(COMPREHENSIVE_PROMPT if self.comprehensive else DEFAULT_PROMPT)
        if self.comprehensive:
            message = "--prompt and --comprehensive each choose what is asked."
            raise InputError(message, advice="Leave one of them out.")
        return load_prompt(self.prompt.name, beside=self.prompt.parent)

    @property
    def mark(self) -> str:
        """What distinguishes it in names of files."""
        kind = "-comprehensive" if self.comprehensive else ""
        kind = f"-{UNSAFE.sub('-', self.prompt.stem)}" if self.prompt else kind
        return kind if self.thinking else f"{kind}-plain"


@commands.command()
@grouped
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
            help="Passages shown of each question, from the first on; at most as many as some question has.",
        ),
    ] = 5,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            show_default="named after set, model and passages",
            help="The file of answers to write; its system card is written beside it.",
        ),
    ] = None,
    endpoint: Annotated[
        str,
        typer.Option(
            "--endpoint",
            metavar="URL",
            show_default="`OPENAI_BASE_URL`",
            help="Base URL of an OpenAI-compatible endpoint.",
        ),
    ] = "",
    domains: Domains = None,
    sample: Sample = None,
    seed: Seed = 0,
    budget_usd: Budget = None,
    concurrency: Concurrency = None,
    cache_mode: Cache = None,
    transport: Transport = None,
    rpm: Rpm = None,
    tpm: Tpm = None,
    timeout: Timeout = None,
    *,
    source: Source,
    asking: Asking,
    as_json: AsJson = False,
) -> None:
    """Answer every question of a set from its passages, or from those that are found for it.

    $ arena answers generate --set fiqa --model gpt-5-mini --passages 5 --out answers.jsonl

    Writes a file for `arena submissions add` and its system card, and prints the share of "no answer". If it
    is interrupted, or ends at the budget, the same command continues: replies that arrived are in the cache,
    and what they cost counts against the budget.
    """
    from arena.services.generation.models import GenerationRequest
    from judges.generation import Generation
    from judges.llm.requests import Sampling

    arena = open_reaching(cache_mode, transport, rpm, tpm, timeout)
    named = tuple(name.strip() for name in (domains or "").split(",") if name.strip())
    found = f"-{source.retriever or 'bm25'}-{source.corpus}" if source.corpus or source.retriever else ""
    name = f"{set_name}-{UNSAFE.sub('-', f'{model}{found}'.rstrip('-'))}-{passages}{asking.mark}.jsonl"
    request = GenerationRequest(
        set_name=set_name,
        generation=Generation(
            model=model,
            endpoint=(endpoint or arena.settings.endpoint).rstrip("/"),
            passages=passages,
            thinking=asking.thinking,
            sampling=Sampling(max_tokens=asking.max_tokens),
            prompt=asking.load(),
        ),
        file=out or Path(name),
        retrieval=source.request(set_name, passages, named, budget_usd),
        domains=named,
        sample=sample,
        seed=seed,
        concurrency=in_flight(arena, concurrency),
        budget_usd=budget_usd,
    )
    with reporting(f"answering {set_name}") as report:
        fields = arena.generation.generate(request, report, note).to_json()
    if as_json:
        show_json(fields)
        return
    shares, silent = fields.pop("no_answer_by_domain"), fields.pop("no_answer_after_finding")
    outcomes, reasons = fields.pop("outcomes"), fields.pop("reasons")
    show_fields(fields)
    for domain, share in shares.items():
        show_line(f"no answer, {domain}: {percent(share)}")
    for outcome, count in outcomes.items():
        show_line(f"{outcome}: {count:,}")
    if silent:
        note(
            f'{len(silent):,} replies say "no answer" after their thinking found something: '
            f"`arena answers false-refusals {request.file} --set {set_name}` shows them."
        )
    for reason, count in reasons.items():
        note(f"{count:,} {reason}")


@commands.command()
def false_refusals(file: File, set_name: SetName, *, as_json: AsJson = False) -> None:
    """Show "no answer" replies of a file whose thinking found an answer.

    $ arena answers false-refusals answers.jsonl --set fiqa

    Thinking is read from the field `thinking`, or from tags before the answer. Whether it found something is
    seen from its form: it does not say itself that there is nothing, and has words that the question lacks.
    Where the set has short answers or references, what was found is compared with them.
    """
    fields = open_arena().generation.missed_answers(file, set_name)
    if as_json:
        show_json(fields)
        return
    domains, examples = fields.pop("by_domain"), fields.pop("examples")
    show_fields(fields)
    for domain, counts in domains.items():
        show_line(f"{domain}: {counts['found_in_thinking']:,} of {counts['no_answers']:,} found something")
    for example in examples[:EXAMPLES]:
        thought = " ".join(example["thinking"].split())
        show_line(f"\n{example['question_id']}: {example['question']}\n  thought: {thought[:EXCERPT]}")
    if len(examples) > EXAMPLES:
        note(f"{len(examples) - EXAMPLES:,} more; --json lists them all.")
