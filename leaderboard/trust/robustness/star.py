"""Where systems stand by the battles against the reference alone, beside where they stand by all battles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from data.records.plain import to_json
from leaderboard.ratings import Rating

EQUAL = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class StarPlace:
    """A system's places among those that both designs rate, 1 for the best; equal ratings share one.

    Attributes:
        system: Its name.
        place: By all battles.
        star_place: By the battles against the reference alone.
        rating: By all battles, in points.
        star_rating: By the battles against the reference alone.
    """

    system: str
    place: int
    star_place: int
    rating: float
    star_rating: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StarRanking:
    """Both rankings of the same systems, in the order of all battles."""

    reference: str
    places: tuple[StarPlace, ...]

    def as_json(self) -> dict[str, object]:
        """Places, and which systems stand elsewhere."""
        moved = [place.system for place in self.places if place.place != place.star_place]
        return {**to_json(self), "moved": moved}


def star_ranking(full: Sequence[Rating], star: Sequence[Rating], reference: str) -> StarRanking:
    """Compare the order of all battles with that of the battles against the reference.

    Args:
        full: Ratings by all battles, best first.
        star: Ratings by the battles against the reference.
        reference: Its name.

    Returns:
        The systems that both rate; none where the star rates none.
    """
    overall, alone = _rated(full), _rated(star)
    common = [system for system in overall if system in alone]
    return StarRanking(
        reference=reference,
        places=tuple(
            StarPlace(
                system=system,
                place=_place(overall, common, system),
                star_place=_place(alone, common, system),
                rating=overall[system],
                star_rating=alone[system],
            )
            for system in common
        ),
    )


def _rated(ratings: Sequence[Rating]) -> Mapping[str, float]:
    """Points of the systems of the main group."""
    return {
        rating.system: rating.rating
        for rating in ratings
        if rating.rating is not None and rating.component == 0
    }


def _place(points: Mapping[str, float], common: Sequence[str], system: str) -> int:
    return 1 + sum(points[other] > points[system] + EQUAL for other in common)
