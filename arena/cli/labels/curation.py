"""`arena labels task disputed`, `settle` and `aside`: what organisers decide about labels."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from arena.cli.labels.tasks import TaskArgument
from arena.cli.options import AsJson
from arena.cli.output import note, show_json, show_line, show_table
from arena.container import open_arena
from arena.services.accounts.auth import OPERATOR
from data.errors import InputError


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
