"""`arena rounds table`, `reparse` and `reports`: what is known of stored rounds, without asking anything."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from arena.bootstrap import open_arena
from arena.cli.options import AsJson
from arena.cli.output import note, show_fields, show_json, show_line, show_table
from arena.services.table_kinds import TableKind


def table(
    names: Annotated[list[str], typer.Argument(metavar="ROUND…", help="Rounds by name.")],
    kind: Annotated[TableKind, typer.Option("--kind", help="What to show.")],
    labels: Annotated[
        Path | None, typer.Option("--labels", help="Human labels, for judges (needed) and pairs.")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Print a table of stored rounds: win rates, pairs, ratings, judges, no answers, passages, attacks."""
    found = open_arena().tables.table(names, kind, labels)
    if as_json:
        show_json(found.to_json())
        return
    show_table(found.columns, found.rows)
    for line in found.notes:
        note(line)


def reparse(
    name: Annotated[str, typer.Argument(metavar="ROUND", help="Name of the round.")],
    *,
    apply: Annotated[
        bool, typer.Option("--apply", help="Store the new readings (unpublished only).")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Read a round's stored replies again with the current parsers and show what changes; ask nothing."""
    found = open_arena().rereading.reread(name, apply=apply).to_json()
    if as_json:
        show_json(found)
        return
    examples = found.pop("examples")
    show_fields({key: json.dumps(one) if isinstance(one, dict) else one for key, one in found.items()})
    for example in examples:
        show_line(f"{example['battle']}: {example['before']} → {example['after']}")


def reports(
    name: Annotated[str, typer.Argument(metavar="ROUND", help="Name of the round.")],
    *,
    as_json: AsJson = False,
) -> None:
    """List what readers of the site say of a round's judgments, the newest first."""
    found = open_arena().judgment_reports.of_round(name)
    if as_json:
        show_json([{**asdict(one), "reported_at": one.reported_at.isoformat()} for one in found])
    elif not found:
        note("No reader has reported a judgment of this round.")
    else:
        rows = [
            (
                one.reported_at.isoformat(timespec="minutes"),
                one.question_id,
                f"{one.system_a} – {one.system_b}",
                one.judge,
                one.presentation.value,
                one.reason,
            )
            for one in found
        ]
        show_table(("reported", "question", "battle", "judge", "order", "reason"), rows)
