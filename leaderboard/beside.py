"""What a board reports beside its ratings: the star design's, the length-controlled ones, separations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from data.errors import InputError, StatisticsError
from leaderboard.answer_facts import AnswerFact
from leaderboard.battles import BattleTable
from leaderboard.ratings import (
    IntervalKind,
    Rating,
    RatingTable,
    Settings,
    difference,
    questions_to_separate,
    rate_beside_star,
    rate_with_style,
)

LENGTH = "length in words"
MOST_PAIRS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
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
        return {
            "kind": self.kind,
            "ratings": [rating.as_json() for rating in self.ratings],
            "note": self.note,
        }


def beside(
    table: BattleTable,
    settings: Settings,
    *,
    reference: str | None,
    answers: Mapping[str, Sequence[AnswerFact]],
) -> tuple[Beside, ...]:
    """The ratings from battles against the reference alone, and those controlled for length."""
    return (_star(table, settings, reference), _length(table, settings, answers))


def separations(ratings: RatingTable, settings: Settings) -> list[dict[str, object]]:
    """Each neighbouring pair on a board: the paired difference, how sure it is, and questions to settle it.

    Args:
        ratings: The board's ratings.
        settings: How they were made.

    Returns:
        One object a pair of neighbours, best first; pairs that cannot be compared are left out.
    """
    named = [rating.system for rating in ratings.ratings if rating.rating is not None][:MOST_PAIRS]
    found: list[dict[str, object]] = []
    for first, second in pairwise(named):
        try:
            gap = difference(ratings, first, second)
            needed = questions_to_separate(ratings, first, second)
        except StatisticsError:
            continue
        found.append(
            {
                "first": first,
                "second": second,
                "points": gap.points,
                "lower": gap.lower,
                "upper": gap.upper,
                "chance": gap.chance,
                "questions": needed.questions,
                "needed": needed.needed,
                "cluster": settings.cluster.value,
            }
        )
    return found


def _star(table: BattleTable, settings: Settings, reference: str | None) -> Beside:
    kind = "star"
    if reference is None or reference not in table.systems:
        return Beside(kind=kind, ratings=(), note="There are no battles against a reference.")
    code = table.systems.index(reference)
    if bool(((table.a == code) | (table.b == code)).all()):
        return Beside(kind=kind, ratings=(), note="Every battle is against the reference: the same ratings.")
    try:
        found = rate_beside_star(table, reference, settings)
    except StatisticsError as error:
        return Beside(kind=kind, ratings=(), note=str(error))
    largest = max((abs(shift) for _, shift in found.shifts), default=0.0)
    note = f"From the battles against {reference} alone; ratings move by up to {largest:.0f} points."
    return Beside(kind=kind, ratings=found.star.ratings, note=note)


def _length(table: BattleTable, settings: Settings, answers: Mapping[str, Sequence[AnswerFact]]) -> Beside:
    kind = "length-controlled"
    words = {(name, fact.question): fact.words for name, facts in answers.items() for fact in facts}
    try:
        ends = tuple(_words_of(table, side, words) for side in (table.a, table.b))
        found = rate_with_style(table, {LENGTH: (ends[0], ends[1])}, _sandwiched(settings))
    except KeyError:
        return Beside(kind=kind, ratings=(), note="The lengths of the answers are not known.")
    except (StatisticsError, InputError) as error:
        return Beside(kind=kind, ratings=(), note=str(error))
    effect = found.effects[0]
    note = (
        f"One standard deviation more words than the opponent is worth {effect.points:.0f} points "
        f"({effect.lower:.0f} to {effect.upper:.0f})."
    )
    return Beside(kind=kind, ratings=found.controlled.ratings, note=note)


def _words_of(
    table: BattleTable, side: np.ndarray[tuple[int], np.dtype[np.int32]], words: Mapping[tuple[str, str], int]
) -> list[int]:
    return [
        words[table.systems[system], table.questions[question]]
        for system, question in zip(side.tolist(), table.question.tolist(), strict=True)
    ]


def _sandwiched(settings: Settings) -> Settings:
    return Settings(
        interval=IntervalKind.SANDWICH,
        bootstrap=None,
        cluster=settings.cluster,
        anchor=settings.anchor,
        seed=settings.seed,
    )
