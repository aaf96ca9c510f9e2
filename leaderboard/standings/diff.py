"""Rank changes between two boards of one question set; ranks are among the systems, the reference aside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leaderboard.standings.places import lines_among_systems
from leaderboard.vocabulary import OVERALL

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
    """Return the ranks of each system of a board overall, best first; None where a system has none."""
    lines = lines_among_systems(standings["lines"][OVERALL], reference := standings.get("reference"))
    ends = {line["system"]: line["rating"] or {} for line in lines if line["system"] != reference}
    return {
        name: None if rating.get("rank_lower") is None else (rating["rank_lower"], rating["rank_upper"])
        for name, rating in ends.items()
    }


def _expected(name: str, old: BySystem, new: BySystem) -> Ranks | None:
    """One better for each system that left above, one worse for each that entered above."""
    before, after = old[name], new[name]
    if before is None or after is None:
        return before
    left = [ranks for other, ranks in old.items() if other not in new and ranks is not None]
    came = [ranks for other, ranks in new.items() if other not in old and ranks is not None]
    best = sum(ranks[1] < after[0] for ranks in came) - sum(ranks[0] <= before[1] for ranks in left)
    worst = sum(ranks[0] <= after[1] for ranks in came) - sum(ranks[1] < before[0] for ranks in left)
    return max(1, before[0] + best), max(1, before[1] + worst)
