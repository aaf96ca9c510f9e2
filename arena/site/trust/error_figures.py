"""A board's intervals with the judge's own error, read off its JSON (`leaderboard.trust.judge_error`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from arena.site.ui.formats import Bounded
from leaderboard.standings.full_error import ERROR, NOT_RETESTED, PARTS, WITH_JUDGE, error_sentence
from leaderboard.vocabulary import ErrorKind

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """One system's interval, places and ends of rates of some kind; None for what cannot be told."""

    rating: Bounded | None
    rank_lower: int
    rank_upper: int
    letters: str | None
    win: tuple[float, float] | None
    win_tie: tuple[float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorParts:
    """What another round would differ by in one system's rating, in points by cause; None where unknown."""

    system: str
    ends: Mapping[ErrorKind, Ends]
    points: tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorFigures:
    """What a board knows of its judge's own error.

    Attributes:
        systems: By name, best first; none where nothing tells it.
        sentence: What it depends on, or why there is nothing.
    """

    systems: Mapping[str, ErrorParts]
    sentence: str


NOTHING = ErrorFigures(systems=MappingProxyType({}), sentence=NOT_RETESTED)
"""What boards know whose rounds were not retested."""


def read_error(standings: Json) -> ErrorFigures:
    """The figures of a board; without systems where nothing tells them."""
    rows = (standings.get(ERROR) or {}).get("ratings", ())
    return ErrorFigures(
        systems={
            row["system"]: ErrorParts(
                system=row["system"],
                ends={kind: _ends(row["rating"], row[kind.value]) for kind in WITH_JUDGE},
                points=tuple(row["components"][part] for part in PARTS),
            )
            for row in rows
        },
        sentence=error_sentence(standings),
    )


def _ends(rating: float | None, section: Json) -> Ends:
    value = None if rating is None else Bounded(value=rating, lower=section["lower"], upper=section["upper"])
    return Ends(
        rating=value,
        rank_lower=section["rank_lower"],
        rank_upper=section["rank_upper"],
        letters=section["letters"],
        win=_pair(section, "win_"),
        win_tie=_pair(section, "win_tie_"),
    )


def _pair(section: Json, name: str) -> tuple[float, float] | None:
    lower, upper = section.get(f"{name}lower"), section.get(f"{name}upper")
    return None if lower is None or upper is None else (lower, upper)
