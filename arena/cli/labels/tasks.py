"""`arena labels`: open, show and close tasks of people who label pairs or write references."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import AsJson, Seed, grouped, whole_if_named
from arena.cli.output import show_fields, show_json, show_line, show_result, show_rows, show_table
from arena.container import Arena, open_arena
from arena.services.accounts.auth import OPERATOR
from data.errors import FileFormatError, InputError
from data.records import DrawKind, LabelScale, TaskKind

if TYPE_CHECKING:
    from arena.label_schemas import QualityLine

TaskArgument = Annotated[str, typer.Argument(metavar="TASK", help="Name of the task.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """What a task is made of."""

    set_name: Annotated[
        str,
        typer.Option("--set", metavar="SET", help="Question set; with --round its own.", show_default=False),
    ] = ""
    kind: Annotated[
        TaskKind, typer.Option("--kind", help="Compare pairs of answers, or write references from passages.")
    ] = TaskKind.PAIRS
    systems: Annotated[
        str, typer.Option("--systems", metavar="A,B", help="Every pair of these.", show_default=False)
    ] = ""
    round_name: Annotated[
        str, typer.Option("--round", metavar="ROUND", help="Battles of this round.", show_default=False)
    ] = ""
    items: Annotated[
        Path | None,
        typer.Option(
            "--items",
            metavar="FILE",
            help="These items: JSONL of question_id, model_a, model_b.",
            callback=whole_if_named,
        ),
    ] = None
    gold: Annotated[
        Path | None,
        typer.Option(
            "--gold",
            metavar="FILE",
            help="Items with known answers besides: as --items, with winner or value.",
            callback=whole_if_named,
        ),
    ] = None
    draw: Annotated[
        DrawKind,
        typer.Option("--draw", help="How items are drawn: uniformly, by domain, or by the judge's doubt."),
    ] = DrawKind.UNIFORM
    count: Annotated[
        int | None,
        typer.Option("--count", metavar="N", min=1, help="How many are drawn.", show_default="all"),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TermOptions:
    """Who labels, and how."""

    annotators: Annotated[
        str, typer.Option("--annotators", metavar="A,B", help="Accounts that label.", show_default=False)
    ] = ""
    open_to_all: Annotated[bool, typer.Option("--open-to-all", help="Let every other account label too.")] = (
        False
    )
    overlap: Annotated[
        int | None,
        typer.Option(
            "--overlap",
            metavar="N",
            min=1,
            help="How many people label an item.",
            show_default="3, of references 1",
        ),
    ] = None
    scale: Annotated[LabelScale, typer.Option("--scale", help="Five grades, or a, tie and b.")] = (
        LabelScale.GRADES
    )
    reference: Annotated[
        bool, typer.Option("--show-reference", help="Show the reference beside the answers.")
    ] = False
    consent: Annotated[
        Path | None,
        typer.Option(
            "--consent", metavar="FILE", help="What people agree to first.", show_default="the usual words"
        ),
    ] = None
    instructions: Annotated[
        Path | None,
        typer.Option(
            "--instructions", metavar="FILE", help="What to look at.", show_default="the paper's rubric"
        ),
    ] = None
    hold_minutes: Annotated[
        int | None,
        typer.Option(
            "--hold",
            metavar="MINUTES",
            min=1,
            help="How long an item is held for a person.",
            show_default="60, of references 240",
        ),
    ] = None


@grouped
def open_task(
    name: TaskArgument,
    source: SourceOptions,
    terms: TermOptions,
    *,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Open a task: its items are drawn now, with chances that are kept.

    $ arena labels open task --round demo --items 100 --annotators ann,bob
    """
    from arena.label_schemas import TaskLine
    from arena.services.annotation.files.lines import read_items
    from arena.services.annotation.requests import TaskRequest

    request = TaskRequest(
        name=name,
        set_name=source.set_name,
        kind=source.kind,
        systems=_names(source.systems),
        round_name=source.round_name,
        chosen=() if source.items is None else read_items(bytes_of(source.items), terms.scale),
        gold=() if source.gold is None else read_items(bytes_of(source.gold), terms.scale),
        draw=source.draw,
        count=source.count,
        overlap=terms.overlap,
        annotators=_names(terms.annotators),
        open_to_all=terms.open_to_all,
        scale=terms.scale,
        shows_reference=terms.reference,
        seed=seed,
        consent=text_of(terms.consent),
        instructions=text_of(terms.instructions),
        hold_minutes=terms.hold_minutes,
    )
    task = open_arena().annotation.open(request, caller=OPERATOR)
    sentence = (
        f"The task {name} has {task.items:,} items and {task.gold:,} gold ones; {task.wanted:,} labels."
    )
    show_result(json.loads(TaskLine.of(task).model_dump_json()), sentence, as_json=as_json)


