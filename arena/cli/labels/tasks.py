"""`arena labels task`: open, list, show, close, export, import."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import AsJson, Seed, grouped
from arena.cli.output import note, show_fields, show_json, show_line, show_result, show_table
from arena.container import open_arena
from arena.services.accounts.auth import OPERATOR
from data.errors import InputError
from data.records import DrawKind, LabelScale, TaskKind

if TYPE_CHECKING:
    from arena.label_schemas import QualityLine
    from arena.services.annotation.files.model import LabelFormat
    from arena.services.annotation.requests import TaskRequest

tasks = typer.Typer(help="Tasks: what people label, how far they are, their labels.", no_args_is_help=True)
TaskArgument = Annotated[str, typer.Argument(metavar="TASK", help="Name of the task.")]
FORMATS = "`votes`, `labels`, `human-evaluations`, `label-studio`, `argilla`"
EXPORTED = typer.Option("--format", metavar="FORMAT", help=f"{FORMATS}, or `results`.")
IMPORTED = typer.Option("--format", metavar="FORMAT", help=f"{FORMATS}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """What a task is made of."""

    set_name: Annotated[
        str,
        typer.Option("--set", metavar="SET", help="Question set; with --round its own.", show_default=False),
    ] = ""
    kind: Annotated[TaskKind, typer.Option("--kind", help="What people are asked.")] = TaskKind.PAIRS
    systems: Annotated[
        str,
        typer.Option("--systems", metavar="A,B", help="Every pair of these; of spans each alone."),
    ] = ""
    round_name: Annotated[
        str, typer.Option("--round", metavar="ROUND", help="Battles of this round.", show_default=False)
    ] = ""
    items: Annotated[
        Path | None,
        typer.Option("--items", metavar="FILE", help="These items: JSONL of question_id, model_a, model_b."),
    ] = None
    gold: Annotated[
        Path | None,
        typer.Option(
            "--gold",
            metavar="FILE",
            help="Items with known answers besides: as --items, with winner or value.",
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
        int, typer.Option("--overlap", metavar="N", min=1, help="How many people label an item.")
    ] = 3
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
        int, typer.Option("--hold", metavar="MINUTES", min=1, help="How long an item is held for a person.")
    ] = 60


@tasks.command("open")
@grouped
def open_task(
    name: TaskArgument,
    source: SourceOptions,
    terms: TermOptions,
    *,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Open a task: its items are drawn now, with chances that are kept."""
    from arena.label_schemas import TaskLine

    task = open_arena().annotation.open(_request(name, source, terms, seed), caller=OPERATOR)
    line = TaskLine.of(task)
    sentence = (
        f"The task {name} has {task.items:,} items and {task.gold:,} gold ones; {task.wanted:,} labels."
    )
    show_result(json.loads(line.model_dump_json()), sentence, as_json=as_json)


@tasks.command("list")
def list_tasks(*, as_json: AsJson = False) -> None:
    """List the tasks, newest first."""
    open_tasks = open_arena().annotation.tasks(caller=OPERATOR)
    if as_json:
        from arena.label_schemas import TaskLine

        show_json([json.loads(TaskLine.of(task).model_dump_json()) for task in open_tasks])
    elif not open_tasks:
        note("There are no tasks yet. Open one with `arena labels task open NAME`.")
    else:
        rows = [
            (
                task.name,
                task.terms.kind.value,
                task.set_name,
                task.items,
                task.done,
                task.wanted,
                _state(task.closed),
            )
            for task in open_tasks
        ]
        show_table(("task", "kind", "set", "items", "labels", "wanted", "state"), rows)


@tasks.command("show")
def show_task(name: TaskArgument, *, as_json: AsJson = False) -> None:
    """Show how far a task is and how its people agree: alpha with intervals, each person, gold items."""
    from arena.label_schemas import QualityLine, TaskLine

    arena = open_arena()
    task = TaskLine.of(arena.annotation.task(name, caller=OPERATOR))
    quality = QualityLine.of(name, arena.curation.quality(name, caller=OPERATOR))
    if as_json:
        show_json({**json.loads(task.model_dump_json()), "quality": json.loads(quality.model_dump_json())})
        return
    show_fields({"task": task.name, "kind": task.kind, "set": task.set, "state": _state(task.closed)})
    show_fields({"labels": quality.labels, "wanted": task.wanted, "complete": quality.complete})
    _show_quality(quality)


