"""Ranks of systems on a board, and changes between boards; the reference has letters but no rank."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from leaderboard.ratings.ranks import MAX_LETTERED_SYSTEMS, is_separated, letters, places_without
from leaderboard.vocabulary import OVERALL

Json = Mapping[str, Any]
NO_PLACE = {"rank": None, "rank_lower": None, "rank_upper": None, "tie_group": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Ladder, letters and possible ranks of a system; None if unknown."""

    ladder: int
    letters: str | None
    rank_lower: int | None
    rank_upper: int | None

    @classmethod
    def of(cls, rating: Json) -> "Place":
        """Read the place of a rating in a board's JSON."""
        return cls(
            # Older boards rank each group separately.
            ladder=rating.get("ladder", rating.get("component", 0)),
            letters=rating.get("letters"),
            rank_lower=rating.get("rank_lower"),
            rank_upper=rating.get("rank_upper"),
        )


def separates(standings: Json, first: str, second: str, domain: str = OVERALL) -> bool:
    """Return whether two systems of a board differ significantly, for all pairs at once."""
    ratings = {line["system"]: line["rating"] for line in standings["lines"].get(domain, ())}
    rating_1, rating_2 = ratings.get(first), ratings.get(second)
    return bool(rating_1 and rating_2) and is_separated(Place.of(rating_1 or {}), Place.of(rating_2 or {}))


def lines_among_systems(lines: Sequence[Json], reference: str | None) -> list[Json]:
    """Return the lines of a domain, ranked without the reference, which keeps only its letters.

    Older boards rank the reference too, and the oldest have no letters. Lines are unchanged if the reference
    has no rank.
    """
    own = next((line["rating"] for line in lines if line["system"] == reference), None) or {}
    if own.get("rank_lower") is None:
        return list(lines)
    ladder = [
        line
        for line in lines
        if (line["rating"] or {}).get("rank_lower") is not None
        and Place.of(line["rating"]).ladder == Place.of(own).ladder
    ]
    places = [Place.of(line["rating"]) for line in ladder]
    at = next(at for at, line in enumerate(ladder) if line["system"] == reference)
    ranks = places_without(
        _bounds(places[at]), [_bounds(place) for place in (*places[:at], *places[at + 1 :])]
    )
    places = _with_letters(places)
    systems = [*places[:at], *places[at + 1 :]]
    moved = {
        line["system"]: {
            "rank": _rank_without(line["rating"], own),
            "rank_lower": lower,
            "rank_upper": upper,
            "tie_group": group,
            "letters": place.letters,
        }
        for line, place, (lower, upper, _), group in zip(
            [*ladder[:at], *ladder[at + 1 :]], systems, ranks, _tie_groups(systems), strict=True
        )
    }
    moved[str(reference)] = {**NO_PLACE, "letters": places[at].letters}
    return [
        {**line, "rating": {**line["rating"], **moved[line["system"]]}} if line["system"] in moved else line
        for line in lines
    ]


def _with_letters(places: list[Place]) -> list[Place]:
    if len(places) > MAX_LETTERED_SYSTEMS or all(place.letters for place in places):
        return places
    apart = np.array([[is_separated(first, second) for second in places] for first in places], dtype=bool)
    return [replace(place, letters=text) for place, text in zip(places, letters(apart), strict=True)]


def _bounds(place: Place) -> tuple[int, int, str | None]:
    return place.rank_lower or 1, place.rank_upper or 1, place.letters


def _rank_without(rating: Json, reference: Json) -> int | None:
    rank, removed = rating.get("rank"), reference.get("rank")
    return rank if rank is None or removed is None else rank - (removed < rank)


def _tie_groups(places: Sequence[Place]) -> list[int]:
    """Return tie groups; a group ends before the first system that its best one significantly beats."""
    groups: list[int] = []
    best = None
    for place in places:
        if best is None or is_separated(best, place):
            best = place
            groups.append(groups[-1] + 1 if groups else 1)
        else:
            groups.append(groups[-1])
    return groups


Ranks = tuple[int, int]
BySystem = Mapping[str, Ranks | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankChange:
    """Ranks of a system on both boards; `expected` is `before` adjusted for systems that left or entered."""

    system: str
    before: Ranks | None
    after: Ranks | None
    expected: Ranks | None

    @property
    def places(self) -> int:
        """Change of rank, positive for a rise; 0 if either rank is unknown."""
        return 0 if self.expected is None or self.after is None else self.expected[0] - self.after[0]

    @property
    def moved(self) -> bool:
        """True if the rank range does not overlap with the expected one."""
        old, new = self.expected, self.after
        return old is not None and new is not None and (old[0] > new[1] or new[0] > old[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Systems that entered, left and stayed, in the order of the later board."""

    entered: tuple[str, ...]
    left: tuple[str, ...]
    systems: tuple[RankChange, ...]


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Changes:
    """Compare the overall ranks of two boards."""
    old, new = ranks_among_systems(before), ranks_among_systems(after)
    return Changes(
        entered=tuple(name for name in new if name not in old),
        left=tuple(name for name in old if name not in new),
        systems=tuple(
            RankChange(system=name, before=old[name], after=new[name], expected=_expected(name, old, new))
            for name in new
            if name in old
        ),
    )


def ranks_among_systems(standings: Mapping[str, Any]) -> BySystem:
    """Return the overall rank range of each system, best first; None without a rank."""
    lines = lines_among_systems(standings["lines"][OVERALL], reference := standings.get("reference"))
    ends = {line["system"]: line["rating"] or {} for line in lines if line["system"] != reference}
    return {
        name: None if rating.get("rank_lower") is None else (rating["rank_lower"], rating["rank_upper"])
        for name, rating in ends.items()
    }


def _expected(name: str, old: BySystem, new: BySystem) -> Ranks | None:
    before, after = old[name], new[name]
    if before is None or after is None:
        return before
    left = [ranks for other, ranks in old.items() if other not in new and ranks is not None]
    entered = [ranks for other, ranks in new.items() if other not in old and ranks is not None]
    best = sum(ranks[1] < after[0] for ranks in entered) - sum(ranks[0] <= before[1] for ranks in left)
    worst = sum(ranks[0] <= after[1] for ranks in entered) - sum(ranks[1] < before[0] for ranks in left)
    return max(1, before[0] + best), max(1, before[1] + worst)
