"""Ratings of battles between systems alone, separations of neighbours, and differences of all pairs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise

from data.errors import StatisticsError
from data.models.plain import to_json
from leaderboard.battles import BattleTable
from leaderboard.ratings import (
    Rating,
    RatingTable,
    Settings,
    difference,
    questions_to_separate,
)
from leaderboard.ratings.uncertainty.differences import rate_as

MOST_PAIRS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class AlternativeRatings:
    """A second table of ratings beside a board's own.

    Attributes:
        kind: What it is.
        ratings: Best first; empty where there are none.
        note: Why there are none, or what the table found.
    """

    kind: str
    ratings: tuple[Rating, ...]
    note: str

    def as_json(self) -> dict[str, object]:
        """Ratings as in `battles rate`, with the note."""
        return to_json(self)


def separations(ratings: RatingTable, settings: Settings) -> list[dict[str, object]]:
    """Each neighbouring pair on a board: the paired difference, how sure it is, and questions to settle it.

    Args:
        ratings: The board's ratings.
        settings: How they were made.

    Returns:
        One object a pair of neighbours, best first; pairs that cannot be compared are left out.
    """
    rated = [rating.system for rating in ratings.ratings if rating.rating is not None][:MOST_PAIRS]
    rows: list[dict[str, object]] = []
    for first, second in pairwise(rated):
        try:
            gap = difference(ratings, first, second)
            needed = questions_to_separate(ratings, first, second)
        except StatisticsError:
            continue
        rows.append(
            {
                "first": first,
                "second": second,
                "points": gap.points,
                "lower": gap.lower,
                "upper": gap.upper,
                "chance": gap.prob_better,
                "questions": needed.questions,
                "needed": needed.needed,
                "cluster": settings.cluster.value,
            }
        )
    return rows


def all_differences(ratings: RatingTable) -> dict[str, object]:
    """The paired difference of every two rated systems, from joint draws, kept small.

    Args:
        ratings: The board's ratings.

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


def between_systems(table: BattleTable, settings: Settings, reference: str | None) -> AlternativeRatings:
    """The ratings of systems by each other alone: a judge may hold them against another text there."""
    kind = "between-systems"
    code = table.systems.index(reference) if reference in table.systems else -1
    chosen = (table.a != code) & (table.b != code)
    if code < 0 or not chosen.any():
        unchanged = "Every battle is between systems: the same ratings."
        note = unchanged if code < 0 else "There are no battles between systems."
        return AlternativeRatings(kind=kind, ratings=(), note=note)
    try:
        rating_table = rate_as(table.select(chosen), settings)
    except StatisticsError as error:
        return AlternativeRatings(kind=kind, ratings=(), note=str(error))
    note = f"From the {int(chosen.sum()):,} battles between systems, without those against {reference}."
    rated = tuple(rating for rating in rating_table.ratings if rating.rating is not None)
    return AlternativeRatings(kind=kind, ratings=rated, note=note)
