"""`arena references`: drafts, writing, audit and export of references for a set."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from arena.cli.options import AsJson, Budget, Cache, Concurrency, Seed, SetName, in_flight, open_reaching
from arena.cli.output import note, show_fields, show_json, show_line, show_result, show_rows, show_table
from arena.cli.references.auditing import audit, status
from arena.cli.references.shown import Number, TaskArgument, person, show_item
from arena.container import open_arena
from arena.services.accounts.auth import OPERATOR
from data.errors import FileFormatError, InputError
from data.progress import reporting

commands = typer.Typer(
    help="References: people write them from passages; drafts, audit, export.", no_args_is_help=True
)
commands.add_typer(audit, name="audit")
commands.command()(status)
Writer = Annotated[
    str, typer.Option("--writer", metavar="ACCOUNT", help="Account of the person whose text it is.")
]
STANDARD_INPUT = "-"


@commands.command()
def start(
    task: TaskArgument,
    set_name: SetName,
    writers: Annotated[str, typer.Option("--writers", metavar="A,B", help="Accounts that write.")],
    count: Annotated[
        int | None,
        typer.Option("--count", metavar="N", min=1, show_default="all", help="Questions to draw."),
    ] = None,
    seed: Seed = 0,
    instructions: Annotated[
        Path | None,
        typer.Option(
            "--instructions",
            metavar="FILE",
            show_default="ours",
            help="What writers are asked to do: a text.",
        ),
    ] = None,
    hold: Annotated[
        int,
        typer.Option("--hold", metavar="MINUTES", min=1, help="How long a question is held for a writer."),
    ] = 240,
    *,
    second_writer: Annotated[
        bool, typer.Option("--second-writer", help="Two people write for each question, apart.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Open a task: people write references for the questions of a set that have passages."""
    opened = open_arena().references.start(
        task,
        set_name,
        writers=[name.strip() for name in writers.split(",") if name.strip()],
        second_writer=second_writer,
        count=count,
        seed=seed,
        instructions="" if instructions is None else _text_of(instructions),
        hold_minutes=hold,
        caller=OPERATOR,
    )
    fields = {"task": task, "set": opened.set_name, "questions": opened.items, "texts": opened.wanted}
    show_result(fields, f"{task}: {opened.wanted:,} texts for {opened.items:,} questions.", as_json=as_json)


@commands.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List the tasks of references."""
    tasks = open_arena().references.tasks(caller=OPERATOR)
    rows = [
        {
            "task": one.name,
            "set": one.set_name,
            "questions": one.items,
            "wanted": one.wanted,
            "written": one.done,
            "closed": one.closed,
        }
        for one in tasks
    ]
    headers = ("task", "set", "questions", "texts wanted", "written", "closed")
    shown = [
        (row.name, row.set_name, row.items, row.wanted, row.done, "yes" if row.closed else "no")
        for row in tasks
    ]
    show_rows(
        rows,
        headers,
        shown,
        as_json=as_json,
        empty="There are no references to write yet. Start with `arena references start`.",
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
        made = arena.reference_drafts.draft(
            task,
            generation,
            report,
            budget_usd=budget_usd,
            concurrency=in_flight(arena, concurrency),
            caller=OPERATOR,
        )
    fields = made.to_json()
    if as_json:
        show_json(fields)
        return
    outcomes, reasons = fields.pop("outcomes"), fields.pop("reasons")
    show_fields(fields)
    for outcome, count in outcomes.items():
        show_line(f"{outcome}: {count:,}")
    for reason, count in reasons.items():
        note(f"{count:,} {reason}")


@commands.command("next")
def next_(
    task: TaskArgument,
    writer: Writer,
    *,
    agree: Annotated[
        bool, typer.Option("--agree", help="The person has read the task's terms and agrees to them.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what a person has to write next: texts that were sent back first, then a free question."""
    arena, caller = open_arena(), person(writer)
    if agree:
        arena.labels.consent(task, caller=caller)
    item = arena.references.next(task, caller=caller)
    if as_json:
        show_json({"item": None if item is None else item.as_json()})
        return
    if item is None:
        note(f"Nothing is left for {writer} in {task}.")
        return
    show_item(item.as_json())
    if item.draft is not None:
        show_line(f"\nDraft of {item.draft.model}:\n{item.draft.text}")
    if item.text:
        show_line(f"\nYour text ({item.state}):\n{item.text}")
    for failure in item.failures or ():
        note(f"The audit found: {failure}. {item.remark}")


