"""Places of systems on a board, among themselves, and rank changes; the reference takes no place.

Letters are of all lines, the reference included: they show which are separated.
"""

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
    """Rank of a system and its bounds; None if the rating does not say."""

    ladder: int
    letters: str | None
    rank_lower: int | None
    rank_upper: int | None

    @classmethod
    def of(cls, rating: Json) -> "Place":
        """Return the place of a rating of a board's JSON."""
        return cls(
            # Boards published before places were counted over groups have those of each group by itself.
            ladder=rating.get("ladder", rating.get("component", 0)),
            letters=rating.get("letters"),
            rank_lower=rating.get("rank_lower"),
            rank_upper=rating.get("rank_upper"),
        )


def separates(standings: Json, first: str, second: str, domain: str = OVERALL) -> bool:
    """Return whether the battles of a board tell two systems apart, for all pairs at once."""
    ratings = {line["system"]: line["rating"] for line in standings["lines"].get(domain, ())}
    one, other = ratings.get(first), ratings.get(second)
    return bool(one and other) and is_separated(Place.of(one or {}), Place.of(other or {}))


def lines_among_systems(lines: Sequence[Json], reference: str | None) -> list[Json]:
    """Return the lines of a domain with places among the systems; the reference keeps its letters alone.

    Older boards count the reference among the places, and the oldest have no letters; lines whose
    reference has no place stay as they are.
    """
    held = next((line["rating"] for line in lines if line["system"] == reference), None) or {}
    if held.get("rank_lower") is None:
        return list(lines)
    ladder = [
        line
        for line in lines
        if (line["rating"] or {}).get("rank_lower") is not None
        and Place.of(line["rating"]).ladder == Place.of(held).ladder
    ]
    found = [Place.of(line["rating"]) for line in ladder]
    at = next(at for at, line in enumerate(ladder) if line["system"] == reference)
    among = places_without(_three(found[at]), [_three(place) for place in (*found[:at], *found[at + 1 :])])
    places = _with_letters(found)
    others = [*places[:at], *places[at + 1 :]]
    moved = {
        line["system"]: {
            "rank": _rank_without(line["rating"], held),
            "rank_lower": lower,
            "rank_upper": upper,
            "tie_group": group,
            "letters": place.letters,
        }
        for line, place, (lower, upper, _), group in zip(
            [*ladder[:at], *ladder[at + 1 :]], others, among, _tie_groups(others), strict=True
        )
    }
    moved[str(reference)] = {**NO_PLACE, "letters": places[at].letters}
    return [
        {**line, "rating": {**line["rating"], **moved[line["system"]]}} if line["system"] in moved else line
        for line in lines
    ]


def _with_letters(places: Sequence[Place]) -> Sequence[Place]:
    """Add letters to places without, if there are not too many systems."""
    if len(places) > MAX_LETTERED_SYSTEMS or all(place.letters for place in places):
        return places
    apart = np.array([[is_separated(one, other) for other in places] for one in places], dtype=bool)
    return [replace(place, letters=text) for place, text in zip(places, letters(apart), strict=True)]


def _three(place: Place) -> tuple[int, int, str | None]:
    return place.rank_lower or 1, place.rank_upper or 1, place.letters


def _rank_without(rating: Json, held: Json) -> int | None:
    rank, taken = rating.get("rank"), held.get("rank")
    return rank if rank is None or taken is None else rank - (taken < rank)


def _tie_groups(places: Sequence[Place]) -> list[int]:
    """Group systems, best first: a group ends before the first that its best surely beats."""
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
    """A system on both boards; `expected` is `before` as those that left and entered would move it."""

    system: str
    before: Ranks | None
    after: Ranks | None
    expected: Ranks | None

    @property
    def places(self) -> int:
        """Change of rank, positive if it rose; 0 if either rank is unknown."""
        return 0 if self.expected is None or self.after is None else self.expected[0] - self.after[0]

    @property
    def moved(self) -> bool:
        """True if the rank range does not overlap with the expected one."""
        one, other = self.expected, self.after
        return one is not None and other is not None and (one[0] > other[1] or other[0] > one[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Systems that are new, gone and on both boards, in the order of the later one."""

    entered: tuple[str, ...]
    left: tuple[str, ...]
    systems: tuple[RankChange, ...]


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Changes:
    """Compare the ranks of two boards overall."""
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
    """Return the ranks of each system of a board overall, best first; None if a system has none."""
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
    came = [ranks for other, ranks in new.items() if other not in old and ranks is not None]
    best = sum(ranks[1] < after[0] for ranks in came) - sum(ranks[0] <= before[1] for ranks in left)
    worst = sum(ranks[0] <= after[1] for ranks in came) - sum(ranks[1] < before[0] for ranks in left)
    return max(1, before[0] + best), max(1, before[1] + worst)
