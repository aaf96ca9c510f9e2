"""Small tables that a board has beside its standings: worth of style, ratings between systems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.site.ui.formats import points
from leaderboard.vocabulary import COVARIATES, Covariate

BETWEEN_SYSTEMS = "between-systems"
Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SideTable:
    """Rows of words, and a sentence that says what they are or why there are none."""

    rows: tuple[tuple[str, ...], ...] = ()
    note: str = ""


def read_style(standings: Json) -> SideTable:
    """Read the effects of length, form and position on the judge; the note is about length.

    Boards that were published with several fits show the one with most terms.
    """
    fits: Sequence[Json] = (standings.get(COVARIATES) or {}).get("fits") or ({},)
    fit = max(fits, key=lambda fit: len(fit.get("coefficients", ())))
    terms = {row["name"]: row for row in fit.get("coefficients", ())}
    length = terms.get(Covariate.LENGTH)
    if length is not None:
        note = (
            f"A typical difference in length is worth the longer answer {points(length['value'])} points "
            f"({_ends(length)}). Typical is the root mean square over all battles."
        )
    else:
        note = next(
            (row["reason"] for row in fit.get("left_out", ()) if row["name"] == Covariate.LENGTH),
            fit.get("note") or _beside(standings, "length-controlled").get("note", ""),
        )
    return SideTable(
        rows=tuple(
            (name.replace("_", " ").capitalize(), points(row["value"]), _ends(row), row["scale"])
            for name, row in terms.items()
        ),
        note=str(note),
    )


def read_between(standings: Json) -> SideTable:
    """Return the ratings of battles between systems alone."""
    section = _beside(standings, BETWEEN_SYSTEMS)
    rows: Iterable[Json] = (row for row in section.get("ratings", ()) if row["rating"] is not None)
    return SideTable(
        rows=tuple((row["system"], _ranks(row), points(row["rating"]), _ends(row)) for row in rows),
        note=section.get("note", ""),
    )


def _beside(standings: Json, kind: str) -> Json:
    empty: Json = {}
    return next((part for part in standings.get("beside") or () if part["kind"] == kind), empty)


def _ends(row: Json) -> str:
    if row.get("lower") is None or row.get("upper") is None:
        return "–"
    return f"{points(row['lower'])} to {points(row['upper'])}"


def _ranks(row: Json) -> str:
    best, worst = row["rank_lower"], row["rank_upper"]
    return str(best) if best == worst else f"{best}–{worst}"