@tasks.command("close")
def close_task(name: TaskArgument) -> None:
    """Take no more labels, and no changes."""
    open_arena().annotation.close(name, caller=OPERATOR)
    show_line(f"The task {name} is closed.")


@tasks.command("export")
def export_task(
    name: TaskArgument,
    destination: Annotated[Path, typer.Argument(metavar="DEST", help="File to write; `-` for the output.")],
    form: Annotated[str, EXPORTED] = "votes",
) -> None:
    """Write the labels of a task that count to a file."""
    export = open_arena().label_files.export(name, _format(form), caller=OPERATOR)
    if export.left_out:
        note(f"{export.left_out} labels are left out: their answers were removed.")
    if str(destination) == "-":
        typer.echo(export.content.decode(), nl=False)
        return
    try:
        destination.write_bytes(export.content)
    except OSError as error:
        raise InputError(
            f"{destination} cannot be written: {error.strerror}.", advice="Choose another place."
        ) from error
    show_line(f"{export.labels:,} labels are in {destination}.")


@tasks.command("import")
def import_task(
    name: TaskArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Labels of people, from elsewhere.")],
    form: Annotated[str, IMPORTED] = "votes",
    *,
    as_json: AsJson = False,
) -> None:
    """Add labels of a file to a task; what a person said of an item already stays."""
    count = open_arena().label_files.bring(name, _format(form), _bytes(file), caller=OPERATOR)
    show_result({"task": name, "labels": count}, f"{count:,} labels are new in {name}.", as_json=as_json)


def _request(name: str, source: SourceOptions, terms: TermOptions, seed: int) -> TaskRequest:
    from arena.services.annotation.files.lines import read_items
    from arena.services.annotation.requests import TaskRequest

    return TaskRequest(
        name=name,
        set_name=source.set_name,
        kind=source.kind,
        systems=_names(source.systems),
        round_name=source.round_name,
        chosen=() if source.items is None else read_items(_bytes(source.items), terms.scale),
        gold=() if source.gold is None else read_items(_bytes(source.gold), terms.scale),
        draw=source.draw,
        count=source.count,
        overlap=terms.overlap,
        annotators=_names(terms.annotators),
        open_to_all=terms.open_to_all,
        scale=terms.scale,
        shows_reference=terms.reference,
        seed=seed,
        consent="" if terms.consent is None else _bytes(terms.consent).decode("utf-8", "replace"),
        instructions=""
        if terms.instructions is None
        else _bytes(terms.instructions).decode("utf-8", "replace"),
        hold_minutes=terms.hold_minutes,
    )


def _show_quality(quality: QualityLine) -> None:
    for label, estimate in (("alpha", quality.alpha), ("alpha of values", quality.alpha_values)):
        if estimate.value is not None:
            between = "" if estimate.lower is None else f" ({estimate.lower:.2f} to {estimate.upper:.2f})"
            show_line(f"{label}: {estimate.value:.2f}{between}")
    if quality.disputed:
        show_line(f"{quality.disputed} items have no majority: `arena labels task disputed {quality.task}`.")
    rows = [
        (
            person.name,
            person.labelled,
            person.skipped,
            person.agreement,
            person.alpha.value,
            f"{person.gold_passed} of {person.gold_seen}",
            person.accuracy,
            person.seconds,
            person.aside_reason or "",
        )
        for person in quality.people
    ]
    if rows:
        headers = ("person", "labels", "skips", "agrees", "alpha", "gold", "accuracy", "seconds", "aside")
        show_table(headers, rows)


def _format(text: str) -> LabelFormat:
    from arena.services.annotation.files.model import LabelFormat

    if text not in set(LabelFormat):
        raise InputError(f"{text!r} is no format of labels.", advice=f"Use {', '.join(LabelFormat)}.")
    return LabelFormat(text)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", advice="Check the path.") from error


def _text(path: Path | None) -> str:
    return "" if path is None else _bytes(path).decode("utf-8", "replace")


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _state(closed: bool) -> str:
    return "closed" if closed else "open"
