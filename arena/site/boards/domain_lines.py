"""The lines of a domain by the domain's own battles."""

from __future__ import annotations

from dataclasses import replace
from math import inf

from arena.site.boards.view_model import Line

LEAST_QUESTIONS = 20
"""Below this a domain has no ratings of its own: what they say is borrowed from the other domains."""
OWN_PLACES = 3
"""The shape of snapshots from which on the places of a domain are of its own battles."""


def by_own_battles(lines: tuple[Line, ...], *, shape: int) -> tuple[Line, ...]:
    """Return the lines of a domain by place; equal places by shares of battles not lost.

    Ratings of a domain are drawn towards the overall ones: they stay where it has `LEAST_QUESTIONS`, and are
    left out below that. Where they borrow, snapshots of an older shape have no places of the domain's own.

    Args:
        lines: Of one domain, best first.
        shape: Of the snapshot.
    """
    few = max((line.own_rates.questions for line in lines), default=0) < LEAST_QUESTIONS
    if shape < OWN_PLACES and any(line.own_evidence is not None for line in lines):
        lines = tuple(replace(line, rank_lower=None, rank_upper=None, letters=None) for line in lines)
    if few:
        lines = tuple(replace(line, rating=None, own_evidence=None, flags=()) for line in lines)
    systems = iter(sorted((line for line in lines if not line.is_reference), key=_order))
    return tuple(line if line.is_reference else next(systems) for line in lines)


def _order(line: Line) -> tuple[bool, float, float]:
    rate = line.win_tie
    return bool(line.unranked), line.rank_lower or inf, 1.0 if rate is None else -rate.value
