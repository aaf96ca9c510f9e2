"""Judged shares of a round, overall and by system, which decide whether a board is partial."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from data.models.words import to_json
from data.text import percent

LEAST_JUDGED = 0.9
"""A board of which less was judged, over all or of one of its systems, is partial."""
MOST_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedShare:
    """Battles judged; `expected` are those planned less missing answers and what a rule left out."""

    judged: int
    expected: int

    @property
    def share(self) -> float | None:
        """Judged of expected, 0–1; None where nothing was expected."""
        return self.judged / self.expected if self.expected else None

    @property
    def enough(self) -> bool:
        """True if enough was judged for a board without a note; also where nothing was expected."""
        return self.share is None or self.share >= LEAST_JUDGED

    def as_json(self) -> dict[str, int | float | None]:
        """Return the fields as a JSON object."""
        return to_json(self, share=self.share)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedShares:
    """The share of a whole round and of each of its systems."""

    overall: JudgedShare
    systems: Mapping[str, JudgedShare]

    @property
    def partial(self) -> bool:
        """True if too little was judged, or nothing at all."""
        return not self.overall.judged or not all(
            share.enough for share in (self.overall, *self.systems.values())
        )

    def as_json(self) -> dict[str, Any]:
        """`judged_share` of a board's JSON."""
        systems = {name: share.as_json() for name, share in self.systems.items()}
        return {**self.overall.as_json(), "systems": systems}


def partial_sentence(standings: Mapping[str, Any]) -> str:
    """Return the note for readers of a partial board; empty for others.

    Args:
        standings: A board's JSON.
    """
    if not standings.get("partial"):
        return ""
    shares: Mapping[str, Any] = standings["judged_share"]
    share = "" if shares["share"] is None else f" ({at_least_percent(shares['share'])})"
    sentence = f"Partial: {shares['judged']:,} of {shares['expected']:,} battles{share} were judged."
    least = sorted(
        (entry["share"], system)
        for system, entry in shares["systems"].items()
        if entry["share"] is not None and entry["share"] < LEAST_JUDGED and system != standings["reference"]
    )
    if not least:
        return sentence
    named = ", ".join(f"{system} ({at_least_percent(value)})" for value, system in least[:MOST_NAMED])
    more = f" and {len(least) - MOST_NAMED} more" if len(least) > MOST_NAMED else ""
    return f"{sentence} Least judged: {named}{more}."


def at_least_percent(share: float) -> str:
    """Return a share in per cent, rounded down, so that no 90 % is said of less."""
    return percent(math.floor(share * 1000) / 1000)