@commands.command()
def submit(
    task: TaskArgument,
    number: Number,
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]", help="File with the text; `-` for standard input.", show_default=False
        ),
    ] = None,
    *,
    writer: Writer,
    skip: Annotated[
        str | None,
        typer.Option("--skip", metavar="REASON", help="Leave the question to others, and say why."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Keep a text, or change it; each sentence ends with the numbers of its passages, as [1] or [2, 3]."""
    if (file is None) == (skip is None):
        raise InputError("A question is either written or skipped.", advice="Give a file, or --skip REASON.")
    arena, caller = open_arena(), person(writer)
    if skip is not None:
        arena.labels.skip(task, number, skip, caller=caller)
        show_result({"task": task, "number": number, "skipped": True}, f"Skipped: {number}.", as_json=as_json)
        return
    text = sys.stdin.read() if file == STANDARD_INPUT else _text_of(Path(file or ""))
    kept = arena.references.submit(task, number, text, caller=caller)
    fields = {
        "task": task,
        "number": number,
        "skipped": False,
        "sentences": kept.sentences,
        "left_out": list(kept.left_out),
    }
    show_result(fields, f"Kept: {number} of {task}, {kept.sentences} sentences.", as_json=as_json)
    for short in () if as_json else kept.left_out:
        note(f"Its words do not hold this short answer: {short}")


@commands.command()
def export(
    task: TaskArgument,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to write the set into.")],
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", show_default="set and task", help="Name of the new set.")
    ] = "",
    *,
    unaudited: Annotated[
        bool, typer.Option("--unaudited", help="Take texts that no audit accepted too.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write the accepted references as a set with citations, for `arena sets import`."""
    made = open_arena().reference_exports.export(
        task, folder, set_name=name, unaudited=unaudited, caller=OPERATOR
    )
    fields = {
        "folder": str(made.folder),
        "set": made.name,
        "questions": made.questions,
        "left_out": made.left_out,
        "second": made.second,
    }
    words = f"{made.questions:,} references written to {folder}; {made.left_out:,} questions have none."
    show_result(fields, words, as_json=as_json)


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

    Words decide, not people: the figures tell what to look at, and are no audit.
    """
    named = [name.strip() for name in systems.split(",") if name.strip()]
    fields = open_arena().reference_exports.measure_set(set_name, named, caller=OPERATOR)
    if as_json:
        show_json(fields)
        return
    columns = (
        "texts",
        "completeness",
        "complete_texts",
        "citation_accuracy",
        "accurate_texts",
        "cited_sentences",
    )
    show_table(
        ("system", *columns),
        [(name, *(_cell(row[column]) for column in columns)) for name, row in fields["systems"].items()],
    )
    if fields["references_without_citations"]:
        note(f"{fields['references_without_citations']:,} references have no citations to measure.")


@commands.command()
def close(task: TaskArgument) -> None:
    """Take no more texts of a task."""
    open_arena().references.close(task, caller=OPERATOR)
    show_line(f"{task} is closed.")


def _cell(value: float | None) -> str | None:
    if value is None or isinstance(value, int):
        return None if value is None else f"{value:,}"
    return f"{value:.1%}"


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileFormatError(f"{path} cannot be read: {error}.", advice="Name a UTF-8 text file.") from error
