"""Ratings of battles between systems alone, and the paired differences of all systems."""

from __future__ import annotations

from itertools import combinations

from data.errors import StatisticsError
from leaderboard.battles import BattleTable
from leaderboard.ratings import RatingTable, Settings, difference
from leaderboard.ratings.uncertainty.differences import rate_as

MOST_PAIRS = 60


def all_differences(ratings: RatingTable) -> dict[str, object]:
    """Return the paired difference of every two rated systems, from joint draws, kept small.

    Returns:
        `systems` (best first, at most `MOST_PAIRS`) and `pairs`, each a list: two places in `systems`, then
        points, lower and upper end of the 95 % interval (one decimal) and the chance that the first is the
        better (three); pairs that cannot be compared are left out.
    """
    rated = [rating.system for rating in ratings.ratings if rating.rating is not None][:MOST_PAIRS]
    pairs: list[list[float]] = []
    for first, second in combinations(range(len(rated)), 2):
        try:
            gap = difference(ratings, rated[first], rated[second])
        except StatisticsError:
            continue
        ends = [round(value, 1) for value in (gap.points, gap.lower, gap.upper)]
        pairs.append([first, second, *ends, round(gap.prob_better, 3)])
    return {"systems": rated, "pairs": pairs}


def between_systems(table: BattleTable, settings: Settings, reference: str | None) -> dict[str, object]:
    """Return the ratings of systems by each other alone, best first, with a note on what they are of."""
    rows: list[dict[str, object]] = []
    code = table.systems.index(reference) if reference in table.systems else -1
    chosen = (table.a != code) & (table.b != code)
    if code < 0:
        note = "Every battle is between systems: the same ratings."
    elif not chosen.any():
        note = "There are no battles between systems."
    else:
        note = f"From the {int(chosen.sum()):,} battles between systems, without those against {reference}."
        try:
            rated = rate_as(table.select(chosen), settings).ratings
            rows = [rating.as_json() for rating in rated if rating.rating is not None]
        except StatisticsError as error:
            note = str(error)
    return {"kind": "between-systems", "ratings": rows, "note": note}
