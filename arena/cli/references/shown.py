"""What the commands around references share: their arguments, who acts, a question with its passages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

import typer

from arena.cli.options import LARGEST_NUMBER
from arena.cli.output import show_fields, show_line
from arena.services.accounts.auth import OPERATOR, Caller

TaskArgument = Annotated[str, typer.Argument(metavar="TASK", help="Name of the task.")]
Number = Annotated[
    int, typer.Argument(metavar="NUMBER", max=LARGEST_NUMBER, help="Number under which the text was given.")
]


def show_item(fields: Mapping[str, Any]) -> None:
    """Print a question, its numbered passages and its short answers."""
    show_fields({"number": fields["number"], "question": fields["question"]})
    for passage in fields["passages"]:
        show_line(f"\n[{passage['number']}] {passage['title']}\n{passage['text']}")
    for short in fields["short_answers"]:
        show_line(f"short answer: {short}")


def person(account: str) -> Caller:
    """Somebody at the database itself, under the name of an account."""
    return replace(OPERATOR, name=account, account=account)