def show_task(
    name: Annotated[
        str | None, typer.Argument(metavar="[TASK]", help="Name of the task.", show_default="a list of all")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """List the tasks, or show how far one is: how its people agree, or the states of its references.

    $ arena labels show task
    """
    arena = open_arena()
    if name is None:
        _show_list(arena, as_json=as_json)
    elif arena.annotation.task(name, caller=OPERATOR).terms.kind is TaskKind.REFERENCES:
        _show_references(arena, name, as_json=as_json)
    else:
        _show_pairs(arena, name, as_json=as_json)


def _show_list(arena: Arena, *, as_json: bool) -> None:
    from arena.label_schemas import TaskLine

    tasks = list(map(TaskLine.of, arena.annotation.tasks(caller=OPERATOR)))
    show_rows(
        [json.loads(task.model_dump_json()) for task in tasks],
        ("task", "kind", "set", "items", "labels", "wanted", "state"),
        [
            (task.name, task.kind, task.set, task.items, task.done, task.wanted, _state(task.closed))
            for task in tasks
        ],
        as_json=as_json,
        empty="There are no tasks yet. Open one with `arena labels open TASK`.",
    )


def _show_pairs(arena: Arena, name: str, *, as_json: bool) -> None:
    from arena.label_schemas import QualityLine, TaskLine

    task = TaskLine.of(arena.annotation.task(name, caller=OPERATOR))
    quality = QualityLine.of(name, arena.curation.quality(name, caller=OPERATOR))
    if as_json:
        show_json({**json.loads(task.model_dump_json()), "quality": json.loads(quality.model_dump_json())})
        return
    show_fields({"task": task.name, "kind": task.kind, "set": task.set, "state": _state(task.closed)})
    show_fields({"labels": quality.labels, "wanted": task.wanted, "complete": quality.complete})
    _show_quality(quality)


def _show_quality(quality: QualityLine) -> None:
    for label, estimate in (("alpha", quality.alpha), ("alpha of values", quality.alpha_values)):
        if estimate.value is not None:
            between = "" if estimate.lower is None else f" ({estimate.lower:.2f} to {estimate.upper:.2f})"
            show_line(f"{label}: {estimate.value:.2f}{between}")
    if quality.disputed:
        show_line(f"{quality.disputed} items have no majority: `arena labels adjudicate {quality.task}`.")
    rows = [
        (
            person.name,
            person.labelled,
            person.skipped,
            person.agreement,
            person.alpha.value,
            f"{person.gold_passed} of {person.gold_seen}",
            person.seconds,
            person.excluded_reason or "",
        )
        for person in quality.people
    ]
    if rows:
        headers = ("person", "labels", "skips", "agrees", "alpha", "gold", "seconds", "excluded")
        show_table(headers, rows)


def _show_references(arena: Arena, name: str, *, as_json: bool) -> None:
    fields = arena.reference_audits.status(name, caller=OPERATOR)
    if as_json:
        show_json(fields)
        return
    questions, batches, audited = (fields.pop(key) for key in ("by_question", "batches", "audit"))
    states = {**fields.pop("texts"), **fields.pop("failures")}
    show_fields({**fields, **states, **{f"audit: {key}": value for key, value in audited.items()}})
    if batches:
        show_table(tuple(batches[0]), [tuple(batch.values()) for batch in batches])
    rows = [
        (row["question_id"], row["domain"], ", ".join(row["states"]) or "untouched", row["draft"])
        for row in questions
    ]
    show_table(("question", "domain", "state", "draft"), rows)


def close_task(name: TaskArgument) -> None:
    """Take no more labels, and no changes.

    $ arena labels close task
    """
    open_arena().annotation.close(name, caller=OPERATOR)
    show_line(f"The task {name} is closed.")


def bytes_of(path: Path) -> bytes:
    """The content of a file that was named.

    Raises:
        InputError: It cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", advice="Check the path.") from error


def text_of(path: Path | None) -> str:
    """The text of a file; empty where none was named.

    Raises:
        InputError: It cannot be read.
        FileFormatError: It is not UTF-8.
    """
    try:
        return "" if path is None else bytes_of(path).decode()
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path} is not UTF-8.", advice="Name a UTF-8 text file.") from error


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _state(closed: bool) -> str:
    return "closed" if closed else "open"
