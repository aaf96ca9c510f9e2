"""What people would say of a board's systems, as a part of its snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PEOPLE = "people"
"""The key of the section in a board's JSON; boards that no votes correct have none."""
CORRECTED_COLUMNS = (
    "corrected_rating",
    "corrected_lower",
    "corrected_upper",
    "corrected_rank_lower",
    "corrected_rank_upper",
    "people_rating",
    "people_lower",
    "people_upper",
    "corrected_win_rate",
    "corrected_win_lower",
    "corrected_win_upper",
    "corrected_win_tie_rate",
    "corrected_win_tie_lower",
    "corrected_win_tie_upper",
    "labelled_battles",
)
_OF_RATING = {
    "corrected_rating": "rating",
    "corrected_lower": "lower",
    "corrected_upper": "upper",
    "corrected_rank_lower": "rank_lower",
    "corrected_rank_upper": "rank_upper",
    "people_rating": "people_rating",
    "people_lower": "people_lower",
    "people_upper": "people_upper",
}
_OF_RATE = {
    "corrected_win_rate": "win_rate",
    "corrected_win_lower": "lower",
    "corrected_win_upper": "upper",
    "corrected_win_tie_rate": "win_tie_rate",
    "corrected_win_tie_lower": "win_tie_lower",
    "corrected_win_tie_upper": "win_tie_upper",
    "labelled_battles": "labelled_battles",
}


LEAST_LABELLED = 50
"""Battles of a system with votes; with fewer nobody knows its place as people would say (organisers.md)."""


def few_votes(labelled: int) -> str:
    """Why a system has no place as people would say; empty where it has one."""
    if labelled >= LEAST_LABELLED:
        return ""
    return f"{labelled:,} of its battles have votes; {LEAST_LABELLED} are the least for a place."


def corrected_cells(section: Mapping[str, Any], domain: str, system: str) -> dict[str, object]:
    """The corrected columns of one line of a board's table; None where there is nothing."""
    rating = _first(section["ratings"], system, None) if domain == "overall" else {}
    rate = _first(section["rates"], system, domain)
    cells: dict[str, object] = {column: rating.get(field) for column, field in _OF_RATING.items()}
    cells |= {column: rate.get(field) for column, field in _OF_RATE.items()}
    # A system that only ratings know, as the reference, has its labels there.
    cells["labelled_battles"] = rating.get("labelled_battles", cells["labelled_battles"])
    if rating and few_votes(rating["labelled_battles"]):
        cells |= {"corrected_rank_lower": None, "corrected_rank_upper": None}
    return {column: cells[column] for column in CORRECTED_COLUMNS}


def people_sentence(standings: Mapping[str, Any]) -> str:
    """Whether votes of people correct a board, and how many of how many people."""
    section = standings.get(PEOPLE)
    if not section:
        return "Not checked by people"
    people = section["annotators"]
    whom = "people" if people is None else f"{people:,} {'person' if people == 1 else 'people'}"
    votes = section["votes"]
    return f"Corrected by {votes:,} {'vote' if votes == 1 else 'votes'} of {whom}"


def _first(rows: Any, system: str, domain: str | None) -> Mapping[str, Any]:  # noqa: ANN401 - rows of a JSON
    for row in rows:
        if row["system"] == system and domain in {None, row.get("domain")}:
            found: Mapping[str, Any] = row
            return found
    return {}
