"""A board's intervals that count the judge's own error, as a part of its snapshot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leaderboard.vocabulary import OVERALL, ErrorKind

ERROR = "error"
"""The key of the section in a board's JSON; boards of rounds that were not retested have none."""
WITH_JUDGE = (ErrorKind.JUDGE, ErrorKind.ALL)
RATING_FIELDS = ("lower", "upper", "rank_lower", "rank_upper")
RATE_FIELDS = ("win_lower", "win_upper", "win_tie_lower", "win_tie_upper")
PARTS = ("questions", "wordings", "wordings_by_question", "repeats")
RANK_COLUMNS = tuple(f"{kind}_rank_{end}" for kind in WITH_JUDGE for end in ("lower", "upper"))
NOT_RETESTED = (
    "Nothing was judged again in this round, so the judge's own error is not known. An organiser can ask for "
    "it with `arena rounds retest`, and publish again."
)


def error_cells(section: Mapping[str, Any], domain: str, system: str) -> dict[str, object]:
    """The columns of one line of a board's table; None where there is nothing, as in single domains."""
    rows: Sequence[Mapping[str, Any]] = section["ratings"] if domain == OVERALL else ()
    row = next((row for row in rows if row["system"] == system), {})
    cells: dict[str, object] = {
        f"{kind.value}_{field}": row.get(kind.value, {}).get(field)
        for kind in WITH_JUDGE
        for field in (*RATING_FIELDS, *RATE_FIELDS)
    }
    parts: Mapping[str, Any] = row.get("components", {})
    return cells | {f"error_{part}": parts.get(part) for part in PARTS}


def error_sentence(standings: Mapping[str, Any]) -> str:
    """What a board knows of its judge's own error."""
    section = standings.get(ERROR)
    return f"Judge's own error: {'; '.join(section['notes'])}." if section else NOT_RETESTED
