"""Shared options of the commands of question sets."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from data.models import SetSummary

SetArgument = Annotated[str, typer.Argument(metavar="SET", help="Name of the set.")]


def fields_of(summary: SetSummary) -> dict[str, Any]:
    """Return a set as the API shows it."""
    from arena.models.sets import QuestionSet

    return {**QuestionSet.of(summary).to_json(), "created_at": summary.created_at.isoformat()}
