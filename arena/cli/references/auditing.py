"""`arena references audit`: draw a sample, read it, decide; and how far a task is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from arena.cli.options import AsJson, Seed
from arena.cli.output import note, show_fields, show_json, show_line, show_result, show_table
from arena.cli.references.shown import Number, TaskArgument, person, show_item
from arena.container import open_arena
from arena.services.accounts.auth import OPERATOR
from data.records.references import Failure

audit = typer.Typer(help="Audit: a random sample of each batch of texts.", no_args_is_help=True)
Auditor = Annotated[
    str, typer.Option("--auditor", metavar="ACCOUNT", help="Account of the person who audits.")
]
PER_CENT = 100


@audit.command("draw")
def draw(
    task: TaskArgument,
    share: Annotated[
        float,
        typer.Option(
            "--share", metavar="P", min=0.1, max=100.0, help="Share of the batch to audit, in per cent."
        ),
    ] = 10.0,
    seed: Seed = 0,
    *,
    as_json: AsJson = False,
) -> None:
    """Make a batch of all texts that are in none, and draw its sample."""
    from arena.services.references.models import batch_json

    batch = open_arena().reference_audits.draw(task, share=share / PER_CENT, seed=seed, caller=OPERATOR)
    if as_json:
        show_json({"batch": None if batch is None else batch_json(batch)})
    elif batch is None:
        note(f"No text of {task} waits for an audit.")
    else:
        show_line(f"Batch {batch.number}: {batch.drawn:,} of {batch.texts:,} texts to audit.")


@audit.command("next")
def audit_next(task: TaskArgument, auditor: Auditor, *, as_json: AsJson = False) -> None:
    """Show the next text of the sample; nothing tells who wrote it, and nobody gets their own."""
    item = open_arena().reference_audits.audit_next(task, caller=person(auditor))
    if as_json:
        show_json({"item": None if item is None else item.as_json()})
    elif item is None:
        note(f"Nothing of {task} is left to audit for {auditor}.")
    else:
        show_item(item.as_json())
        show_line(f"\nText:\n{item.text}")


@audit.command("decide")
def decide(
    task: TaskArgument,
    number: Number,
    auditor: Auditor,
    failures: Annotated[
        list[Failure] | None,
        typer.Option("--failure", help="What fails; repeatable. Without one the text is valid."),
    ] = None,
    remark: Annotated[str, typer.Option("--remark", metavar="TEXT", help="For the writer.")] = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Say whether a text is valid; the last one of the sample decides the batch.

    With 90 % valid texts the batch is accepted; with fewer all of it goes back to its writers.
    """
    from arena.services.references.models import batch_json

    batch = open_arena().reference_audits.decide(
        task, number, failures or (), remark=remark, caller=person(auditor)
    )
    ends: Mapping[bool | None, str] = {None: "is being audited", True: "is accepted", False: "goes back"}
    words = f"Batch {batch.number} {ends[batch.accepted]}: {batch.valid} of {batch.audited} valid."
    show_result({"batch": batch_json(batch)}, words, as_json=as_json)


def status(task: TaskArgument, *, as_json: AsJson = False) -> None:
    """Show how far a task is: texts by state, batches, what failed, and each question."""
    fields = open_arena().reference_audits.status(task, caller=OPERATOR).as_json()
    if as_json:
        show_json(fields)
        return
    questions, batches = fields.pop("by_question"), fields.pop("batches")
    texts, failures, audited = fields.pop("texts"), fields.pop("failures"), fields.pop("audit")
    show_fields({**fields, **texts, **failures, **{f"audit: {name}": one for name, one in audited.items()}})
    if batches:
        show_line("")
        show_table(tuple(batches[0]), [tuple(batch.values()) for batch in batches])
    show_line("")
    show_table(
        ("question", "domain", "state", "draft"),
        [
            (row["question_id"], row["domain"], ", ".join(row["states"]) or "untouched", row["draft"])
            for row in questions
        ],
    )
