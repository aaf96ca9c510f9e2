"""A board's intervals with the judge's own error, as its snapshot keeps them.

They are read by `leaderboard.standings.full_error`.
"""

from __future__ import annotations

from typing import Any

from data.errors import InputError, UnrankableError
from data.intervals import bounds_json
from leaderboard.battles import BattleTable
from leaderboard.ratings import Rating, rate
from leaderboard.standings.full_error import WITH_JUDGE
from leaderboard.trust.judge_error.rates import ErrorRates, rates_of_readings
from leaderboard.trust.judge_error.ratings import ErrorTable, with_judge_error
from leaderboard.trust.judge_error.readings import Readings
from leaderboard.vocabulary import OVERALL, ErrorKind


def error_section(
    table: BattleTable, readings: Readings, *, reference: str | None, seed: int
) -> dict[str, Any]:
    """A board's ratings and rates with intervals that count the judge's error.

    Args:
        table: Every judged battle of the round.
        readings: Those of the round and of its retest (`Readings.of_round`).
        reference: The opponent of the rates; as on the board, none where no battle names it.
        seed: Of the round.

    Returns:
        `ratings`: by system `rating`, `components`, and under `judge` and `all` the standard error, the
        interval, the ranks, the letters and the ends of the rates; `notes`; and how much was judged again.
        Where the retest tells nothing there are no ratings, and the notes say why.
    """
    try:
        return _section(table, readings, reference if reference in table.systems else None, seed)
    except (InputError, UnrankableError) as error:
        return {
            "ratings": [],
            "wordings": 1,
            "reworded_battles": 0,
            "repeated_battles": 0,
            "notes": [error.message.rstrip(".")],
        }


def _section(table: BattleTable, readings: Readings, reference: str | None, seed: int) -> dict[str, Any]:
    rated = rate(table, seed=seed)
    tables = {kind: with_judge_error(rated, readings, kind) for kind in WITH_JUDGE}
    rates = {
        kind: rates_of_readings(readings, kind, reference=reference, by_domain=False) for kind in WITH_JUDGE
    }
    counts = tables[ErrorKind.ALL].counts
    return {
        "ratings": [_row(row, tables, rates) for row in rated.ratings],
        "wordings": counts.wordings,
        "reworded_battles": counts.reworded,
        "repeated_battles": counts.repeated,
        "notes": list(tables[ErrorKind.ALL].notes),
    }


def _row(
    row: Rating, tables: dict[ErrorKind, ErrorTable], rates: dict[ErrorKind, ErrorRates]
) -> dict[str, Any]:
    return {
        "system": row.system,
        "rating": row.rating,
        "components": tables[ErrorKind.ALL].parts[row.system].as_json(),
        **{
            kind.value: _interval(tables[kind].table.of(row.system)) | _ends(row.system, rates[kind])
            for kind in WITH_JUDGE
        },
    }


def _interval(row: Rating) -> dict[str, Any]:
    return {
        "se": row.se,
        "lower": row.lower,
        "upper": row.upper,
        "rank_lower": row.rank_lower,
        "rank_upper": row.rank_upper,
        "letters": row.letters,
        "flags": [flag.value for flag in row.flags],
    }


def _ends(system: str, rates: ErrorRates) -> dict[str, Any]:
    """The ends of a system's rates; none of the reference, which has no rates."""
    for row in rates.table.rows:
        if (row.system, row.domain) == (system, OVERALL):
            return bounds_json(row.win_interval, "win_") | bounds_json(row.win_tie_interval, "win_tie_")
    return bounds_json(None, "win_") | bounds_json(None, "win_tie_")
