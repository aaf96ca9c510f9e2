"""`arena labels`: the next item and a label for it, what organisers decide about labels, and their files."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.labels.tasks import TaskArgument, bytes_of, close_task, open_task, show_task, text_of
from arena.cli.options import LARGEST_NUMBER, AsJson, File, Yes, ask, only_with
from arena.cli.output import Cell, note, show_fields, show_json, show_line, show_result, show_rows
from arena.cli.tree.pages import Commands
from arena.container import Arena, open_arena
from arena.services.accounts.auth import OPERATOR, Caller
from data.errors import InputError
from data.records.irreversible import Irreversible

if TYPE_CHECKING:
    from arena.label_schemas import ItemLine
    from arena.services.annotation.files.model import LabelFormat

commands = Commands("Labels of people: tasks, the next item, a label for it.")
commands.command("open")(open_task)
commands.command("show")(show_task)
commands.command("close")(close_task)
FORMATS = "`votes`, `labels`, `human-evaluations`, `label-studio`, `argilla`"
NUMBERS = {str(number): number for number in range(-2, 3)}
LABELS = {"first": -2, "slightly-first": -1, "tie": 0, "slightly-second": 1, "second": 2} | NUMBERS
DECISIONS = {"a": -1, "tie": 0, "b": 1, "none": None} | NUMBERS
STANDARD_INPUT = "-"
REFERENCES = "set"


@commands.command()
def submit(
    task: TaskArgument,
    number: Annotated[
        int | None,
        typer.Argument(
            metavar="[NUMBER]",
            max=LARGEST_NUMBER,
            help="Number under which the item was given; without one the next item is shown.",
        ),
    ] = None,
    value: Annotated[
        str | None,
        typer.Argument(
            metavar="[VALUE]",
            help="`first`, `slightly-first`, `tie`, `slightly-second` or `second`, or a number from -2 to 2.",
        ),
    ] = None,
    *,
    annotator: Annotated[
        str,
        typer.Option("--annotator", metavar="ACCOUNT", help="Account of the person whose labels these are."),
    ],
    text: Annotated[
        Path | None,
        typer.Option(
            "--text",
            metavar="FILE",
            help="A reference, each sentence ending with its passages, as [1] or [2, 3]; `-` for the input.",
        ),
    ] = None,
    comment: Annotated[str, typer.Option("--comment", metavar="TEXT", help="Why, in words.")] = "",
    skip: Annotated[
        str | None, typer.Option("--skip", metavar="REASON", help="Leave the item to others, and say why.")
    ] = None,
    agree: Annotated[
        bool, typer.Option("--agree", help="The person has read the task's terms and agrees to them.")
    ] = False,
    withdraw: Annotated[
        bool, typer.Option("--withdraw", help="Delete everything that the person said in the task.")
    ] = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Show a person's next item, which is held for them a while, or submit or change a label of theirs.

    $ arena labels submit task 1 a --annotator ann
    """
    arena, caller = open_arena(), person(annotator)
    if sum(one is not None for one in (value, text, skip)) + withdraw != (number is not None or withdraw):
        raise InputError(
            "A label is one of a value, a text and a skip.",
            advice="Give exactly one, or no NUMBER to get the next item.",
        )
    if agree:
        arena.labels.consent(task, caller=caller)
    if withdraw:
        ask(Irreversible.DELETE_LABELS, yes=yes)
        count = arena.curation.delete(task, annotator, caller=OPERATOR)
        words = f"{count} labels of {annotator} are deleted."
        show_result({"task": task, "deleted": count}, words, as_json=as_json)
    elif number is None:
        _show_next(arena, task, caller, as_json=as_json)
    else:
        left_out: tuple[str, ...] = ()
        if skip is not None:
            arena.labels.skip(task, number, skip, caller=caller)
        else:
            shown = None if value is None else _value(arena, task, value)
            words = "" if text is None else sys.stdin.read() if str(text) == STANDARD_INPUT else text_of(text)
            left_out = arena.labels.label(task, number, shown, text=words, comment=comment, caller=caller)
        done = {"task": task, "number": number, "skipped": skip is not None, "left_out": left_out}
        show_result(done, f"Kept: {number} of {task}.", as_json=as_json)
        for short in () if as_json else left_out:
            note(f"Its words do not hold this short answer: {short}")


def _value(arena: Arena, task: str, text: str) -> int:
    if text not in LABELS:
        raise InputError(f"{text!r} is no label.", advice=f"Use {', '.join(LABELS)}.")
    value = LABELS[text]
    sides = text not in NUMBERS and arena.annotation.task(task, caller=OPERATOR).terms.scale == "sides"
    return max(-1, min(1, value)) if sides else value


def _show_next(arena: Arena, task: str, caller: Caller, *, as_json: bool) -> None:
    from arena.label_schemas import NextLine

    found = NextLine.following(
        arena.labels.next(task, caller=caller), arena.labels.progress(task, caller=caller)
    )
    if as_json:
        show_json(json.loads(found.model_dump_json()))
    elif found.item is None:
        note(f"Nothing is left for {caller.account} in {task}.")
    else:
        _show_item(found.item)
        note(f"{found.progress.labelled + found.progress.skipped} of {found.progress.total} done")


