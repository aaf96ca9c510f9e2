"""`arena labels`: the next item and a label for it, for scripts, and what organisers decide about labels.

The tasks themselves are in `tasks.py`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated

import typer

from arena.cli.labels.tasks import TaskArgument, tasks
from arena.cli.options import LARGEST_NUMBER, AsJson
from arena.cli.output import Cell, note, show_fields, show_json, show_line, show_result, show_table
from arena.container import open_arena
from arena.services.accounts.auth import OPERATOR, Caller
from data.errors import InputError
from data.records import Span

commands = typer.Typer(help="Labels of people: tasks, the next item, a label for it.", no_args_is_help=True)
commands.add_typer(tasks, name="task")
Annotator = Annotated[
    str, typer.Option("--annotator", metavar="ACCOUNT", help="Account of the person whose labels these are.")
]
WORDS = {"first": -2, "slightly-first": -1, "tie": 0, "slightly-second": 1, "second": 2, "no": 0, "yes": 1}


@commands.command("next")
def next_(
    task: TaskArgument,
    annotator: Annotator,
    *,
    agree: Annotated[
        bool, typer.Option("--agree", help="The person has read the task's terms and agrees to them.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the next item of a person, which is held for them for a while.

    Nothing tells whose answers they are.
    """
    from arena.label_schemas import NextLine

    arena = open_arena()
    caller = _caller(annotator)
    if agree:
        arena.labels.consent(task, caller=caller)
    item = arena.labels.next(task, caller=caller)
    shown = NextLine.of(item, arena.labels.progress(task, caller=caller))
    if as_json:
        show_json(json.loads(shown.model_dump_json()))
        return
    if shown.item is None:
        note(f"Nothing is left for {annotator} in {task}.")
        return
    fields: dict[str, Cell] = {
        "number": shown.item.number,
        "question": shown.item.question,
        "sub-question": shown.item.sub_question,
        "reference": shown.item.reference,
        "passage": None if shown.item.passage is None else shown.item.passage.text,
        "first": shown.item.first,
        "second": shown.item.second,
    }
    show_fields({name: value for name, value in fields.items() if value})
    note(f"{shown.progress.labelled + shown.progress.skipped} of {shown.progress.total} done")


@commands.command()
def give(
    task: TaskArgument,
    number: Annotated[
        int,
        typer.Argument(metavar="NUMBER", max=LARGEST_NUMBER, help="Number under which the item was given."),
    ],
    value: Annotated[
        str | None,
        typer.Argument(
            metavar="VALUE",
            help="`first`, `slightly-first`, `tie`, `slightly-second` or `second`; `yes` or `no`; or a "
            "number: -2 to 2 for grades, -1 to 1 for sides, 0 to 5 for passages.",
        ),
    ] = None,
    *,
    annotator: Annotator,
    comment: Annotated[str, typer.Option("--comment", metavar="TEXT", help="Why, in words.")] = "",
    skip: Annotated[
        str | None, typer.Option("--skip", metavar="REASON", help="Leave the item to others, and say why.")
    ] = None,
    spans: Annotated[
        str | None,
        typer.Option(
            "--spans",
            metavar="JSON",
            help='What is marked: `[{"kind": "wrong|unsupported|missing", "start", "end", "text"}]`.',
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Label an item, or change its label until the task is closed."""
    if sum(choice is not None for choice in (value, skip, spans)) != 1:
        raise InputError("A label is one of a value, spans and a skip.", advice="Give exactly one.")
    service, caller = open_arena().labels, _caller(annotator)
    if skip is not None:
        service.skip(task, number, skip, caller=caller)
    elif spans is not None:
        service.label(task, number, 0, spans=_spans(spans), comment=comment, caller=caller)
    else:
        sides = open_arena().annotation.task(task, caller=OPERATOR).terms.scale == "sides"
        service.label(task, number, _value(value or "", sides=sides), comment=comment, caller=caller)
    done = {"task": task, "number": number, "skipped": skip is not None}
    show_result(done, f"Kept: {number} of {task}.", as_json=as_json)


@commands.command()
def withdraw(
    task: TaskArgument,
    annotator: Annotator,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without asking.")] = False,
) -> None:
    """Delete everything that a person said in a task, as they asked for."""
    if not yes:
        typer.confirm(f"Delete all labels of {annotator} in {task}?", abort=True)
    count = open_arena().curation.delete(task, annotator, caller=OPERATOR)
    show_line(f"{count} labels of {annotator} are deleted.")


def _caller(annotator: str) -> Caller:
    return replace(OPERATOR, account=annotator)


def _value(text: str, *, sides: bool) -> int:
    if text in WORDS:
        value = WORDS[text]
        return max(-1, min(1, value)) if sides else value
    try:
        return int(text)
    except ValueError:
        raise InputError(f"{text!r} is no label.", advice=f"Use {', '.join(WORDS)} or a number.") from None


def _spans(text: str) -> tuple[Span, ...]:
    from pydantic import TypeAdapter, ValidationError

    from arena.label_schemas import SpanLine

    try:
        return tuple(line.record() for line in TypeAdapter(list[SpanLine]).validate_json(text))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the list"
        raise InputError(f"The spans cannot be read at {where}: {first['msg']}.") from error


@tasks.command()
def disputed(name: TaskArgument, *, as_json: AsJson = False) -> None:
    """Show what is labelled and has no majority."""
    from arena.label_schemas import DisputedLine

    items = [DisputedLine.of(item) for item in open_arena().curation.disputed(name, caller=OPERATOR)]
    if as_json:
        show_json([json.loads(item.model_dump_json()) for item in items])
    elif not items:
        note(f"Nothing is disputed in {name}.")
    else:
        labels = [", ".join(f"{label.person} {label.value}" for label in item.labels) for item in items]
        rows = [(item.item, item.question[:60], words) for item, words in zip(items, labels, strict=True)]
        show_table(("item", "question", "labels (positive: b better)"), rows)


@tasks.command()
def settle(
    name: TaskArgument,
    item: Annotated[int, typer.Argument(metavar="ITEM", help="Number of a disputed item.")],
    value: Annotated[
        str, typer.Argument(metavar="VALUE", help="`a`, `b`, `tie`, `yes`, `no`, a number, or `none`.")
    ],
) -> None:
    """Decide a disputed item; `none` takes the decision back."""
    words = {"a": -1, "tie": 0, "b": 1, "no": 0, "yes": 1}
    if value not in {*words, "none"} and not value.lstrip("-").isdecimal():
        raise InputError(f"{value!r} settles nothing.", advice=f"Use {', '.join(words)}, none or a number.")
    decided = None if value == "none" else words[value] if value in words else int(value)
    open_arena().curation.settle(name, item, decided, caller=OPERATOR)
    show_line(f"Item {item} of {name} is {'open again' if decided is None else 'settled'}.")


@tasks.command()
def aside(
    name: TaskArgument,
    person: Annotated[str, typer.Argument(metavar="PERSON", help="Whose labels.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; kept in the audit log.")] = "",
    *,
    back: Annotated[bool, typer.Option("--back", help="Let their labels count again.")] = False,
) -> None:
    """Let a person's labels count no more, for a reason; their items go back to the queue."""
    service = open_arena().curation
    if back:
        count = service.take_back(name, person, caller=OPERATOR)
        show_line(f"{count} labels of {person} count again.")
    else:
        count = service.set_aside(name, person, reason, caller=OPERATOR)
        show_line(f"{count} labels of {person} are set aside.")
