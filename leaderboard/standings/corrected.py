"""The section of a board's JSON with ratings and rates as people would give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PEOPLE = "people"
"""Its key; boards that no votes correct have none."""


def people_ratings(standings: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """Return the corrected rating of each system; empty where no votes correct the board."""
    return {row["system"]: row for row in (standings.get(PEOPLE) or {}).get("ratings", ())}


def people_sentence(standings: Mapping[str, Any]) -> str:
    """Say whether votes of people correct a board, and how many of how many people."""
    section = standings.get(PEOPLE)
    if not section:
        return "Not checked by people"
    people = section["annotators"]
    whom = "people" if people is None else f"{people:,} {'person' if people == 1 else 'people'}"
    votes = section["votes"]
    left = section.get("votes_left_out")
    out = f" ({left:,} more are on battles without a verdict)" if left else ""
    return f"Corrected by {votes:,} {'vote' if votes == 1 else 'votes'} of {whom}{out}"