def _show_item(item: ItemLine) -> None:
    fields: dict[str, Cell] = {
        "number": item.number,
        "question": item.question,
        "reference": item.reference,
        "first": item.first,
        "second": item.second,
    }
    show_fields({name: value for name, value in fields.items() if value})
    if item.first:
        return
    for number, passage in enumerate(item.passages, start=1):
        show_line(f"\n[{number}] {passage.title}\n{passage.text}")
    for short in item.short_answers:
        show_line(f"short answer: {short}")
    if item.draft is not None:
        show_line(f"\nDraft of {item.draft.model}:\n{item.draft.text}")
    if item.written is not None:
        show_line(f"\nText ({item.written.state}):\n{item.written.text}")
        for failure in item.written.failures or ():
            note(f"The audit found: {failure}. {item.written.remark}")


@commands.command()
def adjudicate(
    name: TaskArgument,
    item: Annotated[int | None, typer.Argument(metavar="[ITEM]", help="Number of a disputed item.")] = None,
    value: Annotated[
        str | None,
        typer.Argument(metavar="[VALUE]", help="`a`, `b`, `tie`, a number from -2 to 2, or `none`."),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Show what is labelled and has no majority, or decide one; `none` takes a decision back.

    $ arena labels adjudicate task 7 a
    """
    from arena.label_schemas import DisputedLine

    curation = open_arena().curation
    if item is not None:
        if value not in DECISIONS:
            raise InputError(f"{value!r} decides nothing.", advice=f"Use {', '.join(DECISIONS)}.")
        decided = DECISIONS[value]
        curation.adjudicate(name, item, decided, caller=OPERATOR)
        words = f"Item {item} of {name} is {'open again' if decided is None else 'adjudicated'}."
        show_result({"task": name, "item": item, "value": decided}, words, as_json=as_json)
        return
    lines = list(map(DisputedLine.of, curation.disputed(name, caller=OPERATOR)))
    show_rows(
        [line.to_json() for line in lines],
        ("item", "question", "labels (positive: b better)"),
        [
            (
                line.item,
                line.question[:60],
                ", ".join(f"{label.person} {label.value}" for label in line.labels),
            )
            for line in lines
        ],
        as_json=as_json,
        empty=f"Nothing is disputed in {name}.",
    )


@commands.command()
def exclude(
    name: TaskArgument,
    person: Annotated[str, typer.Argument(metavar="PERSON", help="Whose labels.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; kept in the audit log.")] = "",
    *,
    back: Annotated[bool, typer.Option("--back", help="Let their labels count again.")] = False,
) -> None:
    """Let a person's labels count no more, for a reason; their items go back to the queue.

    $ arena labels exclude task bob --reason "Always the first answer."
    """
    service = open_arena().curation
    if back:
        show_line(f"{service.include(name, person, caller=OPERATOR)} labels of {person} count again.")
    else:
        show_line(
            f"{service.exclude(name, person, reason, caller=OPERATOR)} labels of {person} are excluded."
        )


@commands.command("export")
def export_task(
    name: TaskArgument,
    destination: Annotated[Path, typer.Argument(metavar="DEST", help="File to write; `-` for the output.")],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help=f"{FORMATS}, `results`, or of references `set`: a folder for `arena sets import`.",
        ),
    ] = "votes",
    set_name: Annotated[
        str,
        typer.Option(
            "--name", metavar="NAME", show_default="set and task", help="With `set`: name of the new set."
        ),
    ] = "",
    *,
    unaudited: Annotated[
        bool, typer.Option("--unaudited", help="With `set`: take texts that no audit accepted too.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write the labels of a task that count to a file, or its accepted references as a set with citations.

    $ arena labels export task votes.jsonl
    """
    if form == REFERENCES:
        exports = open_arena().reference_exports
        made = exports.export(name, destination, set_name=set_name, unaudited=unaudited, caller=OPERATOR)
        show_result(
            {"folder": str(destination), **made},
            f"{made['questions']:,} references written to {destination}; {made['left_out']:,} questions have "
            "none.",
            as_json=as_json,
        )
        return
    only_with("--format set", {"--name": set_name, "--unaudited": unaudited})
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
    payload = {"file": str(destination), "labels": export.labels, "left_out": export.left_out}
    show_result(payload, f"{export.labels:,} labels are in {destination}.", as_json=as_json)


@commands.command("import")
def import_task(
    name: TaskArgument,
    file: File,
    form: Annotated[str, typer.Option("--format", metavar="FORMAT", help=f"{FORMATS}.")] = "votes",
    *,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Leave out what cannot be read, and count it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add labels of a file to a task; what a person said of an item already stays.

    $ arena labels import task votes.jsonl
    """
    files = open_arena().label_files
    found = files.bring(name, _format(form), bytes_of(file), lenient=lenient, caller=OPERATOR)
    result = {"task": name, "labels": found.new, "left_out": list(found.left_out)}
    left_out = f" {len(found.left_out):,} left out: {found.left_out[0]}" if found.left_out else ""
    show_result(result, f"{found.new:,} labels are new in {name}.{left_out}", as_json=as_json)


def person(account: str) -> Caller:
    """Somebody at the database itself, under the name of an account."""
    return replace(OPERATOR, name=account, account=account)


def _format(text: str) -> LabelFormat:
    from arena.services.annotation.files.model import LabelFormat

    if text not in set(LabelFormat):
        raise InputError(f"{text!r} is no format of labels.", advice=f"Use {', '.join(LabelFormat)}.")
    return LabelFormat(text)
